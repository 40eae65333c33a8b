import { Alert, Button, PasswordInput, SimpleGrid, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { useMutation } from '@tanstack/react-query'
import { client, forget, useUser } from '../../session/session.ts'
import { problemsByField, showError } from '../../shared/errors.ts'
import { FieldForm } from '../../shared/field-form.tsx'
import { saveFile } from '../../shared/save-file.ts'
import { Section } from '../../shared/section.tsx'

export function DataSettings() {
  const exporting = useMutation({
    mutationFn: () => client.request('GET', '/api/profile/export'),
    onError: showError,
    onSuccess: (data) =>
      saveFile(new Blob([JSON.stringify(data, null, 2)], { type: 'application/json' }), 'postonce-data.json'),
  })
  const exportingPosts = useMutation({
    mutationFn: () => client.posts.export({ format: 'csv' }),
    onError: showError,
    onSuccess: (file) => saveFile(file, 'postonce-posts.csv'),
  })
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
      <Section title="Export" lead="Everything that postonce stores about you.">
        <Stack align="flex-start" gap="xs">
          <Button variant="default" loading={exporting.isPending} onClick={() => exporting.mutate()}>
            Download all data (JSON)
          </Button>
          <Button variant="default" loading={exportingPosts.isPending} onClick={() => exportingPosts.mutate()}>
            Download the posts (CSV)
          </Button>
        </Stack>
      </Section>
      <Section title="Delete your account">
        <Stack align="flex-start">
          <Text size="sm">
            Your posts, accounts, files and figures are deleted here, and waiting posts are not sent. What is published
            stays on the platforms. This cannot be undone.
          </Text>
          <Button color="red" variant="light" onClick={askToErase}>
            Delete my account
          </Button>
        </Stack>
      </Section>
    </SimpleGrid>
  )
}

function askToErase(): void {
  modals.open({ title: 'Delete your account?', children: <EraseForm /> })
}

function EraseForm() {
  const { auth } = useUser()
  const hasPassword = auth.provider === 'email'
  const form = useForm({ mode: 'uncontrolled', initialValues: { password: '' } })
  const erasing = useMutation({
    mutationFn: (body: typeof form.values) => client.request('DELETE', '/api/profile', hasPassword ? { body } : {}),
    onError: (error) => form.setErrors(problemsByField(error)),
    onSuccess: () => {
      modals.closeAll()
      forget()
    },
  })
  return (
    <FieldForm sending={erasing} onSubmit={form.onSubmit((values) => erasing.mutate(values))} submit="Delete" danger>
      <Alert color="red">All of it is deleted, and cannot be brought back.</Alert>
      {hasPassword ? (
        <PasswordInput
          label="Your password"
          autoComplete="current-password"
          required
          data-autofocus
          key={form.key('password')}
          {...form.getInputProps('password')}
        />
      ) : (
        <Text size="sm">You must have logged in within the last ten minutes.</Text>
      )}
    </FieldForm>
  )
}
