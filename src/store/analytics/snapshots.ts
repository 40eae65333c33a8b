import { Schema, type ClientSession, type Connection } from 'mongoose'
import { ENGAGEMENTS, type DerivedMetrics } from '../../domain/analytics/analytics.ts'
import { toPairKey, toSnapshotId, type SeenCounts } from '../../domain/analytics/snapshots.ts'
import { PLATFORMS, type Platform } from '../../domain/shared/platforms.ts'
import { latestOfPosts } from './analytics-pipelines.ts'
import { ACCOUNT_SNAPSHOTS, ANALYTICS_PROGRESS, POST_SNAPSHOTS } from './collections.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { newId, nullable, required, schemaOptions } from '../shared/schema.ts'

/** The metrics that a platform reported for one post at one time. */
export interface PostSnapshot extends SeenCounts, DerivedMetrics {
  /** See `toSnapshotId`. */
  _id: string
  userId: string
  postId: string
  platform: Platform
  /** The account, if the user chose it for the post. */
  target: string | null
  /** The account that published the post. */
  accountId: string
  /** When the platform accepted the post. */
  completedAt: Date
  /** At the last fetch. */
  followerCountAtSnapshot: number | null
  /** When the record expires; without it the record stays. */
  removeAt?: Date
}

/** What a fetch changes in a snapshot with the same counts. */
export type SnapshotExtension = DerivedMetrics &
  Pick<PostSnapshot, '_id' | 'userId' | 'followerCountAtSnapshot' | 'removeAt'> & { lastSeenAt: Date }

const COUNTED_FIELDS = ['postId', 'platform', 'target', 'takenAt', ...ENGAGEMENTS] as const

/** The counts of a snapshot that downsampling compares. */
export type SnapshotCounts = Pick<PostSnapshot, '_id' | (typeof COUNTED_FIELDS)[number]>

/** The follower count of an account on one day. Unreported counts are not stored. */
export interface AccountSnapshot {
  _id: string
  userId: string
  platform: Platform
  accountId: string
  /** The day, in UTC. */
  slot: Date
  takenAt: Date
  followers: number
  /** When the record expires. */
  removeAt?: Date
}

/** `isOnly`: the user has no other account on the platform. */
export type NewAccountSnapshot = Omit<AccountSnapshot, '_id'> & { isOnly: boolean }

const DOWNSAMPLED = 'snapshots/downsampled'

const count = nullable(Number)
const platform = { type: String, enum: PLATFORMS, required: true } as const

const postSnapshotSchema = new Schema<PostSnapshot>(
  {
    _id: required(String),
    userId: required(String),
    postId: required(String),
    platform,
    target: nullable(String),
    accountId: required(String),
    slot: required(Date),
    takenAt: required(Date),
    lastSeenAt: { type: Date, default: undefined },
    unchangedSince: { type: Date, default: undefined },
    completedAt: required(Date),
    likes: count,
    shares: count,
    comments: count,
    impressions: count,
    reach: count,
    saved: count,
    thread: { type: Schema.Types.Mixed, default: undefined },
    totalEngagement: count,
    engagementRate: count,
    virality: count,
    followerCountAtSnapshot: count,
    removeAt: Date,
  },
  schemaOptions,
)

// Serves the latest values of a post, and the values before a window.
postSnapshotSchema.index({ postId: 1, slot: -1 })
// Serves a window of one user, for one platform or all.
postSnapshotSchema.index({ userId: 1, takenAt: 1, platform: 1 })
postSnapshotSchema.index({ removeAt: 1 }, { expireAfterSeconds: 0 })

const accountSnapshotSchema = new Schema<AccountSnapshot>(
  {
    _id: required(String),
    userId: required(String),
    platform,
    accountId: required(String),
    slot: required(Date),
    takenAt: required(Date),
    followers: required(Number),
    removeAt: Date,
  },
  schemaOptions,
)

accountSnapshotSchema.index({ userId: 1, platform: 1, accountId: 1, slot: -1 }, { unique: true })
accountSnapshotSchema.index({ removeAt: 1 }, { expireAfterSeconds: 0 })

/** Stores metrics over time. `analytics-reads.ts` reads whole windows. */
export function createSnapshotStore(connection: Connection) {
  connection.model<PostSnapshot>('PostSnapshot', postSnapshotSchema, POST_SNAPSHOTS)
  connection.model<AccountSnapshot>('AccountSnapshot', accountSnapshotSchema, ACCOUNT_SNAPSHOTS)
  const postSnapshots = nativeCollection<PostSnapshot>(connection, POST_SNAPSHOTS)
  const accountSnapshots = nativeCollection<AccountSnapshot>(connection, ACCOUNT_SNAPSHOTS)
  const progress = nativeCollection<{ _id: string; until: Date }>(connection, ANALYTICS_PROGRESS)

  return {
    /**
     * Stores snapshots; a later fetch in the same slot replaces the earlier one.
     * @throws a duplicate key error when another process stores the same slot concurrently; a retry succeeds
     */
    async save(snapshots: Omit<PostSnapshot, '_id'>[], session: ClientSession): Promise<void> {
      await postSnapshots().bulkWrite(
        snapshots.map((snapshot) => ({
          replaceOne: {
            filter: { _id: toSnapshotId(snapshot, snapshot.slot), userId: snapshot.userId },
            replacement: snapshot,
            upsert: true,
          },
        })),
        { session, ordered: false },
      )
    },

    /** Records that scheduled fetches returned the counts of stored snapshots again. */
    async extend(extensions: SnapshotExtension[], session: ClientSession): Promise<void> {
      await postSnapshots().bulkWrite(
        extensions.map(({ _id, userId, ...fields }) => ({
          updateOne: { filter: { _id, userId }, update: { $set: fields } },
        })),
        { session, ordered: false },
      )
    },

    /** @returns the number of removed snapshots */
    async remove(userId: string, ids: string[]): Promise<number> {
      return (await postSnapshots().deleteMany({ _id: { $in: ids }, userId })).deletedCount
    },

    /** The latest snapshot of each of these posts on a platform, by post and account. */
    async findLatest(
      { userId, platform: on, postIds }: { userId: string; platform: Platform; postIds: string[] },
      session: ClientSession,
    ): Promise<Map<string, PostSnapshot>> {
      const latest = await postSnapshots()
        .aggregate<PostSnapshot>(latestOfPosts(userId, postIds, on).stages, { session })
        .toArray()
      return new Map(latest.map((snapshot) => [toPairKey(snapshot), snapshot]))
    },

    /**
     * Like `save`, for follower counts. The count of a user's only account on a platform replaces that of an earlier account on this day.
     */
    async saveFollowers({ isOnly, ...snapshot }: NewAccountSnapshot, session: ClientSession): Promise<void> {
      const { userId, platform: on, slot, accountId, ...fields } = snapshot
      const ofDay = { userId, platform: on, slot }
      const update = { $set: fields, $setOnInsert: { _id: newId() } }
      await accountSnapshots().bulkWrite(
        [
          ...(isOnly ? [{ deleteMany: { filter: { ...ofDay, accountId: { $ne: accountId } } } }] : []),
          { updateOne: { filter: { ...ofDay, accountId }, update, upsert: true } },
        ],
        { session },
      )
    },

    /** The latest snapshot of a post on one platform, or on the account that the user chose there. */
    latest: (
      { userId, postId }: { userId: string; postId: string },
      on: Platform,
      target: string | null = null,
    ): Promise<PostSnapshot | null> =>
      postSnapshots().findOne({ userId, postId, platform: on, target }, { sort: { slot: -1 } }),

    /** The latest count of an account. */
    latestFollowers: (userId: string, on: Platform, accountId: string): Promise<AccountSnapshot | null> =>
      accountSnapshots().findOne({ userId, platform: on, accountId }, { sort: { slot: -1 } }),

    /** The counts of the user's snapshots between two instants, in the order of time. */
    listBetween: (userId: string, from: Date | null, until: Date): AsyncIterable<SnapshotCounts> =>
      postSnapshots()
        .find<SnapshotCounts>(
          { userId, takenAt: { ...(from && { $gte: from }), $lt: until } },
          { projection: Object.fromEntries(COUNTED_FIELDS.map((name) => [name, 1])) },
        )
        .sort({ takenAt: 1 }),

    /** The instant until which the snapshots of all users are downsampled; null before the first time. */
    async findDownsampledUntil(): Promise<Date | null> {
      return (await progress().findOne({ _id: DOWNSAMPLED }))?.until ?? null
    },

    async saveDownsampledUntil(until: Date): Promise<void> {
      await progress().updateOne({ _id: DOWNSAMPLED }, { $max: { until } }, { upsert: true })
    },

    /** All snapshots of the user, newest first. */
    allOf: (userId: string): AsyncIterable<PostSnapshot> => postSnapshots().find({ userId }).sort({ takenAt: -1 }),

    /** All follower counts of the user, by platform, newest first. */
    allFollowersOf: (userId: string): AsyncIterable<AccountSnapshot> =>
      accountSnapshots().find({ userId }).sort({ platform: 1, slot: -1 }),

    async removeByPost(userId: string, postId: string, session: ClientSession): Promise<void> {
      await postSnapshots().deleteMany({ userId, postId }, { session })
    },

    async removeAllOf(userId: string): Promise<void> {
      await Promise.all([postSnapshots().deleteMany({ userId }), accountSnapshots().deleteMany({ userId })])
    },
  }
}

export type SnapshotStore = ReturnType<typeof createSnapshotStore>
