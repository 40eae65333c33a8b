import { PasswordInput, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { client } from '../../session/session.ts'
import { problemsByField, showDone } from '../../shared/errors.ts'
import { FieldForm } from '../../shared/field-form.tsx'

/** Opens the form for the app password of a Bluesky account: of `handle`, or of any. */
export function askForBluesky(handle = ''): void {
  const modalId = modals.open({
    title: handle === '' ? 'Connect a Bluesky account' : `Connect ${handle} again`,
    children: <BlueskyForm handle={handle} done={() => modals.close(modalId)} />,
  })
}

function BlueskyForm({ handle, done }: { handle: string; done: () => void }) {
  const queries = useQueryClient()
  const form = useForm({ mode: 'uncontrolled', initialValues: { identifier: handle, appPassword: '' } })
  const connecting = useMutation({
    mutationFn: (values: typeof form.values) => client.accounts.connectBluesky(values, { replace: false }),
    onError: (error) => form.setErrors(problemsByField(error)),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['accounts'] })
      showDone('The account is connected.')
      done()
    },
  })
  return (
    <FieldForm sending={connecting} onSubmit={form.onSubmit((values) => connecting.mutate(values))} submit="Connect">
      <TextInput
        label="Handle"
        placeholder="name.bsky.social"
        required
        autoComplete="off"
        key={form.key('identifier')}
        {...form.getInputProps('identifier')}
      />
      <PasswordInput
        label="App password"
        description="Not your main password: Bluesky makes one for an app under Settings, Privacy and security."
        required
        autoComplete="off"
        key={form.key('appPassword')}
        {...form.getInputProps('appPassword')}
      />
      <Text size="sm" c="dimmed">
        You can take an app password back at any time on Bluesky.
      </Text>
    </FieldForm>
  )
}
