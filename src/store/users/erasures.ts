import { Schema, type ClientSession, type Connection } from 'mongoose'
import { nativeCollection } from '../shared/native-collection.ts'
import { nullable, required, schemaOptions } from '../shared/schema.ts'

/**
 * The record of an erased account: it marks the id in the audit log and in restored backups as erased. It contains no personal
 * data.
 */
export interface Erasure {
  /** The id of the user. */
  _id: string
  requestedAt: Date
  /** When the user record was deleted; null while the erasure runs. */
  erasedAt: Date | null
  /** True until the second pass over all data is done. */
  isOpen: boolean
  /** The workflow's lease ends then; the sweeper starts the erasure again afterwards. */
  leasedUntil: Date
}

const erasureSchema = new Schema<Erasure>(
  {
    _id: required(String),
    requestedAt: required(Date),
    erasedAt: nullable(Date),
    isOpen: required(Boolean),
    leasedUntil: required(Date),
  },
  schemaOptions,
)

erasureSchema.index({ leasedUntil: 1 }, { partialFilterExpression: { isOpen: true } })

export function createErasureStore(connection: Connection) {
  connection.model<Erasure>('Erasure', erasureSchema, 'erasures')

  const collection = nativeCollection<Erasure>(connection, 'erasures')

  return {
    find: (userId: string): Promise<Erasure | null> => collection().findOne({ _id: userId }),

    /** Returns whether the account is erased or its erasure has started. */
    async isBegun(userId: string, session: ClientSession): Promise<boolean> {
      return (await collection().findOne({ _id: userId }, { session, projection: { _id: 1 } })) !== null
    },

    /** Starts an erasure; one that runs already stays unchanged. */
    async begin(userId: string, requestedAt: Date, session: ClientSession): Promise<void> {
      const erasure = { requestedAt, erasedAt: null, isOpen: true, leasedUntil: requestedAt }
      await collection().updateOne({ _id: userId }, { $setOnInsert: erasure }, { upsert: true, session })
    },

    /** Returns the erasure if it is still open, leased until then. */
    lease: (userId: string, leasedUntil: Date): Promise<Erasure | null> =>
      collection().findOneAndUpdate(
        { _id: userId, isOpen: true },
        { $set: { leasedUntil } },
        { returnDocument: 'after' },
      ),

    async markErased(userId: string, erasedAt: Date, session: ClientSession): Promise<void> {
      await collection().updateOne({ _id: userId, erasedAt: null }, { $set: { erasedAt } }, { session })
    },

    async close(userId: string): Promise<void> {
      await collection().updateOne({ _id: userId }, { $set: { isOpen: false } })
    },

    /** Open erasures whose lease ended before `since`, oldest first. */
    listUnleased: (since: Date, limit: number): Promise<Erasure[]> =>
      collection()
        .find({ isOpen: true, leasedUntil: { $lt: since } })
        .sort({ leasedUntil: 1 })
        .limit(limit)
        .toArray(),
  }
}

export type ErasureStore = ReturnType<typeof createErasureStore>
