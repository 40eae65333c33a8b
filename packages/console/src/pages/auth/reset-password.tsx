import { Alert, Anchor, Button, Checkbox, PasswordInput, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { client } from '../../session/session.ts'
import { problemsByField } from '../../shared/errors.ts'
import { FieldForm } from '../../shared/field-form.tsx'
import { AuthPage } from './auth-page.tsx'

/** The page of the link in the mail. */
export function ResetPasswordPage() {
  const { token = '', email = '' } = useSearch({ from: '/visitors/reset-password' })
  const form = useForm({ mode: 'uncontrolled', initialValues: { password: '', endsApiKeys: false } })
  const resetting = useMutation({
    mutationFn: (values: typeof form.values) =>
      client.request('POST', '/api/auth/reset-password', { body: { token, email, ...values } }),
    onError: (error) => form.setErrors(problemsByField(error)),
  })
  return (
    <AuthPage title="Set a new password">
      {resetting.isSuccess ? (
        <>
          <Text role="status">The new password is set, and all devices are logged out.</Text>
          <Button component={Link} to="/login">
            Log in
          </Button>
        </>
      ) : token === '' ? (
        <Alert color="yellow">
          The link is incomplete. Open it from the mail again, or{' '}
          <Anchor component={Link} to="/forgot-password" c="inherit" underline="always">
            ask for another one
          </Anchor>
          .
        </Alert>
      ) : (
        <FieldForm
          sending={resetting}
          onSubmit={form.onSubmit((values) => resetting.mutate(values))}
          submit="Set the password"
          wide
        >
          <PasswordInput
            label={`New password of ${email}`}
            autoComplete="new-password"
            required
            key={form.key('password')}
            {...form.getInputProps('password')}
          />
          <Checkbox
            label="Also delete all API keys"
            description="Programs that use them stop working."
            key={form.key('endsApiKeys')}
            {...form.getInputProps('endsApiKeys', { type: 'checkbox' })}
          />
        </FieldForm>
      )}
    </AuthPage>
  )
}
