import type { Database } from '../../store/shared/database.ts'
import { normalizePassword } from '../../domain/users/passwords.ts'
import { endEverywhere } from './end-everywhere.ts'
import type { CommandContext } from '../context.ts'

type Transaction = Parameters<Parameters<Database['transaction']>[0]>[0]

interface NewPassword {
  password: string
  /** The client or account that the password hasher queues the work for. */
  fairnessKey: string
  /** Writes the hash and returns the owner's id, or null when the password must not change. */
  write: (passwordHash: string, session: Transaction) => Promise<string | null>
  /** The session that stays. */
  exceptSessionId?: string
  /** Deletes the API keys as well. */
  endsApiKeys?: boolean | undefined
}

/**
 * Stores a new password. All reset links end in the same transaction; after it the sessions and push devices end, and the API keys if asked.
 * @returns the id of the user, or `null` when `write` refused
 */
export async function storePassword(deps: CommandContext, { password, fairnessKey, write, ...ending }: NewPassword) {
  const passwordHash = await deps.passwords.hash(normalizePassword(password), fairnessKey)
  const userId = await deps.database.transaction(async (session) => {
    const owner = await write(passwordHash, session)
    if (owner !== null) await deps.passwordResets.removeAllOf(owner, session)
    return owner
  })
  if (userId !== null) await endEverywhere(deps, userId, ending)
  return userId
}
