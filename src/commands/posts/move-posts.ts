import { describeSelected } from '../../domain/accounts/selection.ts'
import { findAbandoned } from '../../domain/posts/post-entries.ts'
import { changeAccount, edit } from '../../domain/posts/post-moves.ts'
import type { Move, PlatformStatus } from '../../domain/posts/post.ts'
import { splitIntoChunks } from '../../domain/shared/lists.ts'
import { platformLabel } from '../../domain/shared/platforms.ts'
import { ServiceError, validationFailed } from '../../domain/shared/service-error.ts'
import type { ConnectedAccount } from '../../store/accounts/accounts.ts'
import { accountNotFound } from '../accounts/refresh-platform.ts'
import { notifyWorkflow } from '../shared/notify-workflow.ts'
import type { CommandContext } from '../context.ts'

/** Posts that are moved at a time. */
const CONCURRENT = 10

interface MovePosts {
  from: string
  to: string
  /** Ends the moving between two posts. */
  signal: AbortSignal
}

/**
 * Moves the posts that wait for an account to another account of the platform. Posts that delivery has begun, or that the other account gets
 * anyway, stay. Can be repeated.
 * @returns the number of moved posts
 * @throws ServiceError NOT_FOUND without the first account, VALIDATION_FAILED without the second one on the same platform
 */
export async function movePosts(
  deps: CommandContext,
  userId: string,
  { from, to: toId, signal }: MovePosts,
): Promise<number> {
  const connected = await deps.accounts.listConnected(userId)
  const account = connected.find(({ _id }) => _id === from)
  if (!account) throw accountNotFound()
  const to = connected.find(({ _id, platform }) => _id === toId && _id !== from && platform === account.platform)
  if (!to) {
    const message = `You have no other connected ${platformLabel(account.platform)} account ${toId}`
    throw validationFailed([{ path: 'movePostsTo', code: 'ACCOUNT_NOT_FOUND', message }])
  }
  const waiting = await Array.fromAsync(deps.posts.waitingFor(userId, [from]))
  let moved = 0
  for (const some of splitIntoChunks(waiting, CONCURRENT)) {
    signal.throwIfAborted()
    const results = await Promise.all(some.map(({ _id }) => movePost(deps, { _id, userId }, { from, to })))
    moved += results.filter(Boolean).length
  }
  return moved
}

async function movePost(
  deps: CommandContext,
  post: { _id: string; userId: string },
  { from, to }: { from: string; to: ConnectedAccount },
): Promise<boolean> {
  let before: PlatformStatus[] = []
  const move: Move = (current, now) => {
    before = []
    const change = changeAccount(current, from, describeSelected(to))
    if (!change) return current
    const edited = edit(change)(current, now)
    before = current.platformStatuses
    return edited
  }
  try {
    const moved = await deps.posts.transition(post, move)
    if (before.length === 0) return false
    void deps.discardPrepared(moved, findAbandoned(before, moved))
    if (moved.status !== 'DRAFT') await notifyWorkflow(deps, moved, 'changed')
    return true
  } catch (error) {
    // It was deleted, or delivery has begun.
    if (error instanceof ServiceError && (error.code === 'NOT_FOUND' || error.code === 'POST_NOT_EDITABLE'))
      return false
    throw error
  }
}
