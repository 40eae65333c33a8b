import { ActionIcon, Button, Fieldset, Group, Input, Stack, TextInput } from '@mantine/core'
import { Plus, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { MAX_POLL_OPTIONS, MIN_POLL_OPTIONS } from './options.ts'
import { useFieldError } from './report.ts'

interface PollFieldsProps {
  options: string[]
  path: string
  onChange: (options: string[]) => void
  /** Further elements for the platform, below the options. */
  children?: ReactNode
}

export function PollFields({ options, path, onChange, children }: PollFieldsProps) {
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
              onChange={({ currentTarget }) => onChange(options.with(index, currentTarget.value))}
            />
            {options.length > MIN_POLL_OPTIONS && (
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Remove option ${index + 1}`}
                onClick={() => onChange(options.toSpliced(index, 1))}
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
            onClick={() => onChange([...options, ''])}
            style={{ alignSelf: 'flex-start' }}
          >
            Add an option
          </Button>
        )}
        {children}
      </Stack>
    </Fieldset>
  )
}
