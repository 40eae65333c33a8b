import { Alert, Button, Stack } from '@mantine/core'
import type { ReactNode, SyntheticEvent } from 'react'
import { describeError } from './errors.ts'

interface FieldFormProps {
  /** The mutation that the form starts: its failure is shown above the fields. */
  sending: { isPending: boolean; isError: boolean; error: unknown }
  onSubmit: (event?: SyntheticEvent<HTMLFormElement>) => void
  submit: string
  danger?: boolean
  /** The button is as wide as the form. */
  wide?: boolean
  children: ReactNode
}

/** A form with its failure and its button. */
export function FieldForm({ sending, onSubmit, submit, danger = false, wide = false, children }: FieldFormProps) {
  return (
    <form onSubmit={(event) => (sending.isPending ? event.preventDefault() : onSubmit(event))}>
      <Stack>
        {sending.isError && <Alert color="red">{describeError(sending.error)}</Alert>}
        {children}
        <Button
          type="submit"
          color={danger ? 'red' : 'ink'}
          loading={sending.isPending}
          style={{ alignSelf: wide ? 'stretch' : 'flex-end' }}
        >
          {submit}
        </Button>
      </Stack>
    </form>
  )
}
