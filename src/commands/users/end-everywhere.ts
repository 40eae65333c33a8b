import type { CommandContext } from '../context.ts'

interface EndEverywhereOptions {
  /** The session that stays. */
  exceptSessionId?: string | undefined
  /** Deletes the API keys of the user as well. Programs that use them stop working. */
  endsApiKeys?: boolean | undefined
}

/**
 * Ends every session of the user and removes the push devices, because a device may belong to an attacker. An app registers
 * its device again after the next login.
 */
export async function endEverywhere(
  deps: CommandContext,
  userId: string,
  { exceptSessionId, endsApiKeys = false }: EndEverywhereOptions = {},
): Promise<void> {
  const { sessions, pushTokens } = deps
  const ended =
    exceptSessionId === undefined ? sessions.removeAll(userId) : sessions.removeOthers(userId, exceptSessionId)
  await Promise.all([ended, pushTokens.removeAllOf(userId)])
  if (endsApiKeys) await removeApiKeys(deps, userId)
}

/** Runs after the sessions have ended. A key that one of them creates meanwhile is removed, or its creation finds no session. */
function removeApiKeys({ database, users, apiKeys }: CommandContext, userId: string): Promise<void> {
  return database.transaction(async (session) => {
    // Locks the user's record like `createApiKey`.
    await users.raiseAnalyticsVersion(userId, session)
    await apiKeys.removeAllOf(userId, session)
  }, userId)
}
