import { ActionIcon, Button, Fieldset, Group, Input, Select, Stack, Switch, TextInput } from '@mantine/core'
import { Plus, X } from 'lucide-react'
import { listPollTimes, MAX_POLL_OPTIONS, MIN_POLL_OPTIONS, type Poll } from './options.ts'
import { useFieldError } from './report.ts'

interface PollFieldsProps {
  poll: Poll
  path: string
  onChange: (poll: Poll) => void
}

export function PollFields({ poll, path, onChange }: PollFieldsProps) {
  const { options, expiresIn, multiple = false, hideTotals = false } = poll
  const change = (part: Partial<Poll>) => onChange({ ...poll, ...part })
  const error = useFieldError(path)
  return (
    <Fieldset legend="Poll">
      <Stack gap="xs">
        {options.map((option, index) => (
          <Group key={index} gap="xs" wrap="nowrap">
            <TextInput
              aria-label={`Option ${index + 1}`}
              placeholder={`Option ${index + 1}`}
              flex={1}
              value={option}
              onChange={({ currentTarget }) => change({ options: options.with(index, currentTarget.value) })}
            />
            {options.length > MIN_POLL_OPTIONS && (
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Remove option ${index + 1}`}
                onClick={() => change({ options: options.toSpliced(index, 1) })}
              >
                <X size={16} aria-hidden />
              </ActionIcon>
            )}
          </Group>
        ))}
        {error !== null && <Input.Error role="alert">{error}</Input.Error>}
        {options.length < MAX_POLL_OPTIONS && (
          <Button
            size="compact-sm"
            variant="subtle"
            leftSection={<Plus size={15} aria-hidden />}
            onClick={() => change({ options: [...options, ''] })}
            style={{ alignSelf: 'flex-start' }}
          >
            Add an option
          </Button>
        )}
        <Select
          label="Runs for"
          data={listPollTimes(expiresIn)}
          allowDeselect={false}
          value={`${expiresIn}`}
          onChange={(value) => value && change({ expiresIn: Number(value) })}
        />
        <Switch
          label="Readers can choose several options"
          checked={multiple}
          onChange={({ currentTarget }) => change({ multiple: currentTarget.checked })}
        />
        <Switch
          label="Hide the counts until the poll ends"
          checked={hideTotals}
          onChange={({ currentTarget }) => change({ hideTotals: currentTarget.checked })}
        />
      </Stack>
    </Fieldset>
  )
}
