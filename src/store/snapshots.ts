import { Schema, type Connection } from 'mongoose'
import type { DerivedFigures, PostCounts } from '../domain/analytics.ts'
import { PLATFORMS, type Platform } from '../domain/platforms.ts'
import { driverCollection } from './driver.ts'
import { schemaOptions } from './schema-options.ts'

/** What a platform told of one post at one time (spec section 2). */
export interface PostSnapshot extends PostCounts, DerivedFigures {
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
  },
  schemaOptions,
)

// Also what is known of a post, newest first, and what was known of it before a window.
postSnapshotSchema.index({ postId: 1, platform: 1, slot: -1 }, { unique: true })
// What is read: a window of one user's, of one platform or of all.
postSnapshotSchema.index({ userId: 1, takenAt: 1, platform: 1 })

const accountSnapshotSchema = new Schema<AccountSnapshot>(
  {
    _id: required(String),
    userId: required(String),
    platform,
    slot: required(Date),
    takenAt: required(Date),
    followers: required(Number),
  },
  schemaOptions,
)

accountSnapshotSchema.index({ userId: 1, platform: 1, slot: -1 }, { unique: true })

export const POST_SNAPSHOTS = 'postSnapshots'
export const ACCOUNT_SNAPSHOTS = 'accountSnapshots'

/** What the platforms told, over time. Reads of whole windows are in `analytics-reads.ts`. */
export function createSnapshotStore(connection: Connection) {
  connection.model<PostSnapshot>('PostSnapshot', postSnapshotSchema, POST_SNAPSHOTS)
  connection.model<AccountSnapshot>('AccountSnapshot', accountSnapshotSchema, ACCOUNT_SNAPSHOTS)
  const postSnapshots = driverCollection<PostSnapshot>(connection, POST_SNAPSHOTS)
  const accountSnapshots = driverCollection<AccountSnapshot>(connection, ACCOUNT_SNAPSHOTS)

  return {
    async removeAllOf(userId: string): Promise<void> {
      await Promise.all([postSnapshots().deleteMany({ userId }), accountSnapshots().deleteMany({ userId })])
    },
  }
}

export type SnapshotStore = ReturnType<typeof createSnapshotStore>
