import type { Connection } from 'mongoose'
import { deriveMetrics, type PostCounts } from '../src/domain/analytics/analytics.ts'
import { newPost } from '../src/domain/posts/post-moves.ts'
import { toPublishedKey } from '../src/domain/posts/post-entries.ts'
import type { PlatformStatus, Post } from '../src/domain/posts/post.ts'
import { PLATFORMS, type Platform } from '../src/domain/shared/platforms.ts'
import { DAY, HOUR, MINUTE } from '../src/domain/shared/times.ts'
import { toSnapshotId } from '../src/domain/analytics/snapshots.ts'
import { ACCOUNT_SNAPSHOTS, POST_SNAPSHOTS } from '../src/store/analytics/collections.ts'
import type { AccountSnapshot, PostSnapshot } from '../src/store/analytics/snapshots.ts'
import { createChance, type Chance } from './chance.ts'
import { mergeFetches } from './merge-fetches.ts'

export interface HistorySize {
  users: number
  /** Posts per user. */
  posts: number
  /** Snapshots per post, over all its platforms. */
  snapshots: number
}

/** The records of one user. */
export interface UserHistory {
  userId: string
  timezone: string
  /** The user's timezone during the fetches. */
  earlierTimezone: string
  posts: Post[]
  /** Every fetch of the metrics of a post, oldest first for each platform. */
  postSnapshots: PostSnapshot[]
  accountSnapshots: AccountSnapshot[]
  connected: Platform[]
  /** When accounts were disconnected, by platform. */
  endings: Partial<Record<Platform, Date[]>>
}

/** Their clocks change in the weeks before `END_OF_HISTORY`: at 2:00, by half an hour, and at midnight. */
const TIMEZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Santiago', 'UTC'] as const

/** The share of users that move to another timezone: one in so many. */
const MOVED_EVERY = 4

export const END_OF_HISTORY = new Date('2026-04-06T15:20:00Z')

const OLDEST_DAYS = 100
const COUNTED_DAYS = 70

/** The counts that a platform never reports. */
const UNREPORTED: Partial<Record<Platform, (keyof PostCounts)[]>> = {
  bluesky: ['impressions', 'reach', 'saved'],
  mastodon: ['impressions', 'reach', 'saved'],
  tumblr: ['impressions', 'reach', 'saved', 'comments'],
  threads: ['reach', 'saved'],
}

/**
 * Generates a history, one user at a time; equal seeds give equal histories. It contains drafts, failed, published and
 * deleted posts, falling and missing counts, gaps in follower counts, and disconnected accounts.
 */
export function* inventHistory(size: HistorySize, { seed = 1, end = END_OF_HISTORY } = {}): Generator<UserHistory> {
  for (let index = 0; index < size.users; index++) {
    const timezone = TIMEZONES[index % TIMEZONES.length]!
    const earlierTimezone = index % MOVED_EVERY === MOVED_EVERY - 1 ? 'Asia/Tokyo' : timezone
    yield { ...inventUser(size, createChance(seed * 1_000_003 + index), end), timezone, earlierTimezone }
  }
}

/** Stores the records of a user. The caller creates the user itself. */
export async function storeHistory(connection: Connection, history: UserHistory): Promise<void> {
  const { posts, accountSnapshots } = history
  const postSnapshots = mergeByPair(history)
  const insert = async (collection: string, records: object[]) => {
    if (records.length > 0) await connection.collection(collection).insertMany(records, { ordered: false })
  }
  await Promise.all([
    insert(
      'posts',
      posts.map((post) => ({ ...post, timeline: [], pendingEvents: [] })),
    ),
    insert(POST_SNAPSHOTS, postSnapshots),
    insert(ACCOUNT_SNAPSHOTS, accountSnapshots),
    insert('accounts', accountsOf(history)),
  ])
}

/** Returns what scheduled collections would have stored of the fetches. */
function mergeByPair({ postSnapshots, earlierTimezone }: UserHistory): PostSnapshot[] {
  const pairs = Map.groupBy(postSnapshots, ({ postId, platform }) => `${postId} ${platform}`)
  return [...pairs.values()].flatMap((fetches) => mergeFetches(fetches, earlierTimezone))
}

const toAccountId = (platform: Platform, userId: string): string => `${platform}-${userId}`

function accountsOf({ userId, connected, endings }: UserHistory) {
  const known = PLATFORMS.filter((platform) => connected.includes(platform) || endings[platform])
  return known.map((platform) => {
    const isConnected = connected.includes(platform)
    const its = {
      _id: toAccountId(platform, userId),
      userId,
      platform,
      connected: isConnected,
      version: 1,
      isDefault: isConnected,
    }
    const ended = endings[platform] ? { endings: endings[platform] } : {}
    return { ...its, ...ended, ...(isConnected && { platformId: `${platform}-${userId}` }) }
  })
}

function inventUser(size: HistorySize, chance: Chance, end: Date): Omit<UserHistory, 'timezone' | 'earlierTimezone'> {
  const userId = chance.id()
  const used = chance.some(PLATFORMS, 2, 4)
  const endings: UserHistory['endings'] = {}
  const accountSnapshots = used.flatMap((platform) => {
    if (chance.is(0.3)) endings[platform] = [before(end, chance.between(2 * DAY, 40 * DAY))]
    return inventFollowers({ userId, platform, ending: endings[platform]?.[0], chance, end })
  })
  const posts: Post[] = []
  const postSnapshots: PostSnapshot[] = []
  for (let index = 0; index < size.posts; index++) {
    const { post, snapshots } = inventPost({ userId, used, count: size.snapshots, chance, end })
    posts.push(post)
    postSnapshots.push(...snapshots)
  }
  // Some accounts are connected again.
  const connected = used.filter((platform) => !endings[platform] || chance.is(0.3))
  // Only accounts that are connected again have counts after their ending.
  const counted = accountSnapshots.filter(
    ({ platform, takenAt }) => connected.includes(platform) || !endings[platform]?.some((at) => at < takenAt),
  )
  return { userId, posts, postSnapshots, accountSnapshots: counted, connected, endings }
}

interface Account {
  userId: string
  platform: Platform
  ending: Date | undefined
  chance: Chance
  end: Date
}

function inventFollowers({ userId, platform, ending, chance, end }: Account): AccountSnapshot[] {
  const counts: AccountSnapshot[] = []
  const accountId = toAccountId(platform, userId)
  let followers = chance.between(0, 5_000)
  for (let day = chance.between(0, COUNTED_DAYS); day >= 0; day--) {
    const slot = new Date(Math.floor(end.getTime() / DAY) * DAY - day * DAY)
    const takenAt = new Date(slot.getTime() + chance.between(MINUTE, 15 * HOUR))
    followers = Math.max(0, followers + chance.between(-10, 30))
    if (takenAt > end || chance.is(0.2)) continue
    // Disconnected accounts are not collected; reconnected ones are collected only sometimes.
    if (ending && takenAt > ending && (takenAt.getTime() - ending.getTime() < 3 * DAY || chance.is(0.5))) continue
    counts.push({ _id: chance.id(), userId, platform, accountId, slot, takenAt, followers })
  }
  return counts
}

interface Writing {
  userId: string
  used: Platform[]
  /** The number of its snapshots. */
  count: number
  chance: Chance
  end: Date
}

function inventPost({ userId, used, count, chance, end }: Writing) {
  const createdAt = before(end, chance.between(HOUR, OLDEST_DAYS * DAY))
  const selectedPlatforms = chance.some(used, 1, 3)
  const post = newPost(
    {
      _id: chance.id(),
      userId,
      content: { text: `Written on ${createdAt.toISOString()}`, mediaItems: [] },
      platformSpecificContent: chance.is(0.2) ? { [selectedPlatforms[0]!]: { text: 'In other words' } } : {},
      selectedPlatforms,
      scheduledAt: null,
      timezone: 'UTC',
      correlationId: null,
      requestHash: null,
      metadata: { source: 'web', client: 'console' },
      draft: chance.is(0.03),
    },
    createdAt,
  )
  if (post.status === 'DRAFT') return { post, snapshots: [] }
  const entries = post.platformStatuses.map((entry) => inventOutcome(entry, post, chance, end))
  const out = entries.filter(({ completedAt }) => completedAt !== null)
  const snapshots = out.flatMap((entry) =>
    inventSnapshots({ post, entry, count: Math.round(count / out.length), chance, end }),
  )
  const status = out.length === entries.length ? 'COMPLETED' : out.length === 0 ? 'FAILED' : 'PARTIAL_SUCCESS'
  const publishedKeys = out.map(({ platform, platformPostId }) => toPublishedKey(platform, platformPostId!))
  const published: Post = {
    ...post,
    status,
    platformStatuses: entries,
    startPending: false,
    ...(out.length > 0 && { publishedKeys }),
  }
  return { post: published, snapshots }
}

function inventOutcome(entry: PlatformStatus, { createdAt }: Post, chance: Chance, end: Date): PlatformStatus {
  if (chance.is(0.05)) return { ...entry, status: 'failed', error: 'The platform refused it', errorCode: 'validation' }
  // Some posts are scheduled.
  const waited = chance.is(0.5) ? chance.between(0, 20 * DAY) : chance.between(500, MINUTE)
  const completedAt = new Date(Math.min(createdAt.getTime() + waited, end.getTime() - MINUTE))
  return {
    ...entry,
    status: chance.is(0.05) ? 'deleted' : 'completed',
    platformPostId: chance.id(),
    platformPostUrl: `https://${entry.platform}.example/${createdAt.getTime()}`,
    attemptCount: 1,
    lastAttemptAt: completedAt,
    completedAt,
    metricsDueAt: completedAt,
    delivery: { ...entry.delivery, outcome: 'accepted', round: 0, attempt: 1 },
  }
}

interface Published {
  post: Post
  entry: PlatformStatus
  count: number
  chance: Chance
  end: Date
}

function inventSnapshots({ post, entry, count, chance, end }: Published): PostSnapshot[] {
  const { platform } = entry
  const completedAt = entry.completedAt!
  const unreported = UNREPORTED[platform] ?? []
  const counts = { likes: 0, shares: 0, comments: 0, impressions: 0, reach: 0, saved: 0 }
  let known: PostCounts | undefined
  let followers: number | null = chance.is(0.9) ? chance.between(0, 3_000) : null
  // A refresh covers a longer time than the collector.
  const lastAt = Math.min(end.getTime(), completedAt.getTime() + (chance.is(0.2) ? OLDEST_DAYS : 30) * DAY)
  const slots = new Set(
    Array.from({ length: count }, () => {
      const takenAt = chance.between(completedAt.getTime(), lastAt)
      return takenAt - (takenAt % (15 * MINUTE))
    }),
  )
  return [...slots]
    .toSorted((one, other) => one - other)
    .map((slot) => {
      const isSame = known !== undefined && chance.is(0.3)
      for (const name of Object.keys(counts) as (keyof PostCounts)[]) {
        if (isSame) break
        // Counts may fall, because users withdraw likes and platforms correct their counts.
        counts[name] = Math.max(0, counts[name] + (chance.is(0.15) ? -chance.between(0, 15) : chance.between(0, 25)))
      }
      if (followers !== null) followers = Math.max(0, followers + chance.between(-5, 10))
      const isSilent = chance.is(0.03)
      const isReported = (name: keyof PostCounts) => !isSilent && !unreported.includes(name) && chance.is(0.95)
      if (!isSame || !known) {
        known = Object.fromEntries(
          Object.entries(counts).map(([name, value]) => [name, isReported(name as keyof PostCounts) ? value : null]),
        ) as unknown as PostCounts
      }
      return {
        _id: toSnapshotId({ postId: post._id, platform, target: null }, new Date(slot)),
        userId: post.userId,
        postId: post._id,
        platform,
        target: null,
        accountId: toAccountId(platform, post.userId),
        slot: new Date(slot),
        takenAt: new Date(Math.min(slot + chance.between(0, 14 * MINUTE), end.getTime())),
        completedAt,
        ...known,
        ...deriveMetrics(known, followers),
        followerCountAtSnapshot: followers,
      }
    })
}

function before(instant: Date, ms: number): Date {
  return new Date(instant.getTime() - ms)
}
