import { Alert, Anchor, Button, PasswordInput, PinInput, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { client, startSession } from '../../session/session.ts'
import { describeError, problemsByField } from '../../shared/errors.ts'
import { FieldForm } from '../../shared/field-form.tsx'
import { browserTimezone } from '../../shared/timezones.ts'
import { AuthPage } from './auth-page.tsx'
import { EmailForm } from './email-form.tsx'

const CODE_LENGTH = 6

/** Registration in three steps: address, code of the mail, name and password. */
export function RegisterPage() {
  const [email, setEmail] = useState('')
  const [token, setToken] = useState<string | null>(null)
  return (
    <AuthPage
      title="Create an account"
      footer={
        <>
          You have one already?{' '}
          <Anchor component={Link} to="/login" underline="always">
            Log in
          </Anchor>
        </>
      }
    >
      {email === '' ? (
        <AddressStep done={setEmail} />
      ) : token === null ? (
        <CodeStep email={email} done={setToken} back={() => setEmail('')} />
      ) : (
        <ProfileStep email={email} token={token} />
      )}
    </AuthPage>
  )
}

const requestCode = (email: string) => client.request('POST', '/api/auth/request-otp', { body: { email } })

function AddressStep({ done }: { done: (email: string) => void }) {
  const sending = useMutation({
    mutationFn: ({ email }: { email: string }) => requestCode(email),
    onSuccess: (_, { email }) => done(email),
  })
  return <EmailForm sending={sending} submit="Send me a code" />
}

function CodeStep({ email, done, back }: { email: string; done: (token: string) => void; back: () => void }) {
  const [code, setCode] = useState('')
  const verifying = useMutation({
    mutationFn: (otp: string) => client.request('POST', '/api/auth/verify-otp', { body: { email, otp } }),
    onError: () => setCode(''),
    onSuccess: ({ verificationToken }) => done(verificationToken),
  })
  const again = useMutation({ mutationFn: () => requestCode(email) })
  return (
    <Stack align="center">
      <Text size="sm">We sent a code of six digits to {email}.</Text>
      {(verifying.isError || again.isError) && (
        <Alert color="red" w="100%">
          {describeError(verifying.error ?? again.error)}
        </Alert>
      )}
      {again.isSuccess && (
        <Text size="sm" role="status">
          A new code is on its way.
        </Text>
      )}
      <PinInput
        length={CODE_LENGTH}
        type="number"
        oneTimeCode
        autoFocus
        getInputProps={(index) => ({ 'aria-label': `Digit ${index + 1}` })}
        disabled={verifying.isPending}
        value={code}
        onChange={setCode}
        onComplete={(otp) => verifying.mutate(otp)}
      />
      <Button variant="subtle" size="xs" loading={again.isPending} onClick={() => again.mutate()}>
        Send another code
      </Button>
      <Button variant="subtle" size="xs" onClick={back}>
        Use another address
      </Button>
    </Stack>
  )
}

function ProfileStep({ email, token }: { email: string; token: string }) {
  const form = useForm({ mode: 'uncontrolled', initialValues: { name: '', password: '' } })
  const registering = useMutation({
    mutationFn: (values: typeof form.values) =>
      client.request('POST', '/api/auth/signup', {
        body: {
          ...{ email, ...values, confirmPassword: values.password, verificationToken: token },
          timezone: browserTimezone(),
        },
      }),
    onError: (error) => form.setErrors(problemsByField(error)),
    onSuccess: ({ accessToken }) => startSession(accessToken),
  })
  return (
    <FieldForm
      sending={registering}
      onSubmit={form.onSubmit((values) => registering.mutate(values))}
      submit="Create the account"
      wide
    >
      <TextInput
        label="Your name"
        autoComplete="name"
        required
        autoFocus
        key={form.key('name')}
        {...form.getInputProps('name')}
      />
      <PasswordInput
        label="Password"
        autoComplete="new-password"
        required
        key={form.key('password')}
        {...form.getInputProps('password')}
      />
    </FieldForm>
  )
}
