import type { Context } from '../../context.ts'

/**
 * Ends every session of the user, and forgets the devices that get push messages, since one of them may be a stranger's: an app
 * registers its device again when its user is back.
 * @param keptSessionId the one session that goes on
 */
export async function endEverywhere(
  { sessions, pushTokens }: Pick<Context, 'sessions' | 'pushTokens'>,
  userId: string,
  keptSessionId?: string,
): Promise<void> {
  const ended = keptSessionId === undefined ? sessions.removeAll(userId) : sessions.removeOthers(userId, keptSessionId)
  await Promise.all([ended, pushTokens.removeAllOf(userId)])
}
