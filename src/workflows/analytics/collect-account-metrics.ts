import { continueAsNew, proxyActivities, sleep, workflowInfo } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { HOUR, MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { FollowersPage } from '../messages/analytics.ts'

/** A page is retried until it succeeds. An account that has a count of today is not read again. */
const analytics = proxyActivities<Activities>({
  startToCloseTimeout: 15 * MINUTE,
  heartbeatTimeout: 5 * SECOND,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: HOUR },
})

/** The next run starts in a day, so paused accounts get another round after the pause. */
const MAX_ROUNDS = 3
const MIN_PAUSE_MS = MINUTE
const MAX_PAUSE_MS = 2 * HOUR

type Totals = Pick<FollowersPage, 'taken' | 'skipped' | 'failed' | 'paused'>

interface Progress extends Totals {
  round: number
  /** The paused platforms in later rounds; missing when all platforms are read. */
  platforms?: Platform[]
  /** The last user whose accounts were read; null at the beginning. */
  after: string | null
  pauses: FollowersPage['pauses']
}

const BEGINNING: Progress = { round: 1, after: null, pauses: {}, taken: 0, skipped: 0, failed: 0, paused: 0 }

/** Collects the follower count of each connected account. */
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
      if (totals.paused === 0 || round === MAX_ROUNDS) return totals
      const pauseMs = Math.max(...Object.values(pauses)) - Date.now()
      await sleep(Math.min(Math.max(pauseMs, MIN_PAUSE_MS), MAX_PAUSE_MS))
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
