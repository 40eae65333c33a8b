import { continueAsNew, proxyActivities, sleep, workflowInfo, type ActivityOptions } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { HOUR, MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { CollectedFollowers, FollowersPlace } from '../contract/analytics.ts'

/** Plans and pages are retried until they succeed. An account that has a count of today is not read again. */
export const FOLLOWERS_OPTIONS: ActivityOptions = {
  startToCloseTimeout: 15 * MINUTE,
  heartbeatTimeout: 5 * SECOND,
  // See collect-metrics-shard.ts.
  allowEagerDispatch: false,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: HOUR },
}

const analytics = proxyActivities<Pick<Activities, 'collectFollowersPage'>>(FOLLOWERS_OPTIONS)

/** The next run starts in a day, so paused accounts get another round after the pause. */
const MAX_ROUNDS = 3
const MIN_PAUSE_MS = MINUTE
const MAX_PAUSE_MS = 2 * HOUR

export const NO_FOLLOWERS: CollectedFollowers = { taken: 0, skipped: 0, failed: 0, paused: 0 }

interface Progress extends FollowersPlace, CollectedFollowers {
  round: number
}

export const FIRST_ROUND: Omit<Progress, 'platform' | 'range'> = { round: 1, after: null, pauses: {}, ...NO_FOLLOWERS }

/**
 * Collects the follower counts of the accounts on one platform that a range of owners has connected: one page at a time, and the accounts
 * that a pause skipped in later rounds.
 */
export async function collectFollowersShard(progress: Progress): Promise<CollectedFollowers> {
  const { platform, range, taken, skipped, failed, paused } = progress
  const totals = { taken, skipped, failed, paused }
  let { round, after, pauses, servers } = progress
  for (;;) {
    const page = await analytics.collectFollowersPage({ ...toPlace(), after, pauses })
    pauses = page.pauses
    for (const name of Object.keys(totals) as (keyof CollectedFollowers)[]) totals[name] += page[name]
    after = page.next
    if (after === null) {
      if (totals.paused === 0 || round === MAX_ROUNDS) return totals
      const pauseMs = Math.max(...Object.values(pauses)) - Date.now()
      await sleep(Math.min(Math.max(pauseMs, MIN_PAUSE_MS), MAX_PAUSE_MS))
      servers = Object.keys(pauses)
      pauses = {}
      totals.paused = 0
      round += 1
    }
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof collectFollowersShard>({ ...toPlace(), round, after, pauses, ...totals })
    }
  }

  function toPlace(): Pick<FollowersPlace, 'platform' | 'range' | 'servers'> {
    return { platform, range, ...(servers && { servers }) }
  }
}
