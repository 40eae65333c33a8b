import { chooseAccounts } from '../../src/domain/accounts/selection.ts'
import { deriveMetrics, NO_COUNTS, type PostCounts } from '../../src/domain/analytics/analytics.ts'
import { findNextCollection, toSlot, type AgeClass } from '../../src/domain/analytics/collection.ts'
import { accept, claim, markDeleted, refuse } from '../../src/domain/posts/delivery-moves.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { newPost } from '../../src/domain/posts/post-moves.ts'
import type { MediaItem, Move, PlatformStatus, Published } from '../../src/domain/posts/post.ts'
import { deriveEvents, createFirstEvent } from '../../src/domain/posts/timeline.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/domain/shared/times.ts'
import type { StoredPost } from '../../src/store/posts/post-schema.ts'
import type { ConnectedAccount } from '../../src/store/accounts/accounts.ts'
import { newId } from '../../src/store/shared/schema.ts'
import { toSnapshotId, toSnapshotSlot } from '../../src/domain/analytics/snapshots.ts'
import type { AccountSnapshot, PostSnapshot } from '../../src/store/analytics/snapshots.ts'
import { mergeFetches } from '../merge-fetches.ts'
import type { Crowd } from '../platforms/shared/crowd.ts'
import { audienceOn } from './audience.ts'
import type { DemoPost } from './posts.ts'

/** The number of days with follower counts. */
const DAYS = 14
/** How long after publication a deletion was found. */
const DELETED_AFTER_MS = 30 * HOUR
/** A day without collection, counted back from today. */
const GAP: { platform: Platform; daysAgo: number } = { platform: 'mastodon', daysAgo: 6 }

/** The counts that each platform reports; all others are `null`. */
const REPORTED: Record<Platform, (keyof PostCounts)[]> = {
  bluesky: ['likes', 'shares', 'comments', 'saved'],
  mastodon: ['likes', 'shares', 'comments'],
  tumblr: ['likes', 'shares', 'comments'],
  threads: ['likes', 'shares', 'comments', 'impressions'],
  facebook: ['likes', 'shares', 'comments'],
  instagram: ['likes', 'shares', 'comments', 'impressions', 'reach', 'saved'],
}

/** The default accounts. */
export type DemoAccounts = Partial<Record<Platform, ConnectedAccount>>

interface FollowedAccount {
  platform: Platform
  accountId: string
}

export interface DemoOwner {
  userId: string
  timezone: string
  accounts: DemoAccounts
  /** All accounts with followers, by our ids. */
  followed: FollowedAccount[]
  /** A picture for posts on platforms that require media. */
  picture: MediaItem
}

/** The service's settings for collecting metrics. */
export interface Collecting {
  now: Date
  ages: AgeClass[]
  retentionMs: number
}

export interface DemoHistory {
  posts: StoredPost[]
  postSnapshots: PostSnapshot[]
  accountSnapshots: AccountSnapshot[]
}

/** Ids and URLs of a post on the platforms. */
export type PublishedOn = Partial<Record<Platform, Published>>

/** Builds the records that the service would have if it had published and measured these posts itself. */
export function buildHistory(
  owner: DemoOwner,
  demo: DemoPost[],
  published: PublishedOn[],
  collecting: Collecting,
): DemoHistory {
  const made = demo.map((post, index) => {
    const on = post.on.filter((platform) => owner.accounts[platform] !== undefined)
    const wanted = { ...post, on }
    const delivered = deliver(write(owner, wanted, index), wanted, owner.accounts, published[index]!)
    return withSnapshots(delivered, wanted, { ...collecting, timezone: owner.timezone })
  })
  return {
    posts: made.map(({ post }) => post),
    postSnapshots: made.flatMap(({ snapshots }) => snapshots),
    accountSnapshots: owner.followed.flatMap((account) => buildFollowerSnapshots(owner.userId, account, collecting)),
  }
}

export const demoCorrelationId = (index: number): string => `sandbox-data-${index + 1}`

function write(
  { userId, timezone, accounts, picture }: DemoOwner,
  { text, on, at, plannedMs }: DemoPost,
  index: number,
) {
  const createdAt = new Date(at.getTime() - plannedMs)
  const post = newPost(
    {
      _id: newId(),
      userId,
      content: { text, mediaItems: [] },
      platformSpecificContent: on.includes('instagram') ? { instagram: { mediaItems: [picture] } } : {},
      selectedPlatforms: on,
      chosen: chooseAccounts(Object.values(accounts), { selectedPlatforms: on }).chosen,
      scheduledAt: plannedMs > 0 ? at : null,
      timezone,
      correlationId: demoCorrelationId(index),
      requestHash: null,
      metadata: { source: 'web', client: 'console' },
      draft: false,
    },
    createdAt,
  )
  // `startPending` is false, because the workflow of the post has ended.
  return { ...post, startPending: false, timeline: [createFirstEvent(post)], pendingEvents: [] }
}

/** Applies the transitions of a delivery, each at its time. */
function deliver(written: StoredPost, demo: DemoPost, accounts: DemoAccounts, published: PublishedOn): StoredPost {
  const leaseUntil = new Date(demo.at.getTime() + MINUTE)
  const moves = demo.on.flatMap((platform, index): [ms: number, move: Move][] => {
    const { platformId: accountId } = accounts[platform]!
    const sentMs = 40 + 15 * index
    const endedMs = sentMs + 250 + 60 * index
    const claimed = claim(platform, { round: 0, leaseUntil, accountId, contentVersion: 0 })
    const exception = demo.exceptions[platform]
    if (exception && exception !== 'deleted') {
      return [
        [sentMs, claimed],
        [endedMs, refuse(platform, exception, { round: 0, attempt: 1 })],
      ]
    }
    const deletion: [number, Move][] = exception === 'deleted' ? [[DELETED_AFTER_MS, markDeleted(platform)]] : []
    return [[sentMs, claimed], [endedMs, accept(platform, published[platform]!)], ...deletion]
  })
  return moves
    .toSorted(([one], [other]) => one - other)
    .reduce((post, [ms, move]) => applyMove(post, move, new Date(demo.at.getTime() + ms)), written)
}

function applyMove(post: StoredPost, move: Move, at: Date): StoredPost {
  const after = move(post, at)
  const timeline = [...post.timeline, ...deriveEvents(post, after, at)]
  return { ...post, ...after, timeline, revision: post.revision + 1, updatedAt: at }
}

function withSnapshots(post: StoredPost, { text, at }: DemoPost, collecting: Collecting & { timezone: string }) {
  const { ages, timezone } = collecting
  const measured = post.platformStatuses.map((entry) => {
    const { completedAt } = entry
    if (!completedAt) return { snapshots: [], entry }
    const fetches = buildFetches(post, entry, { text, publishedAt: at.getTime() }, collecting)
    const lastAnalyticsFetch = fetches.at(-1)!.takenAt
    const next = { metricsDueAt: findNextCollection(ages, completedAt, lastAnalyticsFetch) }
    const measuredEntry = { ...entry, lastAnalyticsFetch, ...(entry.status === 'completed' && next) }
    return { snapshots: mergeFetches(fetches, timezone), entry: measuredEntry }
  })
  return {
    post: { ...post, platformStatuses: measured.map(({ entry }) => entry) },
    snapshots: measured.flatMap(({ snapshots }) => snapshots),
  }
}

function buildFetches(
  { _id: postId, userId }: StoredPost,
  { platform, status, completedAt, accountId }: PlatformStatus,
  shown: Parameters<Crowd['countsOf']>[0],
  { now, ages, retentionMs }: Collecting,
): PostSnapshot[] {
  const audience = audienceOn(platform)
  const until = status === 'deleted' ? new Date(shown.publishedAt + DELETED_AFTER_MS) : now
  return listCollections(completedAt!, until, ages).map((takenAt) => {
    const slot = toSnapshotSlot(takenAt)
    const all = audience.countsOf(shown, takenAt.getTime())
    const counts = { ...NO_COUNTS, ...Object.fromEntries(REPORTED[platform].map((name) => [name, all[name] ?? null])) }
    const followers = audience.followers(takenAt.getTime())
    return {
      _id: toSnapshotId({ postId, platform, target: null }, slot),
      userId,
      postId,
      platform,
      target: null,
      accountId: accountId!,
      slot,
      takenAt,
      completedAt: completedAt!,
      ...counts,
      ...deriveMetrics(counts, followers),
      followerCountAtSnapshot: followers,
      removeAt: new Date(takenAt.getTime() + retentionMs),
    }
  })
}

/** Lists the collections of a post, one per slot. The last one is at `until`. */
function listCollections(completedAt: Date, until: Date, ages: AgeClass[]): Date[] {
  const found: Date[] = []
  let at: Date | null = new Date(completedAt.getTime() + 20 * SECOND)
  for (; at && at < until; at = findNextCollection(ages, completedAt, at)) found.push(at)
  const lastSlot = toSnapshotSlot(until)
  return [...found.filter((takenAt) => toSnapshotSlot(takenAt) < lastSlot), until]
}

function buildFollowerSnapshots(
  userId: string,
  { platform, accountId }: FollowedAccount,
  { now, retentionMs }: Collecting,
): AccountSnapshot[] {
  const audience = audienceOn(platform)
  const today = toSlot(now, DAY).getTime()
  return Array.from({ length: DAYS + 1 }, (_, index) => DAYS - index)
    .filter((daysAgo) => platform !== GAP.platform || daysAgo !== GAP.daysAgo)
    .map((daysAgo) => {
      const slot = new Date(today - daysAgo * DAY)
      const takenAt = new Date(Math.min(slot.getTime() + 10 * MINUTE, now.getTime()))
      const followers = audience.followers(takenAt.getTime())
      const removeAt = new Date(takenAt.getTime() + retentionMs)
      return { _id: newId(), userId, platform, accountId, slot, takenAt, followers, removeAt }
    })
}
