import { proxyActivities, sleep, workflowInfo } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { HOUR, MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { CollectedFollowers, FollowersPage, Pauses } from '../messages/analytics.ts'

/** Plans and pages are retried until they succeed. An account that has a count of today is not read again. */
export const analytics = proxyActivities<
  Pick<Activities, 'planFollowers' | 'collectFollowersPage' | 'collectShardFollowers'>
>({
  startToCloseTimeout: 15 * MINUTE,
  heartbeatTimeout: 5 * SECOND,
  // See collect-due-posts.ts.
  allowEagerDispatch: false,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: HOUR },
})

/** The next run starts in a day, so paused accounts get another round after the pause. */
const MAX_ROUNDS = 3
const MIN_PAUSE_MS = MINUTE
const MAX_PAUSE_MS = 2 * HOUR

export const NO_FOLLOWERS: CollectedFollowers = { taken: 0, skipped: 0, failed: 0, paused: 0 }

/** Stored histories hold the field names. */
export interface Rounds extends CollectedFollowers {
  round: number
  /** Where the next page begins; null at the beginning of a round. */
  after: string | null
  pauses: Pauses
}

export const FIRST_ROUND: Rounds = { round: 1, after: null, pauses: {}, ...NO_FOLLOWERS }

interface RoundSteps {
  /** The names in `pauses` that a later round reads; absent in the first one, which reads all. */
  only: string[] | undefined
  readPage: (at: Pick<Rounds, 'after' | 'pauses'>, only: string[] | undefined) => Promise<FollowersPage>
  continueAs: (progress: Rounds, only: string[] | undefined) => Promise<never>
}

/** Collects the follower counts of accounts, one page at a time, and those that a pause skipped in later rounds. */
export async function collectRounds(progress: Rounds, steps: RoundSteps): Promise<CollectedFollowers> {
  const { taken, skipped, failed, paused } = progress
  const totals = { taken, skipped, failed, paused }
  let { round, after, pauses } = progress
  let { only } = steps
  for (;;) {
    const page = await steps.readPage({ after, pauses }, only)
    pauses = page.pauses
    for (const name of Object.keys(totals) as (keyof CollectedFollowers)[]) totals[name] += page[name]
    after = page.next
    if (after === null) {
      if (totals.paused === 0 || round === MAX_ROUNDS) return totals
      const pauseMs = Math.max(...Object.values(pauses)) - Date.now()
      await sleep(Math.min(Math.max(pauseMs, MIN_PAUSE_MS), MAX_PAUSE_MS))
      only = Object.keys(pauses)
      pauses = {}
      totals.paused = 0
      round += 1
    }
    if (workflowInfo().continueAsNewSuggested) await steps.continueAs({ round, after, pauses, ...totals }, only)
  }
}
