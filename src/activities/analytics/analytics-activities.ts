import { cancellationSignal } from '@temporalio/activity'
import { chooseById } from '../../commands/accounts/account-credentials.ts'
import type { Context } from '../../context.ts'
import { parseConnectionId, type CollectorTurn, type RefreshInput } from '../../workflows/contract/analytics.ts'
import { DAY, HOUR, SECOND } from '../../domain/shared/times.ts'
import { createCallLimiter } from '../shared/call-limiter.ts'
import { withHeartbeat } from '../shared/heartbeat.ts'
import { retryAfter } from '../shared/retry-after.ts'
import { createCallAccount } from '../shared/call-account.ts'
import { createCollectFollowers } from './collect-followers.ts'
import { createCollectPosts } from './collect-posts.ts'
import { createCollector } from './collector.ts'
import { createDueFollowers } from './due-followers.ts'
import { createDuePosts } from './due-posts.ts'
import { createRefreshMetrics } from './refresh-metrics.ts'
import { createReplayDeadLetter } from './replay-dead-letter.ts'

/** The metrics of the call limiter count deliveries only. */
const UNCOUNTED = { callDequeued: () => {}, callRejected: () => {} }

const MARGIN_MS = 30 * SECOND
/** Longer runs would have long histories. */
const MAX_RUN_MS = 6 * HOUR

/** Every activity may be killed at any point and repeated: what it has claimed is due again when the lease ends. */
export function createAnalyticsActivities(context: Context) {
  const { callsInFlight, intervalMs } = context.collection
  // Deliveries have a limiter of their own, so that no post waits for metrics.
  const callLimiter = createCallLimiter({ start: callsInFlight, most: callsInFlight }, UNCOUNTED)
  const callAccount = createCallAccount(context, callLimiter)
  const followers = createCollectFollowers(context, callAccount)
  const collectPosts = createCollectPosts(context, { callAccount, followers })
  const refreshMetrics = createRefreshMetrics(context, collectPosts)
  const collectDuePosts = createCollector(context, createDuePosts(context, collectPosts), computeRunMs(intervalMs))
  const collectDueFollowers = createCollector(context, createDueFollowers(context, followers), computeRunMs(DAY))
  const replayDeadLetter = createReplayDeadLetter(context, { followers, refreshMetrics })

  return {
    /** Collects the metrics of posts for one turn of a collector. */
    collectDuePosts: (startedAt: number): Promise<CollectorTurn> => runActivity(() => collectDuePosts(startedAt)),

    /** Collects the follower counts of accounts for one turn of a collector. */
    collectDueFollowers: (startedAt: number): Promise<CollectorTurn> =>
      runActivity(() => collectDueFollowers(startedAt)),

    /** @returns whether there is a new snapshot */
    refreshPostMetrics: (input: RefreshInput): Promise<boolean> =>
      runActivity(async () => (await refreshMetrics(input))?.saved === 1),

    /**
     * Collects the follower count of a new connection, unless the account has a count of today.
     * @throws a retry failure while calls to the platform are paused
     */
    collectFollowers: (connectionId: string): Promise<'saved' | 'skipped' | 'failed'> =>
      runActivity(async () => {
        const { userId, platform, accountId } = parseConnectionId(connectionId)
        const account = chooseById(accountId)(await context.accounts.listConnected(userId), platform)
        if (!account) return 'skipped'
        const result = await followers.collect(account, cancellationSignal())
        if (result.kind === 'paused') throw retryAfter('Calls to the platform are paused', result.waitMs || undefined)
        return result.kind
      }),

    replayDeadLetter: (letterId: string): Promise<'done' | 'failed' | 'gone'> =>
      runActivity(() => replayDeadLetter(letterId)),
  }
}

/** A run ends shortly before the next one, which would be skipped otherwise. */
function computeRunMs(intervalMs: number): number {
  return Math.min(intervalMs - Math.min(MARGIN_MS, intervalMs / 2), MAX_RUN_MS)
}

function runActivity<T>(work: () => Promise<T>): Promise<T> {
  return withHeartbeat(null, work)
}
