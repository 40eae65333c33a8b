import { cancellationSignal } from '@temporalio/activity'
import type { AgeClass } from '../../domain/analytics/collection.ts'
import { chooseById, type AccountCredentials } from '../../commands/accounts/account-credentials.ts'
import type { DeadLetterStore } from '../../store/analytics/dead-letters.ts'
import type { AccountStore } from '../../store/accounts/accounts.ts'
import {
  parseConnectionId,
  type CollectedBatch,
  type CollectionPlan,
  type DueBatch,
  type DuePage,
  type DuePlace,
  type FollowersPage,
  type FollowersPlace,
  type FollowersPlan,
  type RefreshInput,
} from '../../workflows/contract/analytics.ts'
import { createCallLimiter } from '../shared/call-limiter.ts'
import { withHeartbeat } from '../shared/heartbeat.ts'
import { retryAfter } from '../shared/retry-after.ts'
import { createCallAccount } from './call-account.ts'
import { createCollectFollowersPage } from './collect-followers-page.ts'
import { createCollectFollowers, type CollectFollowersDeps } from './collect-followers.ts'
import { createCollectPosts, type CollectPostsDeps } from './collect-posts.ts'
import { createListDueMetrics } from './list-due-metrics.ts'
import { createPlanCollection } from './plan-collection.ts'
import { createRefreshMetrics } from './refresh-metrics.ts'
import { createReplayDeadLetter } from './replay-dead-letter.ts'

export interface CollectionSettings {
  ages: AgeClass[]
  intervalMs: number
  retentionMs: number
  deletionGraceMs: number
  callsInFlight: number
  shards: number
  timeoutMs: number
}

export interface AnalyticsDeps
  extends
    Omit<CollectPostsDeps, 'callAccount' | 'followers' | 'collection' | 'accounts'>,
    Omit<CollectFollowersDeps, 'callAccount' | 'accounts' | 'deadLetters'> {
  accounts: AccountStore
  credentials: AccountCredentials
  deadLetters: DeadLetterStore
  collection: CollectionSettings
}

/** The metrics of the call limiter count deliveries only. */
const UNCOUNTED = { callDequeued: () => {}, callRejected: () => {} }

/** Every activity may be killed at any point and repeated: a slot that has a snapshot is not collected again. */
export function createAnalyticsActivities(deps: AnalyticsDeps) {
  const { collection } = deps
  const { timeoutMs, callsInFlight } = collection
  // Deliveries have a limiter of their own, so that no post waits for metrics.
  const callLimiter = createCallLimiter({ start: callsInFlight, most: callsInFlight }, UNCOUNTED)
  const callAccount = createCallAccount({ ...deps, timeoutMs, callLimiter })
  const followers = createCollectFollowers({ ...deps, callAccount })
  const collectPosts = createCollectPosts({ ...deps, callAccount, followers })
  const { planPosts, planFollowers } = createPlanCollection({ ...deps, ...collection })
  const listDueMetrics = createListDueMetrics(deps)
  const refreshMetrics = createRefreshMetrics({ ...deps, collectPosts })
  const collectFollowersPage = createCollectFollowersPage({ ...deps, followers })
  const replayDeadLetter = createReplayDeadLetter({ ...deps, followers, refreshMetrics })

  return {
    planCollection: (): Promise<CollectionPlan> => runActivity(planPosts),

    planFollowers: (): Promise<FollowersPlan> => runActivity(planFollowers),

    listDueMetrics: (place: DuePlace): Promise<DuePage> => runActivity(() => listDueMetrics(place)),

    collectBatch: (batch: DueBatch): Promise<CollectedBatch> =>
      runActivity(() => collectPosts(batch, cancellationSignal())),

    /** @returns whether there is a new snapshot */
    refreshPostMetrics: (input: RefreshInput): Promise<boolean> =>
      runActivity(async () => (await refreshMetrics(input))?.saved === 1),

    collectFollowersPage: (place: FollowersPlace): Promise<FollowersPage> =>
      runActivity(() => collectFollowersPage(place)),

    /**
     * Collects the follower count of a new connection, unless the account has a count of today.
     * @throws a retry failure while calls to the platform are paused
     */
    collectFollowers: (connectionId: string): Promise<'taken' | 'skipped' | 'failed'> =>
      runActivity(async () => {
        const { userId, platform, accountId } = parseConnectionId(connectionId)
        const account = chooseById(accountId)(await deps.accounts.listConnected(userId), platform)
        if (!account) return 'skipped'
        const result = await followers.collect(account, cancellationSignal())
        if (result.kind === 'paused') throw retryAfter('Calls to the platform are paused', result.waitMs || undefined)
        return result.kind
      }),

    replayDeadLetter: (letterId: string): Promise<'done' | 'failed' | 'gone'> =>
      runActivity(() => replayDeadLetter(letterId)),
  }
}

function runActivity<T>(work: () => Promise<T>): Promise<T> {
  return withHeartbeat(null, work)
}
