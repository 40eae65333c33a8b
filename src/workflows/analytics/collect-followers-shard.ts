import { continueAsNew } from '@temporalio/workflow'
import type { CollectedFollowers, FollowersPlace } from '../messages/analytics.ts'
import { analytics, collectRounds, type Rounds } from './collect-followers-rounds.ts'

interface Progress extends Rounds, Pick<FollowersPlace, 'platform' | 'range' | 'servers'> {}

/** Collects the follower counts of the accounts on one platform that a range of owners has connected. */
export async function collectFollowersShard(progress: Progress): Promise<CollectedFollowers> {
  const { platform, range, servers: only } = progress
  const toPlace = (servers: string[] | undefined) => ({ platform, range, ...(servers && { servers }) })
  return collectRounds(progress, {
    only,
    readPage: (at, servers) => analytics.collectShardFollowers({ ...toPlace(servers), ...at }),
    continueAs: (rounds, servers) => continueAsNew<typeof collectFollowersShard>({ ...toPlace(servers), ...rounds }),
  })
}
