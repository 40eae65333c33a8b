import { Schema, type Connection } from 'mongoose'
import { nativeCollection } from '../shared/native-collection.ts'
import { anyOf, batchLoader } from '../shared/batching.ts'
import { required, schemaOptions, subdocumentOptions } from '../shared/schema.ts'

const MOST_LISTED = 200

/** A login that lasts: the family of refresh tokens that descend from one another. Tokens are stored hashed only. */
export interface Session {
  _id: string
  userId: string
  /** The user's `tokenVersion` when it was opened: with that it ends, also when it was being opened just then. */
  version: number
  /** Hash of the one refresh token that is good now. */
  tokenHash: string
  /** How many times the token was replaced. Read by versions whose tokens have no tag, while both run. */
  generation: number
  /** Tokens replaced a moment ago, whose repetition is still answered. */
  replaced: { tokenHash: string; at: Date }[]
  ipAddress: string
  userAgent: string
  createdAt: Date
  lastActive: Date
  expiresAt: Date
}

const sessionSchema = new Schema<Session>(
  {
    _id: required(String),
    userId: required(String),
    version: required(Number),
    tokenHash: required(String),
    generation: required(Number),
    replaced: [
      new Schema(
        {
          tokenHash: required(String),
          at: required(Date),
        },
        subdocumentOptions,
      ),
    ],
    ipAddress: { type: String, default: '' },
    userAgent: { type: String, default: '' },
    createdAt: required(Date),
    lastActive: required(Date),
    expiresAt: required(Date),
  },
  schemaOptions,
)

sessionSchema.index({ userId: 1, createdAt: -1 })
sessionSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })

export type Rotation = Pick<Session, 'tokenHash' | 'replaced' | 'lastActive' | 'expiresAt' | 'generation'>

export function createSessionStore(connection: Connection) {
  const model = connection.model<Session>('Session', sessionSchema, 'sessions')

  const collection = nativeCollection<Session>(connection, 'sessions')

  return {
    async insert(session: Session): Promise<void> {
      await model.insertMany([session], { lean: true })
    },

    /** Every request asks: those that come at about the same time are read together. */
    find: batchLoader<Session>(
      (ids) =>
        collection()
          .find({ _id: anyOf(ids) })
          .toArray(),
      ({ _id }) => _id,
    ),

    /** Puts the successor in the token's place; false when someone else did first, or the session is gone. */
    async replaceToken(sessionId: string, tokenHash: string, rotation: Rotation): Promise<boolean> {
      const { matchedCount } = await model.updateOne({ _id: sessionId, tokenHash }, { $set: rotation })
      return matchedCount === 1
    },

    /** Those that have not ended, the one used last first. */
    listOf: (userId: string, now: Date): Promise<Session[]> =>
      collection()
        .find({ userId, expiresAt: { $gt: now } })
        .sort({ lastActive: -1, _id: -1 })
        .limit(MOST_LISTED)
        .toArray(),

    /** The addresses from which sessions that have not ended were opened. */
    async addressesOf(userId: string, now: Date): Promise<string[]> {
      const recent = collection()
        .find({ userId, expiresAt: { $gt: now } }, { projection: { ipAddress: 1 } })
        .sort({ createdAt: -1 })
        .limit(MOST_LISTED)
      return (await recent.toArray()).map(({ ipAddress }) => ipAddress)
    },

    /** False when the user has no such session. */
    async removeOf(userId: string, sessionId: string): Promise<boolean> {
      const { deletedCount } = await collection().deleteOne({ _id: sessionId, userId })
      return deletedCount === 1
    },

    async remove(sessionId: string): Promise<void> {
      await model.deleteOne({ _id: sessionId })
    },

    async removeOthers(userId: string, sessionId: string): Promise<void> {
      await collection().deleteMany({ userId, _id: { $ne: sessionId } })
    },

    async removeAll(userId: string): Promise<void> {
      await model.deleteMany({ userId })
    },
  }
}

export type SessionStore = ReturnType<typeof createSessionStore>
