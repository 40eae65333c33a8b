import { proxyActivities, sleep, workflowInfo } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import { addCollected, NOTHING_COLLECTED, type Collected, type CollectorTurn } from '../contract/analytics.ts'

/** Enough that every worker probably gets one. */
const COLLECTORS = 8

/** A turn is retried until it succeeds: what is due then is claimed again. */
const analytics = proxyActivities<Pick<Activities, 'collectDuePosts' | 'collectDueFollowers'>>({
  startToCloseTimeout: 15 * MINUTE,
  heartbeatTimeout: 5 * SECOND,
  // Otherwise all collectors would start on the worker that has the workflow in its cache.
  allowEagerDispatch: false,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: MINUTE },
})

/** Collects the metrics of all due posts. */
export const collectPostMetrics = (): Promise<Collected> => runCollectors(analytics.collectDuePosts)

/** Collects the follower counts of all accounts without a count of today. */
export const collectAccountMetrics = (): Promise<Collected> => runCollectors(analytics.collectDueFollowers)

/** Repeats the turns of each collector while it has anything left. Turns get rarer, so the history is bounded. */
async function runCollectors(collect: (startedAt: number) => Promise<CollectorTurn>): Promise<Collected> {
  const startedAt = workflowInfo().startTime.getTime()
  const totals = { ...NOTHING_COLLECTED }
  await Promise.all(
    Array.from({ length: COLLECTORS }, async () => {
      for (let resumeAt: number | null = startedAt; resumeAt !== null;) {
        const pauseMs = resumeAt - Date.now()
        if (pauseMs > 0) await sleep(pauseMs, { summary: 'Wait until calls are allowed or leases have ended' })
        const turn = await collect(startedAt)
        addCollected(totals, turn)
        resumeAt = turn.resumeAt
      }
    }),
  )
  return totals
}
