import { Schema, type ClientSession, type Connection } from 'mongoose'
import { MESSAGE_TYPES, type MessageType } from '../../domain/analytics/collection.ts'
import { PLATFORMS, type Platform } from '../../domain/shared/platforms.ts'
import { DAY, SECOND } from '../../domain/shared/times.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { newId, nullable, required, schemaOptions } from '../shared/schema.ts'

const RETENTION_MS = 30 * DAY
const LIST_DEADLINE_MS = 4 * SECOND

/** Metrics that could not be collected, with the reason of the last failure. */
export interface DeadLetter {
  _id: string
  type: MessageType
  /** Null for a letter about an account. */
  postId: string | null
  userId: string
  platform: Platform
  /** The account: the one that the user chose for the post, or one that is not the default; null for the default account. */
  accountId: string | null
  reason: string
  count: number
  firstAt: Date
  lastAt: Date
}

/** Identifies a letter: repeated failures share one. */
export type Undelivered = Pick<DeadLetter, 'type' | 'postId' | 'userId' | 'platform' | 'accountId'>

const deadLetterSchema = new Schema<DeadLetter>(
  {
    _id: required(String),
    type: { type: String, enum: MESSAGE_TYPES, required: true },
    postId: nullable(String),
    userId: required(String),
    platform: { type: String, enum: PLATFORMS, required: true },
    accountId: nullable(String),
    reason: required(String),
    count: required(Number),
    firstAt: required(Date),
    lastAt: required(Date),
  },
  schemaOptions,
)

deadLetterSchema.index({ userId: 1, postId: 1, platform: 1, type: 1, accountId: 1 }, { unique: true })
deadLetterSchema.index({ lastAt: 1 }, { expireAfterSeconds: RETENTION_MS / SECOND })
deadLetterSchema.index({ lastAt: -1, _id: -1 })

export function createDeadLetterStore(connection: Connection) {
  connection.model<DeadLetter>('DeadLetter', deadLetterSchema, 'deadLetters')

  const collection = nativeCollection<DeadLetter>(connection, 'deadLetters')

  return {
    async add(failed: Undelivered[], reason: string, at: Date, session?: ClientSession): Promise<void> {
      if (failed.length === 0) return
      await collection().bulkWrite(
        failed.map(({ type, postId, userId, platform, accountId }) => ({
          updateOne: {
            filter: { userId, postId, platform, type, accountId },
            update: {
              $set: { reason, lastAt: at },
              $inc: { count: 1 },
              $setOnInsert: { _id: newId(), firstAt: at },
            },
            upsert: true,
          },
        })),
        { ordered: false, ...(session && { session }) },
      )
    },

    find: (id: string): Promise<DeadLetter | null> => collection().findOne({ _id: id }),

    /** One page, the latest failure first. */
    async page({ page, limit }: { page: number; limit: number }): Promise<{ letters: DeadLetter[]; total: number }> {
      const [letters, total] = await Promise.all([
        collection()
          .find({}, { maxTimeMS: LIST_DEADLINE_MS })
          .sort({ lastAt: -1, _id: -1 })
          .skip((page - 1) * limit)
          .limit(limit)
          .toArray(),
        collection().estimatedDocumentCount({ maxTimeMS: LIST_DEADLINE_MS }),
      ])
      return { letters, total }
    },

    allOf: (userId: string): AsyncIterable<DeadLetter> => collection().find({ userId }).sort({ postId: 1 }),

    async remove(id: string): Promise<void> {
      await collection().deleteOne({ _id: id })
    },

    /** Deletes the letters about one post. */
    async removeByPost(userId: string, postId: string, session: ClientSession): Promise<void> {
      await collection().deleteMany({ userId, postId }, { session })
    },

    async removeAllOf(userId: string): Promise<void> {
      await collection().deleteMany({ userId })
    },
  }
}
