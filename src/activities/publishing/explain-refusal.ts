import type { AccountCredentials } from '../../commands/accounts/account-credentials.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { Credentials, PlatformAdapter } from '../../platforms/contract.ts'
import { PlatformError } from '../../platforms/errors.ts'

const READ_TIMEOUT_MS = 5 * SECOND

interface RefusedCall {
  adapter: PlatformAdapter
  userId: string
  account: Credentials
  error: unknown
}

/**
 * Returns the reason for a failed call. Where the platform finds nothing, it reads the account: one that was unlinked, or on which its user
 * lost the role, looks like a missing object. An account that its user has to connect again is marked.
 */
export async function explainRefusal(
  credentials: AccountCredentials,
  { adapter, userId, account, error }: RefusedCall,
): Promise<unknown> {
  const isMissing = error instanceof PlatformError && error.class === 'not_found' && error.certain
  const reason = (isMissing && (await findHiddenAccount(adapter, account))) || error
  if (reason instanceof PlatformError && reason.needsReconnection) {
    await credentials.markRefused(userId, adapter.platform, account, reason)
  }
  return reason
}

async function findHiddenAccount(adapter: PlatformAdapter, account: Credentials): Promise<PlatformError | null> {
  try {
    await adapter.profile(account, { signal: AbortSignal.timeout(READ_TIMEOUT_MS) })
    return null
  } catch (error) {
    return error instanceof PlatformError && error.needsReconnection ? error : null
  }
}
