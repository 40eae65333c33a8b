import { MultiSelect, SimpleGrid, TextInput } from '@mantine/core'
import {
  BLUESKY_LABELS,
  listLanguages,
  REPLY_GATES,
  toChoices,
  toReplyGate,
  type BlueskyOptions,
  type Change,
} from './options.ts'
import { useFieldError } from './report.ts'

const PATH = 'content.options.bluesky'
const MAX_LANGUAGES = 3

interface BlueskyFieldsProps {
  options: BlueskyOptions
  onChange: Change<BlueskyOptions>
}

export function BlueskyFields({ options, onChange }: BlueskyFieldsProps) {
  const { languages = [], labels = [], replyGate = [], quoteUrl = '' } = options
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <MultiSelect
          label="Languages"
          placeholder={languages.length === 0 ? 'Not stated' : undefined}
          data={listLanguages(languages)}
          maxValues={MAX_LANGUAGES}
          searchable
          value={languages}
          onChange={(value) => onChange({ languages: value })}
          error={useFieldError(`${PATH}.languages`)}
        />
        <MultiSelect
          label="Content labels"
          placeholder={labels.length === 0 ? 'None' : undefined}
          data={toChoices(BLUESKY_LABELS)}
          value={labels}
          onChange={(value) => onChange({ labels: value })}
          error={useFieldError(`${PATH}.labels`)}
        />
      </SimpleGrid>
      <MultiSelect
        label="Who can reply"
        placeholder={replyGate.length === 0 ? 'Everyone' : undefined}
        data={toChoices(REPLY_GATES)}
        value={replyGate}
        onChange={(value) => onChange({ replyGate: toReplyGate(value) })}
        error={useFieldError(`${PATH}.replyGate`)}
      />
      <TextInput
        label="Quoted post"
        placeholder="Link to the post on Bluesky"
        value={quoteUrl}
        onChange={({ currentTarget }) => onChange({ quoteUrl: currentTarget.value })}
        error={useFieldError(`${PATH}.quoteUrl`)}
      />
    </>
  )
}
