import { platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { Credentials, PlatformAdapter, Profile } from '../../platforms/contract.ts'
import { PlatformError } from '../../platforms/errors.ts'
import { findDefault, type ConnectedAccount } from '../../store/accounts/accounts.ts'
import { chooseById, type ChooseAccount } from './account-credentials.ts'
import { mapPlatformError } from './map-platform-error.ts'
import type { CommandContext } from '../context.ts'

const REFRESH_TIMEOUT_MS = 10 * SECOND

/**
 * Renews the session at the platform, which proves the connection, and fetches the profile, ten times in ten minutes at most.
 * Beyond that, and while the platform is unreachable, the stored profile stays. Accounts that were connected with this one are
 * refreshed as well; their result shows only in their own health.
 * @throws ServiceError PLATFORM_NOT_CONNECTED, RECONNECT_REQUIRED, PLATFORM_UNAVAILABLE
 */
export async function refreshPlatform(
  deps: CommandContext,
  userId: string,
  platform: Platform,
): Promise<ConnectedAccount> {
  const connected = await deps.accounts.listConnected(userId)
  const account = findDefault(connected, platform)
  const companions = connected.filter(({ companionOf }) => companionOf !== undefined && companionOf === account?._id)
  const refreshing = refresh(deps, { userId, platform, choose: findDefault })
  // The response waits for all of them, so that its reader sees every result.
  await Promise.allSettled([
    refreshing,
    ...companions.map((one) => refresh(deps, { userId, platform: one.platform, choose: chooseById(one._id) })),
  ])
  return await refreshing
}

/**
 * Like `refreshPlatform`, for one account.
 * @throws ServiceError NOT_FOUND, RECONNECT_REQUIRED, PLATFORM_UNAVAILABLE
 */
export async function refreshAccount(
  deps: CommandContext,
  userId: string,
  accountId: string,
): Promise<ConnectedAccount> {
  const account = (await deps.accounts.listConnected(userId)).find(({ _id }) => _id === accountId)
  if (!account) throw accountNotFound()
  return refresh(deps, { userId, platform: account.platform, choose: chooseById(accountId) })
}

interface RefreshedAccount {
  userId: string
  platform: Platform
  choose: ChooseAccount
}

async function refresh(deps: CommandContext, refreshed: RefreshedAccount): Promise<ConnectedAccount> {
  const { accounts } = deps
  const { userId, platform, choose } = refreshed
  const adapter = deps.platforms.find(platform)
  const stored = choose(await accounts.listConnected(userId), platform)
  if (!adapter || !stored) throw notConnected(platform)
  if (!(await deps.limits.accountRefresh.tryTake(stored._id))) return stored
  const signal = AbortSignal.timeout(REFRESH_TIMEOUT_MS)
  try {
    const restored = await restoreSession(deps, adapter, refreshed, signal)
    if (!restored) throw notConnected(platform)
    const profile = await fetchProfile(deps, adapter, { userId, used: restored }, signal)
    await accounts.saveProfile({ userId, platform, version: restored.version }, profile)
  } catch (error) {
    throw mapPlatformError(platform, error, signal)
  }
  const account = choose(await accounts.listConnected(userId), platform)
  if (!account) throw notConnected(platform)
  return account
}

async function restoreSession(
  { credentials }: CommandContext,
  adapter: PlatformAdapter,
  { userId, choose }: RefreshedAccount,
  signal: AbortSignal,
): Promise<Credentials | null> {
  // Ignores the remaining life: a stored token may work for hours after the user revoked the app password.
  const current = await credentials.get(userId, adapter.platform, { signal, choose, minLifeMs: -Infinity })
  // Long-lived tokens without a session are renewed only near their end; the platform may refuse it earlier.
  if (!current?.refreshToken || !adapter.renew) return current
  return await credentials.renew(userId, adapter.platform, current, { signal, choose })
}

async function fetchProfile(
  { credentials }: CommandContext,
  { platform, profile }: PlatformAdapter,
  { userId, used }: { userId: string; used: Credentials },
  signal: AbortSignal,
): Promise<Profile> {
  try {
    return await profile(used, { signal })
  } catch (error) {
    if (error instanceof PlatformError && error.class === 'unauthorized') {
      await credentials.markExpired(userId, platform, used, error)
    }
    if (error instanceof PlatformError && error.class === 'permission') {
      await credentials.markRefused(userId, platform, used, error)
    }
    throw error
  }
}

export function accountNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'Account not found')
}

function notConnected(platform: Platform): ServiceError {
  return new ServiceError('PLATFORM_NOT_CONNECTED', `${platformLabel(platform)} is not connected`)
}
