import { continueAsNew, proxyActivities, sleep, workflowInfo } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { HOUR, MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { FollowersPage } from '../messages/analytics.ts'

/** A page is repeated until it is done; who was asked about today is not asked about again. */
const analytics = proxyActivities<Activities>({
  startToCloseTimeout: 15 * MINUTE,
  heartbeatTimeout: 5 * SECOND,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: HOUR },
})

/** The next run comes in a day, so what a pause left out is gone through again after it. */
const MOST_ROUNDS = 3
const SHORTEST_PAUSE_MS = MINUTE
const LONGEST_PAUSE_MS = 2 * HOUR

type Totals = Pick<FollowersPage, 'taken' | 'skipped' | 'failed' | 'paused'>

interface Progress extends Totals {
  round: number
  /** In later rounds only those that were paused; missing where it is all of them. */
  platforms?: Platform[]
  /** The last user whose accounts were looked at; null in the beginning. */
  after: string | null
  pauses: FollowersPage['pauses']
}

const BEGINNING: Progress = { round: 1, after: null, pauses: {}, taken: 0, skipped: 0, failed: 0, paused: 0 }

/** Asks how many follow each connected account. */
export async function collectAccountMetrics(progress: Progress = BEGINNING): Promise<Totals> {
  const { taken, skipped, failed, paused } = progress
  const totals = { taken, skipped, failed, paused }
  let { round, platforms, after, pauses } = progress
  for (;;) {
    const page = await analytics.collectFollowersPage(after, pauses, platforms)
    pauses = page.pauses
    for (const name of Object.keys(totals) as (keyof Totals)[]) totals[name] += page[name]
    after = page.next
    if (after === null) {
      if (totals.paused === 0 || round === MOST_ROUNDS) return totals
      const pauseMs = Math.max(...Object.values(pauses)) - Date.now()
      await sleep(Math.min(Math.max(pauseMs, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS))
      platforms = Object.keys(pauses) as Platform[]
      pauses = {}
      totals.paused = 0
      round += 1
    }
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof collectAccountMetrics>({
        round,
        ...(platforms && { platforms }),
        after,
        pauses,
        ...totals,
      })
    }
  }
}
