import { continueAsNew, isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { platformLabel } from '../../domain/shared/platforms.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { CollectedPosts, DueAccount, DuePage, DuePlace, Pauses } from '../messages/analytics.ts'

/** After this many pages the workflow continues as new, which keeps its history short. */
const PAGES_PER_RUN = 5
/** Accounts of one platform that are read concurrently. */
const CONCURRENT_ACCOUNTS = 8

const analytics = proxyActivities<Activities>({
  // An activity makes up to 25 calls, each with its own deadline. This timeout includes the waits for capacity.
  startToCloseTimeout: 6 * MINUTE,
  heartbeatTimeout: 5 * SECOND,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: MINUTE, maximumAttempts: 8 },
})

interface Progress extends CollectedPosts {
  /** Null at the beginning. */
  place: DuePlace | null
  pauses: Pauses
}

const BEGINNING: Progress = { place: null, pauses: {}, saved: 0, deleted: 0, skipped: 0, failed: 0 }

/** Collects the metrics of all due posts, one page at a time. A failed post is due again in the next slot. */
export async function collectPostMetrics(progress: Progress = BEGINNING): Promise<CollectedPosts> {
  const { place, pauses, ...totals } = progress
  for (let at = place, pages = 1; ; pages++) {
    const page = await analytics.listDueMetrics(at)
    await collectPage(page, pauses, totals)
    if (!page.next) return totals
    at = page.next
    if (pages >= PAGES_PER_RUN || workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof collectPostMetrics>({ place: at, pauses, ...totals })
    }
  }
}

async function collectPage({ accounts, slot }: DuePage, pauses: Pauses, totals: CollectedPosts): Promise<void> {
  const collectors = [...new Set(accounts.map(({ platform }) => platform))].flatMap((platform) => {
    const queue = accounts.filter((account) => account.platform === platform)
    return Array.from({ length: Math.min(CONCURRENT_ACCOUNTS, queue.length) }, () => collectFrom(queue))
  })
  await Promise.all(collectors)

  async function collectFrom(queue: DueAccount[]): Promise<void> {
    for (let account = queue.shift(); account; account = queue.shift()) await collectAccount(account)
  }

  async function collectAccount({ batches, ...account }: DueAccount): Promise<void> {
    const { platform } = account
    for (const postIds of batches) {
      // The skipped posts stay due for the next run.
      if ((pauses[platform] ?? 0) > Date.now()) return
      try {
        const summary = `${postIds.length} on ${platformLabel(platform)}`
        const batch = { ...account, postIds, slot }
        const { end, pauseMs, ...done } = await analytics.collectBatch.executeWithOptions({ summary }, [batch])
        for (const name of Object.keys(done) as (keyof CollectedPosts)[]) totals[name] += done[name]
        if (end === 'platform') pauses[platform] = Math.max(pauses[platform] ?? 0, Date.now() + (pauseMs ?? 0))
        if (end !== 'done') return
      } catch (error) {
        if (isCancellation(error)) throw error
        totals.failed += postIds.length
      }
    }
  }
}
