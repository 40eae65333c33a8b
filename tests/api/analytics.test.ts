import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { END_OF_HISTORY, inventHistory, storeHistory, type UserHistory } from '../../sandbox/analytics-history.ts'
import { PERIODS, RANKINGS } from '../../src/domain/analytics.ts'
import { PLATFORMS } from '../../src/domain/platforms.ts'
import {
  expectedGrowth,
  expectedHeatmap,
  expectedOverview,
  expectedPlatforms,
  expectedTimeline,
  expectedTop,
  type Asked,
} from '../support/analytics-recomputed.ts'
import { apiWorld, signIn, type ApiWorld, type SignedIn } from '../support/api.ts'

const SIZE = { users: 15, posts: 20, snapshots: 12 }
const clock = { now: () => END_OF_HISTORY, sleepUntil: async () => {} }

let world: ApiWorld
const histories: { history: UserHistory; who: SignedIn }[] = []

beforeAll(async () => {
  world = await apiWorld({}, { clock })
  for (const history of inventHistory(SIZE)) {
    const { userId: _id, timezone } = history
    histories.push({ history, who: await signIn(world.context, { _id, timezone }) })
    await storeHistory(world.context.database.connection, history)
  }
})
afterAll(() => world.close())

async function read(who: SignedIn, path: string): Promise<unknown> {
  const response = await world.app.inject({ url: `/api/analytics/${path}`, headers: who.headers })
  expect(response.statusCode, response.body).toBe(200)
  return response.json().data
}

/** Fractions are added up in another order here and there. */
function rounded<T>(value: T): T {
  return JSON.parse(
    JSON.stringify(value, (_, part) => (typeof part === 'number' ? Number(part.toPrecision(12)) : part)),
  ) as T
}

const asked = ({ timezone }: UserHistory, period: string, platform?: string): Asked => ({
  now: END_OF_HISTORY,
  days: period === '7d' ? 7 : 30,
  timezone,
  ...(platform && { platform }),
})

describe('a history that was made up equals its plain recomputation', () => {
  it('has everything in it that could go wrong', () => {
    const all = histories.map(({ history }) => history)
    const snapshots = all.flatMap(({ postSnapshots }) => postSnapshots)
    const entries = all.flatMap(({ posts }) => posts.flatMap(({ platformStatuses }) => platformStatuses))
    expect(new Set(all.map(({ timezone }) => timezone)).size).toBe(5)
    expect(new Set(entries.map(({ status }) => status))).toEqual(new Set(['completed', 'failed', 'deleted', 'pending']))
    expect(snapshots.some(({ totalEngagement }) => totalEngagement === null)).toBe(true)
    expect(snapshots.some(({ engagementRate, likes }) => engagementRate === null && likes !== null)).toBe(true)
    expect(all.some(({ endings, connected }) => connected.some((platform) => endings[platform]))).toBe(true)
  })

  it.each(PERIODS)('overview over %s', async (period) => {
    for (const { history, who } of histories) {
      const overview = await read(who, `overview?period=${period}`)
      expect(rounded(overview)).toEqual(rounded(expectedOverview(history, asked(history, period))))
    }
  })

  it.each(PERIODS)('platforms over %s', async (period) => {
    for (const { history, who } of histories) {
      const platforms = await read(who, `platforms?period=${period}`)
      expect(rounded(platforms)).toEqual(rounded(expectedPlatforms(history, asked(history, period))))
    }
  })

  it.each(PERIODS)('heatmap over %s', async (period) => {
    for (const { history, who } of histories) {
      const cells = await read(who, `heatmap?period=${period}`)
      expect(cells).toHaveLength(168)
      expect(rounded(cells)).toEqual(rounded(expectedHeatmap(history, asked(history, period))))
    }
  })

  it.each(PERIODS)('timeline and growth over %s, of all platforms and of each', async (period) => {
    for (const { history, who } of histories) {
      for (const platform of [undefined, ...PLATFORMS]) {
        const query = `period=${period}${platform ? `&platform=${platform}` : ''}`
        const what = asked(history, period, platform)
        expect(await read(who, `timeline?${query}`), query).toEqual(expectedTimeline(history, what))
        expect(await read(who, `growth?${query}`), query).toEqual(expectedGrowth(history, what))
      }
    }
  })

  it.each(RANKINGS)('the best posts by %s', async (sortBy) => {
    for (const { history, who } of histories) {
      for (const platform of [undefined, 'mastodon'] as const) {
        const query = `sortBy=${sortBy}&limit=12${platform ? `&platform=${platform}` : ''}`
        const top = (await read(who, `posts/top?${query}`)) as TopPost[]
        const flat = top.map(({ postDetails, ...rest }) => ({
          ...rest,
          text: postDetails.content.text,
          statuses: postDetails.platformStatuses.map(({ status }) => status),
          createdAt: postDetails.createdAt,
        }))
        expect(rounded(flat)).toEqual(rounded(expectedTop(history, asked(history, '30d', platform), sortBy, 12)))
      }
    }
  })
})

interface TopPost {
  postDetails: { content: { text: string }; platformStatuses: { status: string }[]; createdAt: string }
}
