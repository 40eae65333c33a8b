import { inventHistory, storeHistory, type UserHistory } from '../../sandbox/analytics-history.ts'
import { createContext, type Context } from '../../src/context.ts'
import { listDays, toPeriodWindow } from '../../src/domain/analytics/calendar.ts'
import {
  comparedPairs,
  followerCounts,
  latestOfPosts,
  latestPairs,
  timelinePairs,
  topPairs,
  type Aggregation,
} from '../../src/store/analytics/analytics-pipelines.ts'
import { figure, type Figure } from '../figure.ts'
import { startChild } from '../processes.ts'
import { percentile, rounded } from '../stats.ts'
import { signUp } from '../users.ts'
import type { World } from '../world.ts'

export interface AnalyticsSize {
  users: number
  /** Posts per user. */
  posts: number
  /** Snapshots per post. */
  snapshots: number
  /** Number of users whose analytics are read. */
  readers: number
}

const WARM_UP = 10
const NO_LIMIT = '1000000000'

interface Read {
  /** False when every response is computed again. */
  isCached?: false
  path(history: UserHistory): string
  aggregation(history: UserHistory, now: Date): Aggregation
}

const everything = ({ userId }: UserHistory) => ({ userId, platform: null })
const month = ({ timezone }: UserHistory, now: Date) => toPeriodWindow('30d', now, timezone)
const daysFor = (history: UserHistory, now: Date) => listDays(month(history, now), history.timezone)

const READS: Record<string, Read> = {
  overview: {
    path: () => '/api/analytics/overview',
    aggregation: (history, now) => comparedPairs({ userId: history.userId, platform: null }, month(history, now)),
  },
  timeline: {
    path: () => '/api/analytics/timeline',
    aggregation: (history, now) => timelinePairs(everything(history), month(history, now), daysFor(history, now)),
  },
  growth: {
    path: () => '/api/analytics/growth',
    aggregation: (history, now) => followerCounts(everything(history), daysFor(history, now)),
  },
  'top posts': {
    path: () => '/api/analytics/posts/top',
    aggregation: (history, now) => topPairs(everything(history), month(history, now), 'totalEngagement', 5),
  },
  platforms: {
    path: () => '/api/analytics/platforms',
    aggregation: (history, now) => latestPairs({ userId: history.userId, platform: null }, month(history, now)),
  },
  heatmap: {
    path: () => '/api/analytics/heatmap',
    aggregation: (history, now) => latestPairs({ userId: history.userId, platform: null }, month(history, now)),
  },
  'one post': {
    isCached: false,
    path: ({ postSnapshots: [snapshot] }) => `/api/posts/${snapshot!.postId}`,
    aggregation: ({ userId, postSnapshots: [snapshot] }) => latestOfPosts(userId, [snapshot!.postId]),
  },
}

interface Reader {
  history: UserHistory
  headers: { authorization: string }
}

/** Measures each read of a full database, with and without the response in the cache. */
export async function measureAnalytics(world: World, size: AnalyticsSize): Promise<Figure[]> {
  const config = await world.config({ RATE_LIMIT_PER_ADDRESS: NO_LIMIT, RATE_LIMIT_PER_USER: NO_LIMIT })
  const context = await createContext(config)
  await context.database.createSchema()
  const { readers, stored } = await fill(context, size)
  const api = await startChild('api', config, { profiling: world.profiling })
  try {
    const figures: Figure[] = []
    for (const name of Object.keys(READS)) {
      figures.push(...(await measureRead(name, { context, url: String(api.ready), readers, stored })))
    }
    return figures
  } finally {
    await api.stop()
    await context.close()
  }
}

async function fill(context: Context, { users, posts, snapshots, readers: readerCount }: AnalyticsSize) {
  const chosen: UserHistory[] = []
  // Readers are spread evenly over the data, so that their records are not neighbours.
  const spacing = users / (readerCount + WARM_UP)
  let [created, stored] = [0, 0]
  for (const history of inventHistory({ users, posts, snapshots }, { end: new Date() })) {
    await storeHistory(context.database.connection, history)
    stored += history.postSnapshots.length
    if (created++ >= chosen.length * spacing) chosen.push(history)
  }
  const readers: Reader[] = []
  for (const history of chosen) readers.push({ history, headers: await signIn(context, history) })
  return { readers, stored }
}

async function signIn(context: Context, { userId, timezone }: UserHistory) {
  const { token } = await signUp(context, { _id: userId, timezone })
  return { authorization: `Bearer ${token}` }
}

interface Measured {
  context: Context
  url: string
  readers: Reader[]
  /** Number of stored snapshots of posts. */
  stored: number
}

async function measureRead(name: string, { context, url, readers, stored }: Measured): Promise<Figure[]> {
  const { path, aggregation, isCached = true } = READS[name]!
  const [raw, cold, warm]: [number[], number[], number[]] = [[], [], []]
  for (const [index, { history, headers }] of readers.entries()) {
    const readApi = () => get(`${url}${path(history)}`, headers)
    const aggregate = async () => {
      const { collection, stages } = aggregation(history, new Date())
      await context.database.connection.collection(collection).aggregate(stages).toArray()
    }
    // The first read may load records from disk, so both sides alternate in being first.
    const sides = [() => timed(raw, aggregate), () => timed(cold, readApi)]
    for (const side of index % 2 === 0 ? sides : sides.toReversed()) await side()
    if (isCached) await timed(warm, readApi)
    if (index === WARM_UP - 1) for (const samples of [raw, cold, warm]) samples.length = 0
  }
  const figureOf = (kind: string, samples: number[]) =>
    figure({
      group: 'analytics',
      name: `${name}, ${kind}, p50 (baseline: its aggregation by the driver)`,
      unit: 'ms',
      ours: percentile(samples, 0.5),
      baseline: percentile(raw, 0.5),
      details: {
        'p99, ms': rounded(percentile(samples, 0.99)),
        'p99 of the baseline, ms': rounded(percentile(raw, 0.99)),
        'ratio of the p99': rounded(percentile(samples, 0.99) / percentile(raw, 0.99)),
        'snapshots of posts': stored,
      },
    })
  return isCached ? [figureOf('computed', cold), figureOf('cached', warm)] : [figureOf('read', cold)]
}

async function timed(samples: number[], work: () => Promise<void>): Promise<void> {
  const startedAt = performance.now()
  await work()
  samples.push(performance.now() - startedAt)
}

/** @throws unless the status is 200 */
async function get(url: string, headers: Record<string, string>): Promise<void> {
  const response = await fetch(url, { headers })
  await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`${url} responded with ${response.status}`)
}
