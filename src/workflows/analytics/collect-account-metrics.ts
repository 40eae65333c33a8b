import { executeChild, proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import type { CollectedFollowers } from '../contract/analytics.ts'
import { collectFollowersShard, FIRST_ROUND, FOLLOWERS_OPTIONS, NO_FOLLOWERS } from './collect-followers-shard.ts'
import { runShards } from './run-shards.ts'

const analytics = proxyActivities<Pick<Activities, 'planFollowers'>>(FOLLOWERS_OPTIONS)

/**
 * Collects the follower count of each connected account. Child workflows collect a platform and a range of owners each.
 * @throws a failure with the number of failed shards, after the others have ended
 */
export async function collectAccountMetrics(): Promise<CollectedFollowers> {
  const { shards } = await analytics.planFollowers()
  return runShards(shards, NO_FOLLOWERS, ({ platform, range }, options) =>
    executeChild(collectFollowersShard, { ...options, args: [{ platform, range, ...FIRST_ROUND }] }),
  )
}
