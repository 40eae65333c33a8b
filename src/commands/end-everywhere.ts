import type { Context } from '../context.ts'

/**
 * Ends every session of the user, and forgets the devices that get push messages, since one of them may be a stranger's: an app
 * registers its device again when its user is back.
 */
export async function endEverywhere(
  { sessions, pushTokens }: Pick<Context, 'sessions' | 'pushTokens'>,
  userId: string,
): Promise<void> {
  await Promise.all([sessions.removeAll(userId), pushTokens.removeAllOf(userId)])
}
