import { TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { UseMutationResult } from '@tanstack/react-query'
import { FieldForm } from '../../shared/field-form.tsx'

interface EmailFormProps {
  sending: UseMutationResult<unknown, Error, { email: string }>
  submit: string
}

/** A form for the address to which the service sends a code or a link. */
export function EmailForm({ sending, submit }: EmailFormProps) {
  const form = useForm({ mode: 'uncontrolled', initialValues: { email: '' } })
  return (
    <FieldForm sending={sending} onSubmit={form.onSubmit((values) => sending.mutate(values))} submit={submit} wide>
      <TextInput
        label="Email address"
        type="email"
        autoComplete="email"
        required
        key={form.key('email')}
        {...form.getInputProps('email')}
      />
    </FieldForm>
  )
}
