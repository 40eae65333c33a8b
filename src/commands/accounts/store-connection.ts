import { PLATFORMS, platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import type { PublishOrchestrator } from '../../integrations/temporal/orchestrator.ts'
import type { TokenCipher } from '../../security/token-cipher.ts'
import type { AuthorizedAccount, PlatformAdapter, RedirectResult } from '../../platforms/contract.ts'
import type {
  ConnectedAccount,
  PlatformAccount,
  PlatformAccountStore,
  Seal,
} from '../../store/accounts/platform-accounts.ts'
import type { PostStore } from '../../store/posts/posts.ts'
import type { UserStore } from '../../store/users/users.ts'
import { toConnectionId } from '../../workflows/messages/analytics.ts'
import { endUnusedSession, openSecretsIfReadable, sealSecrets } from './account-secrets.ts'

export interface StoreConnectionDeps {
  accounts: Pick<PlatformAccountStore, 'connect' | 'findHolder'>
  posts: Pick<PostStore, 'invalidatePrepared'>
  users: Pick<UserStore, 'raiseAnalyticsVersion'>
  cipher: TokenCipher
  platforms: { find(platform: Platform): PlatformAdapter | null }
  orchestrator: Pick<PublishOrchestrator, 'startWork'>
}

/**
 * Stores accounts that the user has just proven to own, all of them or none. Earlier connections of the user are replaced and
 * their sessions ended, and posts prepared for them are prepared again. Follower counts are collected in the background.
 * @throws ServiceError ACCOUNT_ALREADY_CONNECTED when another user here has an account; the new sessions are ended then
 */
export async function storeConnection(
  deps: StoreConnectionDeps,
  userId: string,
  platform: Platform,
  { companions, ...connection }: RedirectResult,
): Promise<ConnectedAccount> {
  const { posts, users, cipher } = deps
  const connections: Connections = { [platform]: connection, ...companions }
  const { accounts, replaced } = await connect(deps, userId, connections)
  const account = accounts[platform] as ConnectedAccount
  await users.raiseAnalyticsVersion(userId)
  startFollowerCounts(deps, userId, accounts)
  if (replaced.length === 0) return account
  await posts.invalidatePrepared(userId)
  for (const { platform: replacedPlatform, account: before } of replaced) {
    const unused = openSecretsIfReadable(cipher, userId, replacedPlatform, before)
    if (unused) await endUnusedSession(deps, replacedPlatform, unused)
  }
  return account
}

/** Starts the first follower counts without waiting. It cannot fail: the daily run counts when Temporal does not answer. */
function startFollowerCounts(
  { orchestrator, platforms }: StoreConnectionDeps,
  userId: string,
  accounts: Partial<Record<Platform, PlatformAccount>>,
): void {
  for (const platform of PLATFORMS) {
    const account = accounts[platform]
    if (!account?.connected || !platforms.find(platform)?.followers) continue
    const summary = `Followers of a new connection to ${platformLabel(platform)}`
    const connectionId = toConnectionId(userId, platform, account.version)
    void orchestrator.startWork('collectFollowers', connectionId, { summary, fairnessKey: userId })
  }
}

type Connections = Partial<Record<Platform, AuthorizedAccount | null>>

async function connect(deps: StoreConnectionDeps, userId: string, connections: Connections) {
  const { accounts, cipher } = deps
  const seals: Partial<Record<Platform, Seal | null>> = {}
  for (const platform of PLATFORMS) {
    const connection = connections[platform]
    if (connection !== undefined) seals[platform] = connection && sealFor(cipher, userId, platform, connection)
  }
  try {
    return await accounts.connect(userId, seals)
  } catch (error) {
    for (const platform of PLATFORMS) {
      const connection = connections[platform]
      if (connection) await endUnusedSession(deps, platform, { ...connection.credentials, version: 0 })
    }
    throw error
  }
}

function sealFor(
  cipher: TokenCipher,
  userId: string,
  platform: Platform,
  { credentials, profile }: AuthorizedAccount,
): Seal {
  const { accountId, handle, serviceUrl = null } = credentials
  return (version) => ({
    accountId,
    handle,
    serviceUrl,
    profile,
    auth: sealSecrets(cipher, { userId, platform, version }, credentials),
  })
}
