import { Anchor, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { client } from '../../session/session.ts'
import { AuthPage } from './auth-page.tsx'
import { EmailForm } from './email-form.tsx'

export function ForgotPasswordPage() {
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
        <EmailForm sending={sending} submit="Send me a link" />
      )}
    </AuthPage>
  )
}
