import type { AccountCredentials } from '../../commands/accounts/account-credentials.ts'
import { withFreshLogin } from '../../commands/accounts/fresh-login.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import type { CallOptions, Credentials, PlatformAdapter } from '../../platforms/contract.ts'
import { PlatformError } from '../../platforms/errors.ts'
import type { PlatformRegistry } from '../../platforms/registry.ts'
import type { Bulkheads } from '../shared/call-limiter.ts'

interface AccountCallDeps {
  credentials: AccountCredentials
  platforms: Pick<PlatformRegistry, 'find'>
  bulkheads: Bulkheads
  timeoutMs: number
}

/** One call to a platform in the name of an account. */
type AccountCall<T> = (adapter: PlatformAdapter, account: Credentials, options: CallOptions) => Promise<T>

/**
 * Calls to platforms that only read, each with a deadline and within the bulkhead of its server. A login that is refused is renewed
 * once; refused again, the connection has expired, and its owner is told.
 */
export function createAccountCalls({ credentials, platforms, bulkheads, timeoutMs }: AccountCallDeps) {
  async function once<T>(
    userId: string,
    adapter: PlatformAdapter,
    account: Credentials,
    work: AccountCall<T>,
    signal: AbortSignal,
  ) {
    const destination = { platform: adapter.platform, server: account.serviceUrl ?? '', userId }
    const answer = await bulkheads.send(destination, async () => {
      signal.throwIfAborted()
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
      try {
        return { result: await work(adapter, account, { signal: deadline }) }
      } catch (error) {
        return { error }
      }
    })
    if ('result' in answer) return answer.result
    signal.throwIfAborted()
    throw answer.error
  }

  /**
   * @returns null where the platform is not connected, or not set up
   * @throws PlatformError, Crowded
   */
  return async function call<T>(
    userId: string,
    platform: Platform,
    work: AccountCall<T>,
    signal: AbortSignal,
  ): Promise<T | null> {
    const adapter = platforms.find(platform)
    const account = adapter && (await credentials.get(userId, platform, { signal }))
    if (!adapter || !account) return null
    return await withFreshLogin(
      credentials,
      { userId, platform, account, signal },
      { call: (login) => once(userId, adapter, login, work, signal), isRefused: isUnauthorized },
    )
  }
}

export type AccountCalls = ReturnType<typeof createAccountCalls>

/** Nothing was to be done by it, so it does not matter whether it was. */
function isUnauthorized(error: unknown): error is PlatformError {
  return error instanceof PlatformError && error.class === 'unauthorized'
}
