import type { Context } from '../../context.ts'
import { normalizePassword } from '../../domain/users/passwords.ts'
import { endEverywhere } from './end-everywhere.ts'

export type StorePasswordDeps = Pick<Context, 'database' | 'passwords' | 'passwordResets' | 'pushTokens' | 'sessions'>

type Transaction = Parameters<Parameters<Context['database']['transaction']>[0]>[0]

interface NewPassword {
  password: string
  /** Whose turn the hashing takes. */
  fairnessKey: string
  /** Writes the hash for its owner and returns the owner's id, or `null` when the password must not change. */
  write: (passwordHash: string, session: Transaction) => Promise<string | null>
  /** The one session that goes on. */
  keptSessionId?: string
}

/**
 * Every change of a password ends here, whatever proved the user: all reset links end in the same transaction, then the sessions and
 * the devices that get push messages.
 * @returns the id of the user, or `null` when `write` refused
 */
export async function storePassword(
  deps: StorePasswordDeps,
  { password, fairnessKey, write, keptSessionId }: NewPassword,
) {
  const passwordHash = await deps.passwords.hash(normalizePassword(password), fairnessKey)
  const userId = await deps.database.transaction(async (session) => {
    const owner = await write(passwordHash, session)
    if (owner !== null) await deps.passwordResets.removeAllOf(owner, session)
    return owner
  })
  if (userId !== null) await endEverywhere(deps, userId, keptSessionId)
  return userId
}
