import { Schema, type Connection } from 'mongoose'
import { DAY, HOUR, MINUTE } from '../../domain/shared/times.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { nullable, required, schemaOptions } from '../shared/schema.ts'

/** How long an upload address is valid. */
const ADDRESS_LIFE_MS = 15 * MINUTE
/** An upload that starts in the last moment may continue for a while; after this time its size is final. */
const SIZE_FINAL_AFTER_MS = ADDRESS_LIFE_MS + HOUR
/** The cleanup deletes unused uploads before this time (docs/design/architecture.md#unused-uploads). */
const RETENTION_MS = 3 * DAY
/** How often an object without a signed length is checked. */
const CHECK_EVERY_MS = MINUTE

/** An issued upload address, and the storage that it uses of its owner's quota. */
export interface Upload {
  /** The storage key. */
  _id: string
  userId: string
  /** Counts against the quota: the announced size, else the maximum; once the size is final, the stored size. */
  bytes: number
  maxBytes: number
  /** True when the address is signed for exactly `bytes`. */
  isSized: boolean
  /** True when a post or the profile used it at the last lookup. */
  isNamed: boolean
  createdAt: Date
  /** When the stored object is checked next; null once its size is final. */
  checkAt: Date | null
  removeAt: Date
}

const uploadSchema = new Schema<Upload>(
  {
    _id: required(String),
    userId: required(String),
    bytes: required(Number),
    maxBytes: required(Number),
    isSized: required(Boolean),
    isNamed: required(Boolean),
    createdAt: required(Date),
    checkAt: nullable(Date),
    removeAt: required(Date),
  },
  schemaOptions,
)

uploadSchema.index({ userId: 1, isNamed: 1, createdAt: 1 })
uploadSchema.index({ checkAt: 1 }, { partialFilterExpression: { checkAt: { $type: 'date' } } })
uploadSchema.index({ removeAt: 1 }, { expireAfterSeconds: 0 })

type NewUpload = Pick<Upload, '_id' | 'userId' | 'bytes' | 'maxBytes' | 'isSized'>

export function createUploadStore(connection: Connection, now: () => Date) {
  connection.model<Upload>('Upload', uploadSchema, 'uploads')

  const collection = nativeCollection<Upload>(connection, 'uploads')
  const fromNow = (ms: number) => new Date(now().getTime() + ms)

  return {
    async insert(upload: NewUpload): Promise<void> {
      await collection().insertOne({
        ...upload,
        isNamed: false,
        createdAt: now(),
        checkAt: fromNow(upload.isSized ? SIZE_FINAL_AFTER_MS : CHECK_EVERY_MS),
        removeAt: fromNow(RETENTION_MS),
      })
    },

    async remove(storageKey: string): Promise<void> {
      await collection().deleteOne({ _id: storageKey })
    },

    /** The user's counted bytes, and the number of valid addresses without a signed length. */
    async usageOf(userId: string): Promise<{ bytes: number; openUnsized: number }> {
      const isOpenUnsized = { $and: [{ $not: '$isSized' }, { $gt: ['$createdAt', fromNow(-ADDRESS_LIFE_MS)] }] }
      const [usage] = await collection()
        .aggregate<{ bytes: number; openUnsized: number }>([
          { $match: { userId, isNamed: false } },
          {
            $group: {
              _id: null,
              bytes: { $sum: '$bytes' },
              openUnsized: { $sum: { $cond: [isOpenUnsized, 1, 0] } },
            },
          },
        ])
        .toArray()
      return usage ?? { bytes: 0, openUnsized: 0 }
    },

    /** The keys that count against the quota, the largest first. */
    async listUnnamed(userId: string, limit: number): Promise<string[]> {
      const found = await collection()
        .find({ userId, isNamed: false }, { projection: { _id: 1 }, sort: { bytes: -1 }, limit })
        .toArray()
      return found.map(({ _id }) => _id)
    },

    async setNamed(storageKeys: string[], isNamed: boolean): Promise<void> {
      if (storageKeys.length === 0) return
      await collection().updateMany({ _id: { $in: storageKeys } }, { $set: { isNamed } })
    },

    /** The uploads whose objects are due for a check. */
    listDue: (limit: number): Promise<Upload[]> =>
      collection()
        .find({ checkAt: { $lte: now() } }, { sort: { checkAt: 1 }, limit })
        .toArray(),

    /**
     * Records the stored size. Until it is final the reservation stays, because the file may still be replaced.
     * @param bytes null when there is no object
     */
    async recordSize({ _id, createdAt }: Upload, bytes: number | null): Promise<void> {
      const isFinal = createdAt.getTime() + SIZE_FINAL_AFTER_MS <= now().getTime()
      if (!isFinal) await collection().updateOne({ _id }, { $set: { checkAt: fromNow(CHECK_EVERY_MS) } })
      else if (bytes === null) await collection().deleteOne({ _id })
      else await collection().updateOne({ _id }, { $set: { bytes, checkAt: null } })
    },

    async removeAllOf(userId: string): Promise<void> {
      await collection().deleteMany({ userId })
    },
  }
}
