import type { Clock } from '../../clock.ts'
import { needsReconciliation } from '../../domain/posts/post-entries.ts'
import type { PlatformStatus, Post } from '../../domain/posts/post.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { Logger } from '../../logger.ts'
import type { PlatformAdapter } from '../../platforms/contract.ts'
import type { AccountCredentials } from '../accounts/account-credentials.ts'

interface Dependencies {
  credentials: Pick<AccountCredentials, 'get'>
  platforms: { find(platform: Platform): PlatformAdapter | null }
  clock: Clock
  logger: Pick<Logger, 'warn'>
}

const DISCARD_TIMEOUT_MS = 10 * SECOND

/**
 * Takes back what was prepared on platforms for deliveries that will not come, beside whatever its caller does. Resolves when it was
 * tried, whatever came of it; nobody keeps a user waiting for that.
 */
export type DiscardPrepared = (post: Pick<Post, '_id' | 'userId'>, entries: PlatformStatus[]) => Promise<void>

/** What is not taken back stays where it is, unseen by anybody but the account's owner: no reason to keep a post from its end. */
export function createDiscardPrepared({ credentials, platforms, clock, logger }: Dependencies): DiscardPrepared {
  async function discard({ _id, userId }: Pick<Post, '_id' | 'userId'>, { platform, delivery }: PlatformStatus) {
    try {
      const adapter = platforms.find(platform)
      if (!adapter?.discard) return
      const signal = AbortSignal.timeout(DISCARD_TIMEOUT_MS)
      const account = await credentials.get(userId, platform, { signal, minLifeMs: 0 })
      if (account?.accountId !== delivery.accountId) return
      await adapter.discard({ handle: (name) => delivery.handles[name] }, account, { signal })
    } catch (error) {
      logger.warn({ err: error, postId: _id, platform }, 'what was prepared for a post could not be taken back')
    }
  }

  return async (post, entries) => {
    const over = entries.filter((entry) => isOver(entry, clock.now()))
    await Promise.all(over.map((entry) => discard(post, entry)))
  }
}

/** Something was prepared, and no call is under way or in doubt that would make it visible. */
function isOver({ status, delivery }: PlatformStatus, now: Date): boolean {
  if (status !== 'pending' && status !== 'failed') return false
  const isPrepared = Object.keys(delivery.handles).length > 0 && delivery.accountId !== null
  return isPrepared && delivery.leaseUntil === null && !needsReconciliation(delivery, now)
}
