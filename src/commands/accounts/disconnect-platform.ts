import { listWithCompanions } from '../../domain/accounts/platform-connect.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import type { PlatformAccountStore } from '../../store/accounts/platform-accounts.ts'
import { endUnusedSession, openSecretsIfReadable } from './account-secrets.ts'
import type { StoreConnectionDeps } from './store-connection.ts'

interface DisconnectPlatformDeps extends Omit<StoreConnectionDeps, 'accounts' | 'orchestrator'> {
  accounts: Pick<PlatformAccountStore, 'disconnect' | 'findHolder'>
}

/**
 * Removes the connection and those that were connected with it, then ends their sessions at the platform where possible. Can be
 * repeated.
 */
export async function disconnectPlatform(
  deps: DisconnectPlatformDeps,
  userId: string,
  platform: Platform,
): Promise<void> {
  const { accounts, posts, users, cipher } = deps
  const disconnected = []
  for (const one of listWithCompanions(platform)) {
    disconnected.push({ platform: one, account: await accounts.disconnect(userId, one) })
  }
  await posts.invalidatePrepared(userId)
  await users.raiseAnalyticsVersion(userId)
  for (const { platform: one, account } of disconnected) {
    const secrets = account && openSecretsIfReadable(cipher, userId, one, account)
    if (secrets) await endUnusedSession(deps, one, secrets)
  }
}
