import { Schema, type ClientSession, type Connection } from 'mongoose'
import { nativeCollection } from '../shared/native-collection.ts'
import { anyOf, batchLoader } from '../shared/batching.ts'
import { required, schemaOptions, subdocumentOptions } from '../shared/schema.ts'

const MAX_LISTED = 200

/** A login session: a family of refresh tokens that descend from one another. Tokens are stored only as hashes. */
export interface Session {
  _id: string
  userId: string
  /** The user's `tokenVersion` at the start. The session ends when that grows, also during its opening. */
  version: number
  /** Hash of the current refresh token. */
  tokenHash: string
  /** Recently replaced tokens, which are still accepted. */
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

export type Rotation = Pick<Session, 'tokenHash' | 'replaced' | 'lastActive' | 'expiresAt'>

export function createSessionStore(connection: Connection) {
  const model = connection.model<Session>('Session', sessionSchema, 'sessions')

  const collection = nativeCollection<Session>(connection, 'sessions')

  return {
    async insert(session: Session): Promise<void> {
      await model.insertMany([session], { lean: true })
    },

    /** Reads a session. Concurrent reads share a query, because every request needs one. */
    find: batchLoader<Session>(
      (ids) =>
        collection()
          .find({ _id: anyOf(ids) })
          .toArray(),
      ({ _id }) => _id,
    ),

    /** Returns true when the user has this session, as the transaction sees it. */
    async isOpen(userId: string, sessionId: string, transaction: ClientSession): Promise<boolean> {
      return (await collection().findOne({ _id: sessionId, userId }, { session: transaction })) !== null
    },

    /** Replaces the token by its successor. Returns false when another request did first, or the session is gone. */
    async replaceToken(sessionId: string, tokenHash: string, rotation: Rotation): Promise<boolean> {
      const { matchedCount } = await model.updateOne({ _id: sessionId, tokenHash }, { $set: rotation })
      return matchedCount === 1
    },

    /** The active sessions, the most recently used first. */
    listOf: (userId: string, now: Date): Promise<Session[]> =>
      collection()
        .find({ userId, expiresAt: { $gt: now } })
        .sort({ lastActive: -1, _id: -1 })
        .limit(MAX_LISTED)
        .toArray(),

    /** The client addresses of the active sessions. */
    async listAddresses(userId: string, now: Date): Promise<string[]> {
      const recent = collection()
        .find({ userId, expiresAt: { $gt: now } }, { projection: { ipAddress: 1 } })
        .sort({ createdAt: -1 })
        .limit(MAX_LISTED)
      return (await recent.toArray()).map(({ ipAddress }) => ipAddress)
    },

    /** Returns false when the user has no such session. */
    async removeOwned(userId: string, sessionId: string): Promise<boolean> {
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
