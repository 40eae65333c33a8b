import { createChance, type Chance } from '../../sandbox/chance.ts'
import { mergeFetches } from '../../sandbox/merge-fetches.ts'
import { createContext, type Context } from '../../src/context.ts'
import { deriveMetrics, NO_COUNTS, type PostCounts } from '../../src/domain/analytics/analytics.ts'
import {
  DEFAULT_AGES,
  findNextCollection,
  parseAgeClasses,
  toSlot,
  type AgeClass,
} from '../../src/domain/analytics/collection.ts'
import {
  findDownsampledUntil,
  findUnchangedSince,
  selectSuperseded,
  toSnapshotId,
  toWeek,
} from '../../src/domain/analytics/snapshots.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { DAY, HOUR, MINUTE } from '../../src/domain/shared/times.ts'
import { POST_SNAPSHOTS } from '../../src/store/analytics/collections.ts'
import type { PostSnapshot } from '../../src/store/analytics/snapshots.ts'
import { newId } from '../../src/store/shared/schema.ts'
import { figure, type Figure } from '../figure.ts'
import type { World } from '../world.ts'

export interface StorageSize {
  /** Posts on three platforms each. */
  posts: number
}

const ON: Platform[] = ['bluesky', 'threads', 'mastodon']
const LIFE_DAYS = 400
const POSTS_PER_USER = 50
const INTERVAL_MS = 15 * MINUTE
const TIMEZONE = 'Europe/Berlin'
const KIB = 1_024
const AIM_KIB = 20
/** Of the release that stored a snapshot with every collection. */
const OLDER_AGES = '1:15,7:60,30:360'

/** Writes a life of posts as the service stores it and as one snapshot per collection, and measures both. */
export async function measureStorage(world: World, { posts }: StorageSize): Promise<Figure[]> {
  const [ours, older] = [await store(world, posts, storeAsNow), await store(world, posts, storeAsOlder)]
  const perPost = (bytes: number) => bytes / KIB / posts
  return [
    figure({
      group: 'storage',
      name: `analytics of a post on three platforms over ${LIFE_DAYS} days, with indexes`,
      unit: 'KiB',
      ours: perPost(ours.onDisk),
      baseline: perPost(older.onDisk),
      aim: { text: `at most ${AIM_KIB} KiB`, met: ({ ours: size }) => size <= AIM_KIB },
      details: {
        'snapshots per post': ours.count / posts,
        'snapshots per post, baseline': older.count / posts,
        'collections per post and platform': ours.fetches / posts / ON.length,
        'uncompressed documents, KiB': perPost(ours.uncompressed),
        'uncompressed documents, baseline, KiB': perPost(older.uncompressed),
        'indexes, KiB': perPost(ours.indexes),
      },
    }),
  ]
}

type Store = (fetches: (ages: string) => PostSnapshot[], end: Date) => { snapshots: PostSnapshot[]; fetches: number }

async function store(world: World, posts: number, storeLife: Store) {
  const context = await createContext(await world.config())
  try {
    await context.database.createSchema()
    const collection = context.database.connection.collection<PostSnapshot>(POST_SNAPSHOTS)
    const end = toSlot(new Date(), DAY)
    const chance = createChance(7)
    let fetches = 0
    for (let userId = '', index = 0; index < posts; index++) {
      if (index % POSTS_PER_USER === 0) userId = chance.id()
      const post = { userId, postId: chance.id(), completedAt: new Date(end.getTime() - LIFE_DAYS * DAY) }
      const seed = chance.between(0, 2 ** 31)
      for (const platform of ON) {
        const life = storeLife((ages) => fetchLife({ ...post, platform }, ages, createChance(seed), end), end)
        fetches += life.fetches
        await collection.insertMany(life.snapshots)
      }
    }
    return { fetches, ...(await measureCollection(context)) }
  } finally {
    await context.close()
  }
}

async function measureCollection({ database: { connection } }: Context) {
  // Sizes on disk are those of the last checkpoint.
  await connection.db!.admin().command({ fsync: 1 })
  const stats = await connection.db!.command({ collStats: POST_SNAPSHOTS })
  const { count, size, storageSize, totalIndexSize } = stats as Record<string, number> as {
    count: number
    size: number
    storageSize: number
    totalIndexSize: number
  }
  return { count, uncompressed: size, indexes: totalIndexSize, onDisk: storageSize + totalIndexSize }
}

const storeAsNow: Store = (fetch, end) => {
  const fetches = fetch(DEFAULT_AGES)
  const merged = mergeFetches(fetches, TIMEZONE)
  const until = findDownsampledUntil(end)
  const old = merged.filter(({ takenAt }) => takenAt < until)
  const weeks = [...Map.groupBy(old, (snapshot) => toWeek(snapshot).getTime()).values()]
  const superseded = new Set(weeks.flatMap((ofWeek) => selectSuperseded(ofWeek)))
  return { snapshots: merged.filter((snapshot) => !superseded.has(snapshot)), fetches: fetches.length }
}

const storeAsOlder: Store = (fetch) => {
  const fetches = fetch(OLDER_AGES)
  return { snapshots: fetches.map((snapshot) => ({ ...snapshot, _id: newId() })), fetches: fetches.length }
}

interface PublishedEntry {
  userId: string
  postId: string
  platform: Platform
  completedAt: Date
}

/** Fetches the metrics of a post on one platform whenever they are due. Half of all posts are noticed by few people. */
function fetchLife(entry: PublishedEntry, ages: string, chance: Chance, end: Date): PostSnapshot[] {
  const classes = parseAgeClasses(ages)
  const mostLikes = chance.is(0.5) ? chance.between(0, 5) : chance.between(5, 2_000)
  const halfMs = chance.between(2 * HOUR, 3 * DAY)
  const accountId = chance.id()
  const fetches: PostSnapshot[] = []
  let unchangedSince: Date | null = null
  for (let at: Date | null = entry.completedAt; at && at < end;) {
    const counts = countAt(mostLikes, halfMs, at.getTime() - entry.completedAt.getTime())
    unchangedSince = findUnchangedSince(fetches.at(-1) && { ...fetches.at(-1)!, unchangedSince }, counts)
    fetches.push(toSnapshot(entry, accountId, counts, at))
    at = findNextRun(classes, entry.completedAt, at, ages === DEFAULT_AGES ? unchangedSince : null)
  }
  return fetches
}

/** The counts grow towards a limit. */
function countAt(mostLikes: number, halfMs: number, ageMs: number): PostCounts {
  const share = 1 - 0.5 ** (ageMs / halfMs)
  const [likes, shares, comments] = [1, 0.2, 0.1].map((part) => Math.floor(mostLikes * part * share))
  return { ...NO_COUNTS, likes: likes!, shares: shares!, comments: comments! }
}

function findNextRun(classes: AgeClass[], completedAt: Date, at: Date, unchangedSince: Date | null): Date | null {
  const due = findNextCollection(classes, completedAt, at, unchangedSince)
  return due && new Date(Math.ceil(due.getTime() / INTERVAL_MS) * INTERVAL_MS)
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
