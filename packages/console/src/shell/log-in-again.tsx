import { Modal, Text } from '@mantine/core'
import { LogInForm } from '../pages/auth/log-in-form.tsx'
import { useSession } from '../session/session.ts'

/** The login form, shown over the page when the session has ended, so that nothing that was typed is lost. */
export function LogInAgain() {
  const session = useSession()
  if (session.kind !== 'signedIn') return null
  return (
    <Modal opened={session.ended} onClose={() => {}} withCloseButton={false} title="Log in again" centered>
      <Text size="sm" c="dimmed" mb="md">
        Your session has ended. What you entered on this page stays.
      </Text>
      <LogInForm email={session.user.email} />
    </Modal>
  )
}
