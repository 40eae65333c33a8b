import { Schema, type ClientSession, type Connection } from 'mongoose'
import type { DerivedMetrics, PostCounts } from '../../domain/analytics/analytics.ts'
import { PLATFORMS, type Platform } from '../../domain/shared/platforms.ts'
import { driverCollection } from '../shared/native-collection.ts'
import { newId, schemaOptions } from '../shared/schema.ts'

/** What a platform told of one post at one time (spec section 2). */
export interface PostSnapshot extends PostCounts, DerivedMetrics {
  _id: string
  userId: string
  postId: string
  platform: Platform
  /** There is one snapshot a slot; `takenAt` lies in it, or shortly after. */
  slot: Date
  takenAt: Date
  /** When the platform accepted the post. */
  completedAt: Date
  followerCountAtSnapshot: number | null
  /** Goes by itself then; what has none is kept. */
  removeAt?: Date
}

/** How many followers an account had on one day. What a platform did not tell is not stored. */
export interface AccountSnapshot {
  _id: string
  userId: string
  platform: Platform
  /** The day, in UTC. */
  slot: Date
  takenAt: Date
  followers: number
  /** As of a post's. */
  removeAt?: Date
}

const required = <T>(type: T) => ({ type, required: true }) as const
const count = { type: Number, default: null }
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

// Also what is known of a post, newest first, and what was known of it before a window.
postSnapshotSchema.index({ postId: 1, platform: 1, slot: -1 }, { unique: true })
// What is read: a window of one user's, of one platform or of all.
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

/** What the platforms told, over time. Reads of whole windows are in `analytics-reads.ts`. */
export function createSnapshotStore(connection: Connection) {
  connection.model<PostSnapshot>('PostSnapshot', postSnapshotSchema, POST_SNAPSHOTS)
  connection.model<AccountSnapshot>('AccountSnapshot', accountSnapshotSchema, ACCOUNT_SNAPSHOTS)
  const postSnapshots = driverCollection<PostSnapshot>(connection, POST_SNAPSHOTS)
  const accountSnapshots = driverCollection<AccountSnapshot>(connection, ACCOUNT_SNAPSHOTS)

  return {
    /**
     * A later look in the same slot takes the place of the one before.
     * @throws a duplicate key error when another process is just storing the same slot; a repeat does not meet it
     */
    async save(snapshots: Omit<PostSnapshot, '_id'>[], session: ClientSession): Promise<void> {
      await postSnapshots().bulkWrite(
        snapshots.map(({ postId, platform: on, slot, ...seen }) => ({
          updateOne: {
            filter: { postId, platform: on, slot },
            update: { $set: seen, $setOnInsert: { _id: newId() } },
            upsert: true,
          },
        })),
        { session, ordered: false },
      )
    },

    /** As `save`, of followers. */
    async saveFollowers(snapshot: Omit<AccountSnapshot, '_id'>, session: ClientSession): Promise<void> {
      const { userId, platform: on, slot, ...seen } = snapshot
      await accountSnapshots().updateOne(
        { userId, platform: on, slot },
        { $set: seen, $setOnInsert: { _id: newId() } },
        { upsert: true, session },
      )
    },

    /** What is known of a post on one platform. */
    latest: (postId: string, on: Platform): Promise<PostSnapshot | null> =>
      postSnapshots().findOne({ postId, platform: on }, { sort: { slot: -1 } }),

    latestFollowers: (userId: string, on: Platform): Promise<AccountSnapshot | null> =>
      accountSnapshots().findOne({ userId, platform: on }, { sort: { slot: -1 } }),

    /** Newest first. */
    allOf: (userId: string): AsyncIterable<PostSnapshot> => postSnapshots().find({ userId }).sort({ takenAt: -1 }),

    /** By platform, newest first. */
    allFollowersOf: (userId: string): AsyncIterable<AccountSnapshot> =>
      accountSnapshots().find({ userId }).sort({ platform: 1, slot: -1 }),

    async removeOf(postId: string, session: ClientSession): Promise<void> {
      await postSnapshots().deleteMany({ postId }, { session })
    },

    async removeAllOf(userId: string): Promise<void> {
      await Promise.all([postSnapshots().deleteMany({ userId }), accountSnapshots().deleteMany({ userId })])
    },
  }
}

export type SnapshotStore = ReturnType<typeof createSnapshotStore>
