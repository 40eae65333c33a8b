import { platformLabel, type Platform } from '../../domain/shared/platforms.ts'
import { validationFailed } from '../../domain/shared/service-error.ts'
import type { AccountStore } from '../../store/accounts/accounts.ts'
import type { WaitingPost } from '../../store/posts/post-lists.ts'
import { movePosts, type MovePostsDeps } from '../posts/move-posts.ts'
import { endUnusedSession, openSecretsIfReadable } from './account-secrets.ts'
import { accountNotFound } from './refresh-platform.ts'
import type { StoreConnectionDeps } from './store-connection.ts'

interface DisconnectPlatformDeps extends Omit<StoreConnectionDeps, 'accounts' | 'orchestrator'>, MovePostsDeps {
  accounts: AccountStore
}

/** The waiting posts that an answer lists. */
const MAX_LISTED = 100

export interface Disconnected {
  /** The posts that were moved to another account. */
  movedPosts: number
  /** The first posts that fail unless their account is connected again or the user moves them, oldest first, and how many there are. */
  waitingPosts: WaitingPost[]
  waitingTotal: number
}

/**
 * Removes the connection of the default account and those that were connected with it, then ends their sessions at the platform where
 * possible. Can be repeated.
 */
export async function disconnectPlatform(
  deps: DisconnectPlatformDeps,
  userId: string,
  platform: Platform,
): Promise<Disconnected> {
  const account = await deps.accounts.findDefault(userId, platform)
  return { movedPosts: 0, ...(await disconnect(deps, userId, account ? [account._id] : [])) }
}

/**
 * Removes one connection and those that came with it, then ends their sessions at the platform where possible.
 * @param moveTo another account of the platform, to which waiting posts are moved first; absent: they stay
 * @throws ServiceError NOT_FOUND; VALIDATION_FAILED when the posts cannot be moved there
 */
export async function disconnectAccount(
  deps: DisconnectPlatformDeps,
  userId: string,
  accountId: string,
  moveTo?: string,
): Promise<Disconnected> {
  const connected = await deps.accounts.listConnected(userId)
  const account = connected.find(({ _id }) => _id === accountId)
  if (!account) throw accountNotFound()
  const to = connected.find(({ _id, platform }) => _id === moveTo && _id !== accountId && platform === account.platform)
  if (moveTo !== undefined && !to) {
    const message = `You have no other connected ${platformLabel(account.platform)} account ${moveTo}`
    throw validationFailed([{ path: 'movePostsTo', code: 'ACCOUNT_NOT_FOUND', message }])
  }
  const movedPosts = to ? await movePosts(deps, userId, { from: accountId, to }) : 0
  return { movedPosts, ...(await disconnect(deps, userId, [accountId])) }
}

async function disconnect(deps: DisconnectPlatformDeps, userId: string, ids: string[]) {
  const { accounts, posts, users, cipher } = deps
  const removed = await accounts.disconnect(userId, ids)
  await posts.invalidatePrepared(userId)
  await users.raiseAnalyticsVersion(userId)
  for (const account of removed) {
    const secrets = openSecretsIfReadable(cipher, account)
    if (secrets) await endUnusedSession(deps, account.platform, secrets)
  }
  const waiting = await Array.fromAsync(
    posts.waitingFor(
      userId,
      removed.map(({ _id }) => _id),
    ),
  )
  return { waitingPosts: waiting.slice(0, MAX_LISTED), waitingTotal: waiting.length }
}
