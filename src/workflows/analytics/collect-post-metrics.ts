import { executeChild, patched, proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import { startAgeClass, type CollectedPosts } from '../messages/analytics.ts'
import { collectDuePosts, FIRST_LISTING, NO_POSTS, type Progress } from './collect-due-posts.ts'
import { collectMetricsShard } from './collect-metrics-shard.ts'
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
 * @param older the progress of a run that an older release started, which collects all posts itself
 * @throws a failure with the number of failed shards, after the others have ended
 */
export async function collectPostMetrics(older?: Progress): Promise<CollectedPosts> {
  if (older || !patched('metrics-shards')) {
    const { place = null, pauses = {}, ...before } = older ?? {}
    const totals = { ...NO_POSTS, ...before }
    await collectDuePosts({ place, pauses }, totals)
    return totals
  }
  const { shards, endsAt } = await analytics.planCollection()
  return runShards(shards, NO_POSTS, ({ platform, range, startUserId }, options) => {
    const place = startAgeClass(0, { platform, range, startUserId })
    const progress = { place, pauses: {}, endsAt, listing: FIRST_LISTING, ...NO_POSTS }
    return executeChild(collectMetricsShard, { ...options, args: [progress] })
  })
}
