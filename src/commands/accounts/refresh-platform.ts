import { listWithCompanions } from '../../domain/accounts/platform-connect.ts'
import { platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { Credentials, PlatformAdapter, Profile } from '../../platforms/contract.ts'
import { PlatformError } from '../../platforms/errors.ts'
import type { ConnectedAccount, PlatformAccountStore } from '../../store/accounts/platform-accounts.ts'
import type { AccountCredentials } from './account-credentials.ts'
import { platformTrouble } from './platform-trouble.ts'

interface RefreshPlatformDeps {
  accounts: Pick<PlatformAccountStore, 'findConnected' | 'saveProfile' | 'markBroken'>
  credentials: AccountCredentials
  platforms: { find(platform: Platform): PlatformAdapter | null }
}

const REFRESH_TIMEOUT_MS = 10 * SECOND

/**
 * Restores the session at the platform, which proves the connection, and fetches the profile anew (spec 4.5). While the platform
 * cannot be reached the cached profile stays. Accounts that were connected with this one are refreshed beside it: how that went
 * shows in their own health alone.
 * @throws ServiceError PLATFORM_NOT_CONNECTED, RECONNECT_REQUIRED, PLATFORM_UNAVAILABLE
 */
export async function refreshPlatform(
  deps: RefreshPlatformDeps,
  userId: string,
  platform: Platform,
): Promise<ConnectedAccount> {
  const companions = listWithCompanions(platform).filter((one) => one !== platform)
  const refreshing = refreshAccount(deps, userId, platform)
  // Whoever is answered finds all of it done.
  await Promise.allSettled([refreshing, ...companions.map((one) => refreshAccount(deps, userId, one))])
  return await refreshing
}

async function refreshAccount(
  deps: RefreshPlatformDeps,
  userId: string,
  platform: Platform,
): Promise<ConnectedAccount> {
  const { accounts } = deps
  const adapter = deps.platforms.find(platform)
  if (!adapter) throw notConnected(platform)
  const signal = AbortSignal.timeout(REFRESH_TIMEOUT_MS)
  try {
    const restored = await restoreSession(deps, adapter, userId, signal)
    if (!restored) throw notConnected(platform)
    const profile = await fetchProfile(deps, adapter, userId, restored, signal)
    await accounts.saveProfile(userId, platform, restored.version, profile)
  } catch (error) {
    throw platformTrouble(platform, error, signal)
  }
  const account = await accounts.findConnected(userId, platform)
  if (!account) throw notConnected(platform)
  return account
}

async function restoreSession(
  { credentials }: RefreshPlatformDeps,
  adapter: PlatformAdapter,
  userId: string,
  signal: AbortSignal,
): Promise<Credentials | null> {
  // Whatever life is left: a token of ours may work on for hours after the user revoked the app password.
  const current = await credentials.get(userId, adapter.platform, { signal, minLifeMs: -Infinity })
  // Long-lived tokens that are no session are renewed near their end, which the platform may refuse before.
  if (!current?.refreshToken || !adapter.renew) return current
  return await credentials.renew(userId, adapter.platform, current, { signal })
}

async function fetchProfile(
  { accounts, credentials }: RefreshPlatformDeps,
  { platform, profile }: PlatformAdapter,
  userId: string,
  used: Credentials,
  signal: AbortSignal,
): Promise<Profile> {
  try {
    return await profile(used, { signal })
  } catch (error) {
    if (error instanceof PlatformError && error.class === 'unauthorized') {
      await credentials.markExpired(userId, platform, used, error.message)
    }
    if (error instanceof PlatformError && error.class === 'permission') {
      await accounts.markBroken(userId, platform, used.version, 'error', error.message)
    }
    throw error
  }
}

function notConnected(platform: Platform): ServiceError {
  return new ServiceError('PLATFORM_NOT_CONNECTED', `${platformLabel(platform)} is not connected`)
}
