import { Switch, TagsInput, TextInput } from '@mantine/core'
import type { Change, TumblrOptions } from './options.ts'
import { useFieldError } from './report.ts'

const PATH = 'content.options.tumblr'
const MAX_TAGS = 30

interface TumblrFieldsProps {
  options: TumblrOptions
  onChange: Change<TumblrOptions>
}

export function TumblrFields({ options: { tags = [], sourceUrl = '', state }, onChange }: TumblrFieldsProps) {
  return (
    <>
      <TagsInput
        label="Tags"
        description="Besides the hashtags of the text. Press Enter or a comma after each."
        maxTags={MAX_TAGS}
        value={tags}
        onChange={(value) => onChange({ tags: value })}
        error={useFieldError(`${PATH}.tags`)}
      />
      <TextInput
        label="Source"
        description="The address that the post credits."
        placeholder="https://…"
        type="url"
        value={sourceUrl}
        onChange={({ currentTarget }) => onChange({ sourceUrl: currentTarget.value })}
        error={useFieldError(`${PATH}.sourceUrl`)}
      />
      <Switch
        label="Only members of the blog see the post"
        checked={state === 'private'}
        onChange={({ currentTarget }) => onChange({ state: currentTarget.checked ? 'private' : undefined })}
      />
    </>
  )
}
