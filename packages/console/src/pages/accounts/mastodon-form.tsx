import { TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { useMutation } from '@tanstack/react-query'
import { problemsByField } from '../../shared/errors.ts'
import { FieldForm } from '../../shared/field-form.tsx'
import { openLogin } from './connect.ts'

export function askForMastodon(): void {
  modals.open({ title: 'Connect a Mastodon account', children: <MastodonForm /> })
}

function MastodonForm() {
  const form = useForm({ mode: 'uncontrolled', initialValues: { instance: '' } })
  const opening = useMutation({
    mutationFn: ({ instance }: typeof form.values) => openLogin('mastodon', instance.trim()),
    onError: (error) => form.setErrors(problemsByField(error)),
  })
  return (
    <FieldForm
      sending={opening}
      onSubmit={form.onSubmit((values) => opening.mutate(values))}
      submit="Continue on the server"
    >
      <TextInput
        label="Server"
        placeholder="mastodon.social"
        description="Or your address there, such as @name@mastodon.social. Empty means the usual server of this service."
        autoComplete="off"
        data-autofocus
        key={form.key('instance')}
        {...form.getInputProps('instance')}
      />
    </FieldForm>
  )
}
