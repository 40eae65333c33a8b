import { Schema, type ClientSession, type Connection } from 'mongoose'
import { nativeCollection } from '../shared/native-collection.ts'
import { nullable, required, schemaOptions } from '../shared/schema.ts'

/**
 * What remains of an account that was erased: that there was one of this id, so that what names it elsewhere by its id (the audit
 * log, backups that are played back) is known to be somebody who has gone. Nothing in it is personal.
 */
export interface Erasure {
  /** The id of the user. */
  _id: string
  requestedAt: Date
  /** When the user record went; null while the erasure is under way. */
  erasedAt: Date | null
  /** True until everything was looked through a second time. */
  isOpen: boolean
  /** Until then a workflow looks after it, as far as is known. */
  tendedUntil: Date
}

const erasureSchema = new Schema<Erasure>(
  {
    _id: required(String),
    requestedAt: required(Date),
    erasedAt: nullable(Date),
    isOpen: required(Boolean),
    tendedUntil: required(Date),
  },
  schemaOptions,
)

erasureSchema.index({ tendedUntil: 1 }, { partialFilterExpression: { isOpen: true } })

export function createErasureStore(connection: Connection) {
  connection.model<Erasure>('Erasure', erasureSchema, 'erasures')

  const collection = nativeCollection<Erasure>(connection, 'erasures')

  return {
    find: (userId: string): Promise<Erasure | null> => collection().findOne({ _id: userId }),

    /** Whether an account has gone, or is about to. */
    async isBegun(userId: string, session: ClientSession): Promise<boolean> {
      return (await collection().findOne({ _id: userId }, { session, projection: { _id: 1 } })) !== null
    },

    /** An erasure that was begun before goes on as it is. */
    async begin(userId: string, requestedAt: Date, session: ClientSession): Promise<void> {
      const erasure = { requestedAt, erasedAt: null, isOpen: true, tendedUntil: requestedAt }
      await collection().updateOne({ _id: userId }, { $setOnInsert: erasure }, { upsert: true, session })
    },

    /** The erasure if there is still something to do for it, marked as looked after until then. */
    lease: (userId: string, tendedUntil: Date): Promise<Erasure | null> =>
      collection().findOneAndUpdate(
        { _id: userId, isOpen: true },
        { $set: { tendedUntil } },
        { returnDocument: 'after' },
      ),

    async markErased(userId: string, erasedAt: Date, session: ClientSession): Promise<void> {
      await collection().updateOne({ _id: userId, erasedAt: null }, { $set: { erasedAt } }, { session })
    },

    async close(userId: string): Promise<void> {
      await collection().updateOne({ _id: userId }, { $set: { isOpen: false } })
    },

    /** Those that nobody has looked after since, oldest first. */
    listUnleased: (since: Date, limit: number): Promise<Erasure[]> =>
      collection()
        .find({ isOpen: true, tendedUntil: { $lt: since } })
        .sort({ tendedUntil: 1 })
        .limit(limit)
        .toArray(),
  }
}

export type ErasureStore = ReturnType<typeof createErasureStore>
