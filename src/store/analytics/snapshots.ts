import { Schema, type ClientSession, type Connection } from 'mongoose'
import type { DerivedMetrics, PostCounts } from '../../domain/analytics/analytics.ts'
import { PLATFORMS, type Platform } from '../../domain/shared/platforms.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { newId, nullable, required, schemaOptions } from '../shared/schema.ts'

/** The metrics that a platform reported for one post at one time. */
export interface PostSnapshot extends PostCounts, DerivedMetrics {
  _id: string
  userId: string
  postId: string
  platform: Platform
  /** There is one snapshot per slot; `takenAt` is in it or shortly after it. */
  slot: Date
  takenAt: Date
  /** When the platform accepted the post. */
  completedAt: Date
  followerCountAtSnapshot: number | null
  /** When the record expires; without it the record stays. */
  removeAt?: Date
}

/** The follower count of an account on one day. Unreported counts are not stored. */
export interface AccountSnapshot {
  _id: string
  userId: string
  platform: Platform
  /** The day, in UTC. */
  slot: Date
  takenAt: Date
  followers: number
  /** When the record expires. */
  removeAt?: Date
}

const count = nullable(Number)
const platform = { type: String, enum: PLATFORMS, required: true } as const

const postSnapshotSchema = new Schema<PostSnapshot>(
  {
    _id: required(String),
    userId: required(String),
    postId: required(String),
    platform,
    slot: required(Date),
    takenAt: required(Date),
    completedAt: required(Date),
    likes: count,
    shares: count,
    comments: count,
    impressions: count,
    reach: count,
    saved: count,
    totalEngagement: count,
    engagementRate: count,
    virality: count,
    followerCountAtSnapshot: count,
    removeAt: Date,
  },
  schemaOptions,
)

// Also serves the latest values of a post, and the values before a window.
postSnapshotSchema.index({ postId: 1, platform: 1, slot: -1 }, { unique: true })
// Serves a window of one user, for one platform or all.
postSnapshotSchema.index({ userId: 1, takenAt: 1, platform: 1 })
postSnapshotSchema.index({ removeAt: 1 }, { expireAfterSeconds: 0 })

const accountSnapshotSchema = new Schema<AccountSnapshot>(
  {
    _id: required(String),
    userId: required(String),
    platform,
    slot: required(Date),
    takenAt: required(Date),
    followers: required(Number),
    removeAt: Date,
  },
  schemaOptions,
)

accountSnapshotSchema.index({ userId: 1, platform: 1, slot: -1 }, { unique: true })
accountSnapshotSchema.index({ removeAt: 1 }, { expireAfterSeconds: 0 })

export const POST_SNAPSHOTS = 'postSnapshots'
export const ACCOUNT_SNAPSHOTS = 'accountSnapshots'

/** Stores metrics over time. `analytics-reads.ts` reads whole windows. */
export function createSnapshotStore(connection: Connection) {
  connection.model<PostSnapshot>('PostSnapshot', postSnapshotSchema, POST_SNAPSHOTS)
  connection.model<AccountSnapshot>('AccountSnapshot', accountSnapshotSchema, ACCOUNT_SNAPSHOTS)
  const postSnapshots = nativeCollection<PostSnapshot>(connection, POST_SNAPSHOTS)
  const accountSnapshots = nativeCollection<AccountSnapshot>(connection, ACCOUNT_SNAPSHOTS)

  return {
    /**
     * Stores snapshots; a later fetch in the same slot replaces the earlier one.
     * @throws a duplicate key error when another process stores the same slot concurrently; a retry succeeds
     */
    async save(snapshots: Omit<PostSnapshot, '_id'>[], session: ClientSession): Promise<void> {
      await postSnapshots().bulkWrite(
        snapshots.map(({ postId, platform: on, slot, ...fields }) => ({
          updateOne: {
            filter: { postId, platform: on, slot },
            update: { $set: fields, $setOnInsert: { _id: newId() } },
            upsert: true,
          },
        })),
        { session, ordered: false },
      )
    },

    /** Like `save`, for follower counts. */
    async saveFollowers(snapshot: Omit<AccountSnapshot, '_id'>, session: ClientSession): Promise<void> {
      const { userId, platform: on, slot, ...fields } = snapshot
      await accountSnapshots().updateOne(
        { userId, platform: on, slot },
        { $set: fields, $setOnInsert: { _id: newId() } },
        { upsert: true, session },
      )
    },

    /** The latest snapshot of a post on one platform. */
    latest: (postId: string, on: Platform): Promise<PostSnapshot | null> =>
      postSnapshots().findOne({ postId, platform: on }, { sort: { slot: -1 } }),

    latestFollowers: (userId: string, on: Platform): Promise<AccountSnapshot | null> =>
      accountSnapshots().findOne({ userId, platform: on }, { sort: { slot: -1 } }),

    /** All snapshots of the user, newest first. */
    allOf: (userId: string): AsyncIterable<PostSnapshot> => postSnapshots().find({ userId }).sort({ takenAt: -1 }),

    /** All follower counts of the user, by platform, newest first. */
    allFollowersOf: (userId: string): AsyncIterable<AccountSnapshot> =>
      accountSnapshots().find({ userId }).sort({ platform: 1, slot: -1 }),

    async removeByPost(postId: string, session: ClientSession): Promise<void> {
      await postSnapshots().deleteMany({ postId }, { session })
    },

    async removeAllOf(userId: string): Promise<void> {
      await Promise.all([postSnapshots().deleteMany({ userId }), accountSnapshots().deleteMany({ userId })])
    },
  }
}

export type SnapshotStore = ReturnType<typeof createSnapshotStore>
