import {
  ActivityCancellationType,
  CancellationScope,
  continueAsNew,
  isCancellation,
  proxyActivities,
  workflowInfo,
} from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { workByServer } from '../../flow/lanes.ts'
import { platformLabel } from '../../domain/shared/platforms.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import {
  startAgeClass,
  toServerName,
  type CollectedPosts,
  type DueAccount,
  type DuePage,
  type DuePlace,
  type Pauses,
} from '../contract/analytics.ts'

/** After this many pages the workflow continues as new, which keeps its history short. */
const PAGES_PER_RUN = 5
/** Accounts of one server that a workflow reads concurrently. */
const CONCURRENT_ACCOUNTS = 8
/** While a page has accounts of several servers, none is read for longer. */
const SERVER_TURN_MS = 30 * SECOND

const analytics = proxyActivities<Activities>({
  // An activity makes up to 25 calls, each with its own deadline. This timeout includes the waits for capacity.
  startToCloseTimeout: 15 * MINUTE,
  heartbeatTimeout: 5 * SECOND,
  // Otherwise the activities would stay on the worker that has the workflow in its cache, whose calls in flight are limited.
  allowEagerDispatch: false,
  // A run waits for its last activities, so that it counts what they stored and the next run does not read the same posts beside them.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: MINUTE, maximumAttempts: 8 },
})

/** The argument of the workflow. */
interface Progress extends CollectedPosts {
  place: DuePlace
  pauses: Pauses
  /** When the run ends, in epoch milliseconds. */
  endsAt: number
  listing: Listing
}

/** A pass over the due posts of a shard. What a listing leaves is due in the next one, if it collected anything. */
interface Listing {
  /** The number of posts that were collected before. */
  collectedBefore: number
  /** Servers that had their turn. */
  slow: string[]
  /** Whether an owner had more posts than a page. */
  isCut: boolean
}

export const NO_POSTS: CollectedPosts = { saved: 0, deleted: 0, skipped: 0, failed: 0 }
export const FIRST_LISTING: Listing = { collectedBefore: 0, slow: [], isCut: false }

interface CollectionContext {
  pauses: Pauses
  totals: CollectedPosts
  listing: Listing
}

/** Collects the due posts of one platform and a range of owners, until the run ends. */
export async function collectMetricsShard(progress: Progress): Promise<CollectedPosts> {
  const { place, pauses, endsAt, listing, ...totals } = progress
  const remainingMs = Math.max(1, endsAt - Date.now())
  try {
    await CancellationScope.withTimeout(remainingMs, () => collectDuePosts({ place, pauses, endsAt, listing }, totals))
  } catch (error) {
    const isRunOver = isCancellation(error) && !CancellationScope.current().consideredCancelled
    if (!isRunOver) throw error
  }
  return totals
}

/**
 * Collects the metrics of due posts, one page at a time, and continues the workflow as new after some pages. A failed post is due again
 * after its interval; a skipped one stays due.
 * @param totals counts the posts, also until the collection is cancelled
 */
async function collectDuePosts(
  { place, pauses, endsAt, listing }: Omit<Progress, keyof CollectedPosts>,
  totals: CollectedPosts,
): Promise<void> {
  let at = place
  let current = { ...listing, slow: [...listing.slow] }
  for (let pages = 1; ; pages++) {
    const page = await analytics.listDueMetrics(at)
    await collectPage(page, { pauses, totals, listing: current })
    if (page.isCut) current.isCut = true
    if (page.next) at = page.next
    else if (isListedAgain(current, totals)) {
      at = startAgeClass(0, place)
      current = { ...FIRST_LISTING, collectedBefore: countCollected(totals), slow: [] }
    } else return
    if (pages >= PAGES_PER_RUN || workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof collectMetricsShard>({ place: at, pauses, endsAt, listing: current, ...totals })
    }
  }
}

/** A listing that collected nothing would find the same posts again, such as those of a server that refuses all calls. */
function isListedAgain({ slow, isCut, collectedBefore }: Listing, totals: CollectedPosts): boolean {
  return (slow.length > 0 || isCut) && countCollected(totals) > collectedBefore
}

function countCollected({ saved, deleted, failed }: CollectedPosts): number {
  return saved + deleted + failed
}

async function collectPage({ accounts, slot }: DuePage, { pauses, totals, listing }: CollectionContext): Promise<void> {
  const toServer = ({ platform, server }: DueAccount) => toServerName(platform, server)
  const hasTurns = new Set(accounts.map(toServer)).size > 1
  const turnEndsAt = hasTurns ? Date.now() + SERVER_TURN_MS : Infinity
  await workByServer(accounts, { toServer, perServer: CONCURRENT_ACCOUNTS }, (account, server) => {
    if (Date.now() > turnEndsAt && !listing.slow.includes(server)) listing.slow.push(server)
    return collectAccount(account, server)
  })

  async function collectAccount({ batches, server: _, ...account }: DueAccount, server: string): Promise<void> {
    for (const postIds of batches) {
      // The skipped posts stay due.
      if ((pauses[server] ?? 0) > Date.now() || listing.slow.includes(server)) return
      try {
        const summary = `${postIds.length} on ${platformLabel(account.platform)}`
        const batch = { ...account, postIds, slot }
        const { end, pauseMs, ...done } = await analytics.collectBatch.executeWithOptions({ summary }, [batch])
        for (const name of Object.keys(done) as (keyof CollectedPosts)[]) totals[name] += done[name]
        if (end === 'platform') pauses[server] = Math.max(pauses[server] ?? 0, Date.now() + (pauseMs ?? 0))
        if (end !== 'done') return
      } catch (error) {
        if (isCancellation(error)) throw error
        totals.failed += postIds.length
      }
    }
  }
}
