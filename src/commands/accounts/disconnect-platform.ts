import { listWithCompanions } from '../../domain/accounts/platform-connect.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { findDefault, type AccountStore } from '../../store/accounts/accounts.ts'
import { endUnusedSession, openSecretsIfReadable } from './account-secrets.ts'
import { accountNotFound } from './refresh-platform.ts'
import type { StoreConnectionDeps } from './store-connection.ts'

interface DisconnectPlatformDeps extends Omit<StoreConnectionDeps, 'accounts' | 'orchestrator'> {
  accounts: AccountStore
}

/**
 * Removes the connection of the default account and those that were connected with it, then ends their sessions at the platform where
 * possible. Can be repeated.
 */
export async function disconnectPlatform(
  deps: DisconnectPlatformDeps,
  userId: string,
  platform: Platform,
): Promise<void> {
  const connected = await deps.accounts.listConnected(userId)
  const ids = listWithCompanions(platform).flatMap((one) => findDefault(connected, one)?._id ?? [])
  await disconnect(deps, userId, ids)
}

/**
 * Removes one connection, then ends its session at the platform where possible.
 * @throws ServiceError NOT_FOUND
 */
export async function disconnectAccount(
  deps: DisconnectPlatformDeps,
  userId: string,
  accountId: string,
): Promise<void> {
  const removed = await disconnect(deps, userId, [accountId])
  if (removed === 0) throw accountNotFound()
}

async function disconnect(deps: DisconnectPlatformDeps, userId: string, ids: string[]): Promise<number> {
  const { accounts, posts, users, cipher } = deps
  const removed = await accounts.disconnect(userId, ids)
  await posts.invalidatePrepared(userId)
  await users.raiseAnalyticsVersion(userId)
  for (const account of removed) {
    const secrets = openSecretsIfReadable(cipher, account)
    if (secrets) await endUnusedSession(deps, account.platform, secrets)
  }
  return removed.length
}
