import type { Platform } from '../../domain/shared/platforms.ts'
import type { WaitingPost } from '../../store/posts/post-lists.ts'
import { endUnusedSession, openSecretsIfReadable } from './account-secrets.ts'
import { accountNotFound } from './refresh-platform.ts'
import type { CommandContext } from '../context.ts'

/** The waiting posts that an answer lists. */
const MAX_LISTED = 100

export interface Disconnected {
  /** The first posts that fail unless their account is connected again or the user moves them, oldest first, and how many there are. */
  waitingPosts: WaitingPost[]
  waitingTotal: number
}

/**
 * Removes the connection of the default account and those that were connected with it, then ends their sessions at the platform where
 * possible. Can be repeated.
 */
export async function disconnectPlatform(
  deps: CommandContext,
  userId: string,
  platform: Platform,
): Promise<Disconnected> {
  const account = await deps.accounts.findDefault(userId, platform)
  return disconnect(deps, userId, account ? [account._id] : [])
}

/**
 * Removes one connection and those that came with it, then ends their sessions at the platform where possible.
 * @throws ServiceError NOT_FOUND
 */
export async function disconnectAccount(
  deps: CommandContext,
  userId: string,
  accountId: string,
): Promise<Disconnected> {
  if (!(await deps.accounts.findOwn(userId, accountId))) throw accountNotFound()
  return disconnect(deps, userId, [accountId])
}

async function disconnect(deps: CommandContext, userId: string, ids: string[]): Promise<Disconnected> {
  const { accounts, posts, users, cipher } = deps
  const removed = await accounts.disconnect(userId, ids)
  await posts.invalidatePrepared(userId)
  await users.raiseAnalyticsVersion(userId)
  for (const account of removed) {
    const secrets = openSecretsIfReadable(cipher, account)
    if (secrets) await endUnusedSession(deps, account.platform, secrets)
  }
  const removedIds = removed.map(({ _id }) => _id)
  const [waitingPosts, waitingTotal] = await Promise.all([
    Array.fromAsync(posts.waitingFor(userId, removedIds, MAX_LISTED)),
    posts.countWaitingFor(userId, removedIds),
  ])
  return { waitingPosts, waitingTotal }
}
