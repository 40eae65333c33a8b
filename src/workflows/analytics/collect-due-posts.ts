import {
  ActivityCancellationType,
  continueAsNew,
  isCancellation,
  proxyActivities,
  workflowInfo,
} from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { platformLabel } from '../../domain/shared/platforms.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { CollectedPosts, DueAccount, DuePage, DuePlace } from '../messages/analytics.ts'

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
  // The end of a run counts what its last activities stored, and the next run does not read the same posts beside them.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: MINUTE, maximumAttempts: 8 },
})

/** The argument of a workflow that collects due posts. Stored histories hold the field names. */
export interface Progress extends CollectedPosts {
  /** Null at the beginning of a run that an older release started. */
  place: DuePlace | null
  /** The end of each server's pause in epoch milliseconds. */
  pauses: Record<string, number>
  /** When the run ends, in epoch milliseconds; absent in runs of older releases. */
  endsAt?: number | undefined
}

export const NO_POSTS: CollectedPosts = { saved: 0, deleted: 0, skipped: 0, failed: 0 }

/**
 * Collects the metrics of due posts, one page at a time, and continues the workflow as new after some pages. A failed post is due again
 * after its interval; a skipped one stays due.
 * @param totals counts the posts, also until the collection is cancelled
 */
export async function collectDuePosts(
  { place, pauses, endsAt }: Pick<Progress, 'place' | 'pauses' | 'endsAt'>,
  totals: CollectedPosts,
): Promise<void> {
  for (let at = place, pages = 1; ; pages++) {
    const page = await analytics.listDueMetrics(at)
    await collectPage(page, { pauses, totals, endsAt })
    if (!page.next) return
    at = page.next
    if (pages >= PAGES_PER_RUN || workflowInfo().continueAsNewSuggested) {
      const progress: Progress = { place: at, pauses, endsAt, ...totals }
      await continueAsNew<(progress: Progress) => Promise<unknown>>(progress)
    }
  }
}

interface PageContext {
  pauses: Progress['pauses']
  totals: CollectedPosts
  endsAt: number | undefined
}

async function collectPage({ accounts, slot }: DuePage, { pauses, totals, endsAt }: PageContext): Promise<void> {
  const servers = Map.groupBy(accounts, toServerName)
  // A run of an older release has no end, and its servers no turns.
  const turnEndsAt = endsAt === undefined || servers.size === 1 ? Infinity : Date.now() + SERVER_TURN_MS
  const collectors = [...servers].flatMap(([server, queue]) =>
    Array.from({ length: Math.min(CONCURRENT_ACCOUNTS, queue.length) }, () => collectFrom(server, queue)),
  )
  await Promise.all(collectors)

  async function collectFrom(server: string, queue: DueAccount[]): Promise<void> {
    for (let account = queue.shift(); account; account = queue.shift()) {
      // A slow server has another turn in the next run, and the accounts of the others are read meanwhile.
      if (Date.now() > turnEndsAt) pauses[server] = endsAt!
      await collectAccount(server, account)
    }
  }

  async function collectAccount(server: string, { batches, server: _, ...account }: DueAccount): Promise<void> {
    for (const postIds of batches) {
      // The skipped posts stay due for the next run.
      if ((pauses[server] ?? 0) > Date.now()) return
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

function toServerName({ platform, server }: DueAccount): string {
  return server === undefined ? platform : `${platform} ${server}`
}
