import type { PushTokenStore } from '../../store/notifications/push-tokens.ts'
import type { SessionStore } from '../../store/users/sessions.ts'

export interface EndEverywhereDeps {
  sessions: Pick<SessionStore, 'removeAll' | 'removeOthers'>
  pushTokens: Pick<PushTokenStore, 'removeAllOf'>
}

/**
 * Ends every session of the user and removes the push devices, because a device may belong to an attacker. An app registers
 * its device again after the next login.
 * @param keptSessionId the session that stays
 */
export async function endEverywhere(
  { sessions, pushTokens }: EndEverywhereDeps,
  userId: string,
  keptSessionId?: string,
): Promise<void> {
  const ended = keptSessionId === undefined ? sessions.removeAll(userId) : sessions.removeOthers(userId, keptSessionId)
  await Promise.all([ended, pushTokens.removeAllOf(userId)])
}
