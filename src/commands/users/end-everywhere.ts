import type { PushTokenStore } from '../../store/notifications/push-tokens.ts'
import type { SessionStore } from '../../store/users/sessions.ts'

export interface EndEverywhereDeps {
  sessions: Pick<SessionStore, 'removeAll' | 'removeOthers'>
  pushTokens: Pick<PushTokenStore, 'removeAllOf'>
}

/**
 * Ends every session of the user, and forgets the devices that get push messages, since one of them may be a stranger's: an app
 * registers its device again when its user is back.
 * @param keptSessionId the one session that goes on
 */
export async function endEverywhere(
  { sessions, pushTokens }: EndEverywhereDeps,
  userId: string,
  keptSessionId?: string,
): Promise<void> {
  const ended = keptSessionId === undefined ? sessions.removeAll(userId) : sessions.removeOthers(userId, keptSessionId)
  await Promise.all([ended, pushTokens.removeAllOf(userId)])
}
