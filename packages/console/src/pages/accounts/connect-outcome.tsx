import { Alert } from '@mantine/core'
import { CircleAlert, CircleCheck } from 'lucide-react'
import { PLATFORMS, type Platform } from '../../shared/platforms.tsx'

/** Why a connection failed, by the `reason` of the callback. */
const REASONS: Record<string, string> = {
  DENIED: 'You did not allow it on the page of the platform. Begin again when you want to.',
  LOGIN_REFUSED: 'The platform refused the login. Begin again.',
  MISSING_PERMISSION: 'A permission is missing. Begin again and allow everything that is asked for.',
  NO_PAGE: 'The login has no page that you may post on. Create a page, or ask for the right to post.',
  ACCOUNT_ALREADY_CONNECTED: 'Another user has connected this account. Ask them to disconnect it first.',
  ACCOUNT_LIMIT_REACHED: 'Your plan has no room for another account. Disconnect one, or change your plan.',
  PLATFORM_UNAVAILABLE: 'The platform did not respond. Try again in a few minutes.',
  ATTEMPT_INVALID: 'The login took more than ten minutes, or was begun in another browser. Begin again.',
}

interface ConnectOutcomeProps {
  success?: string
  error?: string
  reason?: string
  close: () => void
}

/** Says how the login on a platform's page ended. */
export function ConnectOutcome({ success, error, reason, close }: ConnectOutcomeProps) {
  const result = success ?? error
  if (result === undefined) return null
  const platform = PLATFORMS[result.split('_')[0] as Platform]?.name ?? 'The account'
  return success !== undefined ? (
    <Alert
      color="teal"
      icon={<CircleCheck />}
      title={`${platform} is connected`}
      withCloseButton
      onClose={close}
      closeButtonLabel="Close"
    >
      {result.startsWith('facebook')
        ? 'Your next posts can be published on the page, and on its Instagram account if it has one.'
        : 'Your next posts can be published there.'}
    </Alert>
  ) : (
    <Alert
      color="red"
      icon={<CircleAlert />}
      title={`${platform} was not connected`}
      withCloseButton
      onClose={close}
      closeButtonLabel="Close"
    >
      {REASONS[reason ?? ''] ?? 'Something went wrong here. Begin again; if it stays so, ask the operator.'}
    </Alert>
  )
}
