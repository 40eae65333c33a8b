import type { Platform } from '../../domain/shared/platforms.ts'
import { toLimitError } from '../../domain/billing/plans.ts'
import { assertRetriable, isRetried, postChanged, retry } from '../../domain/posts/post-moves.ts'
import { postNotFound } from '../../store/posts/post-not-found.ts'
import type { Move, PlatformStatus, Post } from '../../domain/posts/post.ts'
import { notifyWorkflow } from '../shared/notify-workflow.ts'
import type { CommandContext } from '../context.ts'

interface RetryPostRequest {
  userId: string
  postId: string
  /** Retries only deliveries to these accounts; absent: every failed one. */
  accountIds?: string[] | undefined
}

/**
 * Retries failed platforms of a post. A post whose share of the allowance a draft took over uses a further one.
 * @returns the retried platforms
 * @throws ServiceError NOT_FOUND, NO_FAILED_PLATFORMS, POST_IN_PROGRESS, POST_LIMIT_REACHED
 */
export async function retryPost(
  deps: CommandContext,
  { userId, postId, accountIds }: RetryPostRequest,
): Promise<Platform[]> {
  const found = await deps.posts.findOwned(userId, postId)
  if (!found) throw postNotFound()
  assertRetriable(found, deps.clock.now(), accountIds)
  if (found.allowanceMovedTo !== undefined) await takeShareAgain(deps, found, found.allowanceMovedTo)
  let retrying: PlatformStatus[] = []
  const retryFailed: Move = (current, now) => {
    retrying = current.platformStatuses.filter((entry) => isRetried(entry, accountIds))
    return retry(accountIds)(current, now)
  }
  const post = await deps.posts.transition({ _id: postId, userId }, retryFailed)
  // A new round prepares again, unless an earlier call may have been accepted.
  void deps.discardPrepared(
    post,
    retrying.filter(({ delivery }) => !delivery.hadUnknownOutcome),
  )
  await notifyWorkflow(deps, post, 'retry')
  return [...new Set(retrying.map(({ platform }) => platform))]
}

async function takeShareAgain({ database, posts, users }: CommandContext, post: Post, draftId: string): Promise<void> {
  const draft = await posts.findOwned(post.userId, draftId)
  await database.transaction(async (session) => {
    if (!(await posts.returnAllowance(post, { movedTo: draftId }, session))) throw postChanged()
    const { taken, ...allowance } = await users.takeAllowance('posts', post.userId, session)
    if (!taken) throw toLimitError('posts', allowance, draft?.status === 'DRAFT' ? draftId : undefined)
  }, post.userId)
}
