import type { Platform } from '../../domain/shared/platforms.ts'
import type { Credentials } from '../../platforms/contract.ts'
import type { PlatformError } from '../../platforms/errors.ts'
import type { AccountCredentials, ChooseAccount } from './account-credentials.ts'

interface StoredLogin {
  userId: string
  platform: Platform
  account: Credentials
  /** Chose `account`; by default, the default account. */
  choose?: ChooseAccount | undefined
  signal: AbortSignal
}

interface LoginCall<T> {
  call: (account: Credentials) => Promise<T>
  /** Returns true when the platform refused the login. */
  isRefused: (error: unknown) => error is PlatformError
}

/**
 * Runs a call with the stored login. A refused login is renewed once; refused again, the connection is marked expired, which notifies
 * its owner.
 * @throws what the call throws, and PlatformError when the login cannot be renewed
 */
export async function withFreshLogin<T>(
  credentials: AccountCredentials,
  { userId, platform, account, choose, signal }: StoredLogin,
  { call, isRefused }: LoginCall<T>,
): Promise<T> {
  let refusal: PlatformError
  try {
    return await call(account)
  } catch (error) {
    if (!isRefused(error)) throw error
    refusal = error
  }
  const renewed = await credentials.renew(userId, platform, account, { signal, choose, refusal })
  try {
    return await call(renewed)
  } catch (error) {
    if (isRefused(error)) await credentials.markExpired(userId, platform, renewed, error)
    throw error
  }
}
