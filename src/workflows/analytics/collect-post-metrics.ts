import { executeChild, proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import { startAgeClass, type CollectedPosts } from '../contract/analytics.ts'
import { collectMetricsShard, FIRST_LISTING, NO_POSTS } from './collect-metrics-shard.ts'
import { runShards } from './run-shards.ts'

/** A plan that fails for some minutes is left to the next run. */
const analytics = proxyActivities<Pick<Activities, 'planCollection'>>({
  startToCloseTimeout: MINUTE,
  heartbeatTimeout: 5 * SECOND,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: MINUTE, maximumAttempts: 8 },
})

/**
 * Collects the metrics of all due posts. Child workflows collect a platform and a range of owners each, so that all workers share
 * the work and a slow platform delays only itself.
 * @throws a failure with the number of failed shards, after the others have ended
 */
export async function collectPostMetrics(): Promise<CollectedPosts> {
  const { shards, endsAt } = await analytics.planCollection()
  return runShards(shards, NO_POSTS, (shard, options) => {
    const place = startAgeClass(0, shard)
    const progress = { place, pauses: {}, endsAt, listing: FIRST_LISTING, ...NO_POSTS }
    return executeChild(collectMetricsShard, { ...options, args: [progress] })
  })
}
