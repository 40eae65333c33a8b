import { continueAsNew, executeChild, patched } from '@temporalio/workflow'
import type { Platform } from '../../domain/shared/platforms.ts'
import type { CollectedFollowers } from '../messages/analytics.ts'
import { analytics, collectRounds, FIRST_ROUND, NO_FOLLOWERS, type Rounds } from './collect-followers-rounds.ts'
import { collectFollowersShard } from './collect-followers-shard.ts'
import { runShards } from './run-shards.ts'

/** The progress of a run of an older release, which pauses platforms. */
interface Progress extends Rounds {
  /** The paused platforms in later rounds; missing when all platforms are read. */
  platforms?: Platform[]
}

/**
 * Collects the follower count of each connected account. Child workflows collect a platform and a range of owners each.
 * @param older the progress of a run that an older release started, which collects all accounts itself
 * @throws a failure with the number of failed shards, after the others have ended
 */
export async function collectAccountMetrics(older?: Progress): Promise<CollectedFollowers> {
  if (older || !patched('follower-shards')) return collectAll(older ?? FIRST_ROUND)
  const { shards } = await analytics.planFollowers()
  return runShards(shards, NO_FOLLOWERS, ({ platform, range }, options) =>
    executeChild(collectFollowersShard, { ...options, args: [{ platform, range, ...FIRST_ROUND }] }),
  )
}

function collectAll(progress: Progress): Promise<CollectedFollowers> {
  return collectRounds(progress, {
    only: progress.platforms,
    readPage: ({ after, pauses }, platforms) =>
      analytics.collectFollowersPage(after, pauses, platforms as Platform[] | undefined),
    continueAs: (rounds, platforms) =>
      continueAsNew<typeof collectAccountMetrics>({
        ...rounds,
        ...(platforms && { platforms: platforms as Platform[] }),
      }),
  })
}
