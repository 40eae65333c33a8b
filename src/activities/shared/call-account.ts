import type { ChooseAccount } from '../../commands/accounts/account-credentials.ts'
import { withFreshLogin } from '../../commands/accounts/fresh-login.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import type { CallOptions, Credentials, PlatformAdapter } from '../../platforms/contract.ts'
import { PlatformError } from '../../platforms/errors.ts'
import type { Context } from '../../context.ts'
import type { CallLimiter } from './call-limiter.ts'

/** One call to a platform with the login of an account, which may be repeated. */
type AccountCall<T> = (adapter: PlatformAdapter, account: Credentials, options: CallOptions) => Promise<T>

/**
 * Makes calls to platforms that may be repeated, each with a deadline and within the call limit of its server. A refused login is renewed once.
 * When it is refused again, the account counts as expired and its owner is notified.
 */
export function createCallAccount({ credentials, platforms, collection }: Context, callLimiter: CallLimiter) {
  /**
   * @param options.choose chooses the account; by default, the default account
   * @returns null when the platform is not connected or not set up
   * @throws PlatformError, CapacityExceeded
   */
  return async function callAccount<T>(
    userId: string,
    platform: Platform,
    call: AccountCall<T>,
    { signal, choose }: { signal: AbortSignal; choose?: ChooseAccount },
  ): Promise<T | null> {
    const adapter = platforms.find(platform)
    const account = adapter && (await credentials.get(userId, platform, { signal, choose }))
    if (!adapter || !account) return null
    return await withFreshLogin(
      credentials,
      { userId, platform, account, choose, signal },
      { call: (login) => callWith(adapter, login), isRefused: isUnauthorized },
    )

    async function callWith(called: PlatformAdapter, used: Credentials): Promise<T> {
      const { serviceUrl: server = '', accountId } = used
      const destination = { platform, server, userId, accountId }
      const answer = await callLimiter.run(destination, async () => {
        signal.throwIfAborted()
        const deadline = AbortSignal.any([signal, AbortSignal.timeout(collection.timeoutMs)])
        try {
          return { result: await call(called, used, { signal: deadline }) }
        } catch (error) {
          return { error }
        }
      })
      if ('result' in answer) return answer.result
      signal.throwIfAborted()
      throw answer.error
    }
  }
}

export type CallAccount = ReturnType<typeof createCallAccount>

/** Also true when the platform may have executed the call, because it may be repeated. */
function isUnauthorized(error: unknown): error is PlatformError {
  return error instanceof PlatformError && error.class === 'unauthorized'
}
