import { afterAll, beforeAll, expect, it } from 'vitest'
import { END_OF_HISTORY, inventHistory, storeHistory, type UserHistory } from '../../sandbox/analytics-history.ts'
import { windowOf } from '../../src/domain/analytics.ts'
import { daysOf } from '../../src/domain/calendar.ts'
import {
  comparedPairs,
  followerCounts,
  latestOfPost,
  latestPairs,
  timelinePairs,
  topPairs,
  type Aggregation,
} from '../../src/store/analytics-pipelines.ts'
import type { Context } from '../../src/context.ts'
import { POST_SNAPSHOTS } from '../../src/store/snapshots.ts'
import { testContext } from '../support/servers.ts'

let context: Context
let histories: UserHistory[]
beforeAll(async () => {
  context = await testContext()
  histories = [...inventHistory({ users: 6, posts: 20, snapshots: 10 })]
  for (const history of histories) await storeHistory(context.database.connection, history)
})
afterAll(() => context.close())

const window = windowOf('7d', END_OF_HISTORY)
const days = daysOf(window, 'Europe/Berlin')

const READS: Record<string, (history: UserHistory) => Aggregation> = {
  overview: ({ userId }) => comparedPairs(userId, window),
  'platforms and heatmap': ({ userId }) => latestPairs(userId, window),
  timeline: ({ userId }) => timelinePairs({ userId, platform: null }, window, days),
  'timeline of one platform': ({ userId }) => timelinePairs({ userId, platform: 'mastodon' }, window, days),
  growth: ({ userId }) => followerCounts({ userId, platform: null }, days),
  'growth of one platform': ({ userId }) => followerCounts({ userId, platform: 'mastodon' }, days),
  top: ({ userId }) => topPairs({ userId, platform: null }, window, 'likes', 5),
  'one post': ({ postSnapshots: [snapshot] }) => latestOfPost(snapshot!.postId),
}

async function explain({ collection, stages }: Aggregation): Promise<[string, unknown][]> {
  const aggregation = context.database.connection.collection(collection).aggregate(stages)
  return [...factsOf(await aggregation.explain('executionStats'))]
}

/** What a plan says of how its records are reached, wherever in it. */
function* factsOf(plan: unknown): Generator<[string, unknown]> {
  if (typeof plan !== 'object' || plan === null) return
  for (const [key, value] of Object.entries(plan)) {
    if (typeof value === 'object') yield* factsOf(value)
    else yield [key, value]
  }
}

const isScan = ([key, value]: [string, unknown]) =>
  (key === 'stage' && value === 'COLLSCAN') || (key === 'collectionScans' && Number(value) > 0)

it.each(Object.keys(READS))('%s scans no collection, and looks at nothing of other users', async (name) => {
  const history = histories.find(({ posts }) => posts.some(({ selectedPlatforms: [first] }) => first === 'mastodon'))!
  const facts = await explain(READS[name]!(history))
  expect(facts.filter(isScan)).toEqual([])
  const examined = facts.filter(([key]) => key === 'totalDocsExamined').map(([, value]) => Number(value))
  expect(Math.max(...examined)).toBeGreaterThan(0)
  expect(Math.max(...examined)).toBeLessThanOrEqual(
    Math.max(history.postSnapshots.length, history.accountSnapshots.length),
  )
})

it('would notice a scan, also in what is joined', async () => {
  const byLikes = { $match: { likes: { $gt: 3 } } }
  expect((await explain({ collection: POST_SNAPSHOTS, stages: [byLikes] })).some(isScan)).toBe(true)
  const joined = { $unionWith: { coll: POST_SNAPSHOTS, pipeline: [byLikes] } }
  const { stages } = READS['platforms and heatmap']!(histories[0]!)
  expect((await explain({ collection: POST_SNAPSHOTS, stages: [...stages, joined] })).some(isScan)).toBe(true)
})
