import { createChance, type Chance } from '../../sandbox/chance.ts'
import { mergeFetches } from '../../sandbox/merge-fetches.ts'
import { createContext } from '../../src/context.ts'
import { deriveMetrics, NO_COUNTS, type PostCounts } from '../../src/domain/analytics/analytics.ts'
import { DEFAULT_AGES, findNextCollection, parseAgeClasses, toSlot } from '../../src/domain/analytics/collection.ts'
import {
  findDownsampledUntil,
  findUnchangedSince,
  selectSuperseded,
  toSnapshotId,
} from '../../src/domain/analytics/snapshots.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { DAY, HOUR, MINUTE } from '../../src/domain/shared/times.ts'
import { POST_SNAPSHOTS } from '../../src/store/analytics/collections.ts'
import type { PostSnapshot } from '../../src/store/analytics/snapshots.ts'
import { compare, measureRounds, type Figure, type Sample, type Scale } from '../figure.ts'
import type { World } from '../world.ts'

const POSTS: Record<Scale, number> = { full: 300, quick: 100 }
const ON: Platform[] = ['bluesky', 'threads', 'mastodon']
const AGES = parseAgeClasses(DEFAULT_AGES)
const LIFE_DAYS = 400
const POSTS_PER_USER = 50
const INTERVAL_MS = 15 * MINUTE
const TIMEZONE = 'Europe/Berlin'
const KIB = 1_024

const SIZE = {
  name: `analytics of a post to three platforms over ${LIFE_DAYS} days, with indexes; a snapshot per fetch`,
  unit: 'KiB',
  value: 'size',
  bound: { of: 'ours', atMost: 20 } as const,
}

type Compact = (fetches: PostSnapshot[], end: Date) => PostSnapshot[]

/** Writes a life of posts as the service stores it and as one snapshot per fetch, and measures both. Each round has other posts. */
export async function measureStorage(world: World, scale: Scale): Promise<Figure[]> {
  const measure = (compact: Compact) => {
    let seed = 0
    return () => storeLives(world, POSTS[scale], createChance(++seed), compact)
  }
  return measureRounds({ ours: measure(compactFetches), all: measure((fetches) => fetches) }, scale, (samples) => [
    compare(SIZE, samples.ours, samples.all),
  ])
}

async function storeLives(world: World, posts: number, chance: Chance, compact: Compact): Promise<Sample> {
  const { database, close } = await createContext(await world.config())
  try {
    await database.createSchema()
    const db = database.connection.db!
    const end = toSlot(new Date(), DAY)
    const completedAt = new Date(end.getTime() - LIFE_DAYS * DAY)
    for (let userId = '', index = 0; index < posts; index++) {
      if (index % POSTS_PER_USER === 0) userId = chance.id()
      const post = { userId, postId: chance.id(), completedAt }
      const snapshots = ON.flatMap((platform) => compact(fetchLife({ ...post, platform }, chance, end), end))
      await db.collection<PostSnapshot>(POST_SNAPSHOTS).insertMany(snapshots)
    }
    // Sizes on disk are those of the last checkpoint.
    await db.admin().command({ fsync: 1 })
    const { storageSize, totalIndexSize } = await db.command({ collStats: POST_SNAPSHOTS })
    return { size: (storageSize + totalIndexSize) / KIB / posts }
  } finally {
    await close()
  }
}

/** Merges and downsamples fetches as the service does. */
const compactFetches: Compact = (fetches, end) => {
  const merged = mergeFetches(fetches, TIMEZONE)
  const until = findDownsampledUntil(end)
  const old = merged.filter(({ takenAt }) => takenAt < until)
  const days = [...Map.groupBy(old, ({ takenAt }) => toSlot(takenAt, DAY).getTime()).values()]
  const superseded = new Set(days.flatMap((ofDay) => selectSuperseded(ofDay)))
  return merged.filter((snapshot) => !superseded.has(snapshot))
}

type PublishedEntry = Pick<PostSnapshot, 'userId' | 'postId' | 'platform'> & { completedAt: Date }

/** Fetches the metrics of a post on one platform whenever they are due. Half of all posts are noticed by few people. */
function fetchLife(entry: PublishedEntry, chance: Chance, end: Date): PostSnapshot[] {
  const mostLikes = chance.is(0.5) ? chance.between(0, 5) : chance.between(5, 2_000)
  const halfMs = chance.between(2 * HOUR, 3 * DAY)
  const accountId = chance.id()
  const fetches: PostSnapshot[] = []
  let unchangedSince: Date | null = null
  for (let at: Date | null = entry.completedAt; at && at < end;) {
    const counts = countAt(mostLikes, halfMs, at.getTime() - entry.completedAt.getTime())
    unchangedSince = findUnchangedSince(fetches.at(-1) && { ...fetches.at(-1)!, unchangedSince }, counts)
    fetches.push(toSnapshot(entry, accountId, counts, at))
    const due: Date | null = findNextCollection(AGES, entry.completedAt, at, unchangedSince)
    at = due && new Date(Math.ceil(due.getTime() / INTERVAL_MS) * INTERVAL_MS)
  }
  return fetches
}

/** The counts grow towards a limit. */
function countAt(mostLikes: number, halfMs: number, ageMs: number): PostCounts {
  const share = 1 - 0.5 ** (ageMs / halfMs)
  const [likes, shares, comments] = [1, 0.2, 0.1].map((part) => Math.floor(mostLikes * part * share))
  return { ...NO_COUNTS, likes: likes!, shares: shares!, comments: comments! }
}

function toSnapshot(entry: PublishedEntry, accountId: string, counts: PostCounts, takenAt: Date): PostSnapshot {
  const followers = 1_000
  return {
    _id: toSnapshotId({ ...entry, target: null }, takenAt),
    ...entry,
    target: null,
    accountId,
    slot: takenAt,
    takenAt,
    ...counts,
    ...deriveMetrics(counts, followers),
    followerCountAtSnapshot: followers,
    // None expires during the measurement.
    removeAt: new Date(takenAt.getTime() + (LIFE_DAYS + 1) * DAY),
  }
}
