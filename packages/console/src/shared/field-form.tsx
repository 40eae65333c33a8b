import { Alert, Button, Group, Stack } from '@mantine/core'
import type { ReactNode, SyntheticEvent } from 'react'
import { describeError } from './errors.ts'

interface FieldFormProps {
  /** The mutation that the form starts: its failure is shown above the fields. */
  sending: { isPending: boolean; isError: boolean; error: unknown }
  onSubmit: (event?: SyntheticEvent<HTMLFormElement>) => void
  submit: string
  danger?: boolean
  children: ReactNode
}

/** A form with its failure and its button. */
export function FieldForm({ sending, onSubmit, submit, danger = false, children }: FieldFormProps) {
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        {sending.isError && <Alert color="red">{describeError(sending.error)}</Alert>}
        {children}
        <Group justify="flex-end">
          <Button type="submit" color={danger ? 'red' : 'ink'} loading={sending.isPending}>
            {submit}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
