import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { signIn } from '../../session/session.ts'
import { FieldForm } from '../../shared/field-form.tsx'
import { apiUrl } from '../../shared/page-settings.ts'
import { browserTimezone } from '../../shared/timezones.ts'

/** Logs in with a password or with Google. With `email`, only this user. */
export function LogInForm({ email = '' }: { email?: string }) {
  const form = useForm({ mode: 'uncontrolled', initialValues: { email, password: '' } })
  const entering = useMutation({ mutationFn: (values: typeof form.values) => signIn(values.email, values.password) })
  return (
    <Stack>
      <FieldForm sending={entering} onSubmit={form.onSubmit((values) => entering.mutate(values))} submit="Log in" wide>
        <TextInput
          label="Email address"
          type="email"
          autoComplete="username"
          required
          readOnly={email !== ''}
          key={form.key('email')}
          {...form.getInputProps('email')}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          key={form.key('password')}
          {...form.getInputProps('password')}
        />
      </FieldForm>
      <Button
        component="a"
        href={`${apiUrl}/api/auth/google?timezone=${encodeURIComponent(browserTimezone())}`}
        variant="default"
      >
        Log in with Google
      </Button>
    </Stack>
  )
}
