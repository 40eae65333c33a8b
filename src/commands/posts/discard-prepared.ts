import { needsReconciliation } from '../../domain/posts/post-entries.ts'
import type { PlatformStatus, Post } from '../../domain/posts/post.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { chooseByPlatformId, type AccountCredentials } from '../accounts/account-credentials.ts'
import type { Parts } from '../parts.ts'

const DISCARD_TIMEOUT_MS = 10 * SECOND

/**
 * Discards what was prepared on platforms for deliveries that will not happen. Runs beside its caller and resolves after the
 * attempt, whatever its result; no user waits for it.
 */
export type DiscardPrepared = (post: Pick<Post, '_id' | 'userId'>, entries: PlatformStatus[]) => Promise<void>

/** Prepared content that cannot be discarded stays visible only to the account's owner, so failures are only logged. */
export function createDiscardPrepared({
  credentials,
  platforms,
  clock,
  logger,
}: Parts & { credentials: AccountCredentials }): DiscardPrepared {
  async function discard({ _id, userId }: Pick<Post, '_id' | 'userId'>, { platform, delivery }: PlatformStatus) {
    try {
      const adapter = platforms.find(platform)
      if (!adapter?.discard) return
      const signal = AbortSignal.timeout(DISCARD_TIMEOUT_MS)
      const account = await credentials.get(userId, platform, {
        signal,
        choose: chooseByPlatformId(delivery.accountId),
        minLifeMs: 0,
      })
      if (!account) return
      await adapter.discard({ get: (name) => delivery.handles[name] }, account, { signal })
    } catch (error) {
      logger.warn({ err: error, postId: _id, platform }, 'discarding prepared content failed')
    }
  }

  return async (post, entries) => {
    const discardable = entries.filter((entry) => canDiscard(entry, clock.now()))
    await Promise.all(discardable.map((entry) => discard(post, entry)))
  }
}

/** Returns whether something was prepared, and no running or unknown call could make it visible. */
function canDiscard({ status, delivery }: PlatformStatus, now: Date): boolean {
  if (status !== 'pending' && status !== 'failed') return false
  const isPrepared = Object.keys(delivery.handles).length > 0 && delivery.accountId !== null
  return isPrepared && delivery.leaseUntil === null && !needsReconciliation(delivery, now)
}
