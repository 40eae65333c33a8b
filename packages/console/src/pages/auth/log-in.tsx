import { Alert, Anchor } from '@mantine/core'
import { Link, useSearch } from '@tanstack/react-router'
import { AuthPage } from './auth-page.tsx'
import { LogInForm } from './log-in-form.tsx'

/** Why a login with Google ended here, by the service's `error` parameter. */
const REFUSALS: Record<string, string> = {
  email_exists_different_provider: 'This address has an account with a password. Log in with the password instead.',
  no_email: 'Google did not share an email address. Allow it, or register with a password.',
  google_auth_failed: 'The login with Google did not succeed. Try again.',
  session_expired: 'The login with Google took too long, or was begun in another browser. Try again.',
}

export function LogInPage() {
  const { error } = useSearch({ from: '/visitors/login' })
  return (
    <AuthPage
      title="Log in"
      footer={
        <>
          New here?{' '}
          <Anchor component={Link} to="/register" underline="always">
            Create an account
          </Anchor>
        </>
      }
    >
      {error && <Alert color="yellow">{REFUSALS[error] ?? 'The login did not succeed. Try again.'}</Alert>}
      <LogInForm />
      <Anchor component={Link} to="/forgot-password" size="sm" ta="center">
        Forgot your password?
      </Anchor>
    </AuthPage>
  )
}
