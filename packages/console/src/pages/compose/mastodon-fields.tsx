import { Select, SimpleGrid, Switch, TextInput } from '@mantine/core'
import {
  listLanguages,
  listPollTimes,
  newPoll,
  toChoices,
  VISIBILITIES,
  type Change,
  type MastodonOptions,
  type Poll,
} from './options.ts'
import { PollFields } from './poll-fields.tsx'
import { useFieldError } from './report.ts'

const PATH = 'content.options.mastodon'

interface MastodonFieldsProps {
  options: MastodonOptions
  onChange: Change<MastodonOptions>
}

export function MastodonFields({ options, onChange }: MastodonFieldsProps) {
  const { visibility = null, spoilerText = '', sensitive = false, language = null, poll } = options
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select
          label="Visibility"
          placeholder="Default of the account"
          data={toChoices(VISIBILITIES)}
          clearable
          value={visibility}
          onChange={(value) => onChange({ visibility: value ?? undefined })}
          error={useFieldError(`${PATH}.visibility`)}
        />
        <Select
          label="Language"
          placeholder="Default of the account"
          data={listLanguages(language === null ? [] : [language])}
          searchable
          clearable
          value={language}
          onChange={(value) => onChange({ language: value ?? undefined })}
          error={useFieldError(`${PATH}.language`)}
        />
      </SimpleGrid>
      <TextInput
        label="Content warning"
        description="The text is hidden behind it until a reader opens it."
        value={spoilerText}
        onChange={({ currentTarget }) => onChange({ spoilerText: currentTarget.value })}
        error={useFieldError(`${PATH}.spoilerText`)}
      />
      <Switch
        label="Hide pictures and videos until a reader opens them"
        checked={sensitive}
        onChange={({ currentTarget }) => onChange({ sensitive: currentTarget.checked || undefined })}
      />
      <Switch
        label="Add a poll"
        checked={poll !== undefined}
        onChange={({ currentTarget }) => onChange({ poll: currentTarget.checked ? newPoll() : undefined })}
      />
      {poll && <MastodonPollFields poll={poll} onChange={(part) => onChange({ poll: { ...poll, ...part } })} />}
    </>
  )
}

function MastodonPollFields({ poll, onChange }: { poll: Poll; onChange: (part: Partial<Poll>) => void }) {
  const { options, expiresIn, multiple = false, hideTotals = false } = poll
  return (
    <PollFields options={options} path={`${PATH}.poll`} onChange={(changed) => onChange({ options: changed })}>
      <Select
        label="Runs for"
        data={listPollTimes(expiresIn)}
        allowDeselect={false}
        value={`${expiresIn}`}
        onChange={(value) => value && onChange({ expiresIn: Number(value) })}
      />
      <Switch
        label="Readers can choose several options"
        checked={multiple}
        onChange={({ currentTarget }) => onChange({ multiple: currentTarget.checked })}
      />
      <Switch
        label="Hide the counts until the poll ends"
        checked={hideTotals}
        onChange={({ currentTarget }) => onChange({ hideTotals: currentTarget.checked })}
      />
    </PollFields>
  )
}
