import { Select, SimpleGrid, Switch, TextInput } from '@mantine/core'
import { newPollOptions, REPLY_CONTROLS, toChoices, type Change, type ThreadsOptions } from './options.ts'
import { PollFields } from './poll-fields.tsx'
import { useFieldError } from './report.ts'

const PATH = 'content.options.threads'

interface ThreadsFieldsProps {
  options: ThreadsOptions
  onChange: Change<ThreadsOptions>
}

export function ThreadsFields({ options, onChange }: ThreadsFieldsProps) {
  const { replyControl = null, topicTag = '', poll, crossreshare = false } = options
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select
          label="Who can reply"
          placeholder="Everyone"
          data={toChoices(REPLY_CONTROLS)}
          clearable
          value={replyControl}
          onChange={(value) => onChange({ replyControl: value ?? undefined })}
          error={useFieldError(`${PATH}.replyControl`)}
        />
        <TextInput
          label="Topic"
          value={topicTag}
          onChange={({ currentTarget }) => onChange({ topicTag: currentTarget.value })}
          error={useFieldError(`${PATH}.topicTag`)}
        />
      </SimpleGrid>
      <Switch
        label="Share as a story of the linked Instagram account"
        checked={crossreshare}
        onChange={({ currentTarget }) => onChange({ crossreshare: currentTarget.checked || undefined })}
      />
      <Switch
        label="Add a poll"
        checked={poll !== undefined}
        onChange={({ currentTarget }) =>
          onChange({ poll: currentTarget.checked ? { options: newPollOptions() } : undefined })
        }
      />
      {poll && (
        <PollFields
          options={poll.options}
          path={`${PATH}.poll`}
          onChange={(changed) => onChange({ poll: { options: changed } })}
        />
      )}
    </>
  )
}
