import { Alert, Anchor, Button, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { client } from '../../session/session.ts'
import { describeError } from '../../shared/errors.ts'
import { AuthPage } from './auth-page.tsx'

export function ForgotPasswordPage() {
  const form = useForm({ mode: 'uncontrolled', initialValues: { email: '' } })
  const sending = useMutation({
    mutationFn: (body: { email: string }) => client.request('POST', '/api/auth/send-reset-email', { body }),
  })
  return (
    <AuthPage
      title="Set a new password"
      footer={
        <Anchor component={Link} to="/login">
          Back to the login
        </Anchor>
      }
    >
      {sending.isSuccess ? (
        <Text role="status">If the address has an account, a mail with a link is on its way.</Text>
      ) : (
        <form onSubmit={form.onSubmit((values) => sending.mutate(values))}>
          <Stack>
            {sending.isError && <Alert color="red">{describeError(sending.error)}</Alert>}
            <TextInput
              label="Email address"
              type="email"
              autoComplete="email"
              required
              key={form.key('email')}
              {...form.getInputProps('email')}
            />
            <Button type="submit" loading={sending.isPending}>
              Send me a link
            </Button>
          </Stack>
        </form>
      )}
    </AuthPage>
  )
}
