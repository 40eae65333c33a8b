import {
  ApplicationFailure,
  executeChild,
  isCancellation,
  patched,
  proxyActivities,
  workflowInfo,
} from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { CollectedPosts } from '../messages/analytics.ts'
import { collectDuePosts, NO_POSTS, type Progress } from './collect-due-posts.ts'
import { collectMetricsShard } from './collect-metrics-shard.ts'

const analytics = proxyActivities<Activities>({
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
  const results = await Promise.allSettled(
    shards.map(({ name, place }, index) =>
      executeChild(collectMetricsShard, {
        workflowId: `${workflowInfo().workflowId}/${index}`,
        args: [{ place, pauses: {}, endsAt, ...NO_POSTS }],
        staticSummary: name,
      }),
    ),
  )
  const totals = { ...NO_POSTS }
  let failedShards = 0
  for (const result of results) {
    if (result.status === 'rejected') {
      if (isCancellation(result.reason)) throw result.reason
      failedShards += 1
    } else {
      for (const name of Object.keys(totals) as (keyof CollectedPosts)[]) totals[name] += result.value[name]
    }
  }
  if (failedShards > 0) {
    throw ApplicationFailure.nonRetryable(`${failedShards} of ${results.length} shards failed`, 'ShardsFailed', totals)
  }
  return totals
}
