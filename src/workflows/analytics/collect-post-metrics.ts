import { continueAsNew, isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { platformLabel } from '../../domain/shared/platforms.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { CollectedPosts, DueAccount, DuePage, DuePlace, Pauses } from '../messages/analytics.ts'

/** A run lists so many pages and goes on as a new one: its history stays short. */
const PAGES_A_RUN = 5
/** So many accounts of a platform are asked about at a time. */
const ACCOUNTS_AT_ONCE = 8

const analytics = proxyActivities<Activities>({
  // Its calls, up to 25, have deadlines of their own; this is for the wait for room among them as well.
  startToCloseTimeout: 6 * MINUTE,
  heartbeatTimeout: 5 * SECOND,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: MINUTE, maximumAttempts: 8 },
})

interface Progress extends CollectedPosts {
  /** Null in the beginning. */
  place: DuePlace | null
  pauses: Pauses
}

const BEGINNING: Progress = { place: null, pauses: {}, saved: 0, deleted: 0, skipped: 0, failed: 0 }

/** Takes the metrics of all posts that are due, a page at a time. What fails is due again with the next slot. */
export async function collectPostMetrics(progress: Progress = BEGINNING): Promise<CollectedPosts> {
  const { place, pauses, ...totals } = progress
  for (let at = place, pages = 1; ; pages++) {
    const page = await analytics.listDueMetrics(at)
    await collectPage(page, pauses, totals)
    if (!page.next) return totals
    at = page.next
    if (pages >= PAGES_A_RUN || workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof collectPostMetrics>({ place: at, pauses, ...totals })
    }
  }
}

async function collectPage({ accounts, slot }: DuePage, pauses: Pauses, totals: CollectedPosts): Promise<void> {
  const lanes = [...new Set(accounts.map(({ platform }) => platform))].flatMap((platform) => {
    const line = accounts.filter((account) => account.platform === platform)
    return Array.from({ length: Math.min(ACCOUNTS_AT_ONCE, line.length) }, () => lane(line))
  })
  await Promise.all(lanes)

  async function lane(line: DueAccount[]): Promise<void> {
    for (let account = line.shift(); account; account = line.shift()) await collectAccount(account)
  }

  async function collectAccount({ userId, platform, batches }: DueAccount): Promise<void> {
    for (const postIds of batches) {
      // What is left out is still due when the next run comes.
      if ((pauses[platform] ?? 0) > Date.now()) return
      try {
        const summary = `${postIds.length} on ${platformLabel(platform)}`
        const batch = { userId, platform, postIds, slot }
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
