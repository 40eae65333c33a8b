import { Schema, type Connection } from 'mongoose'
import { DAY, HOUR, MINUTE } from '../../domain/shared/times.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { nullable, required, schemaOptions } from '../shared/schema.ts'
import { mediaKeyPattern } from '../../domain/media/storage-keys.ts'

/** How long an upload address is valid. */
const ADDRESS_LIFE_MS = 15 * MINUTE
/** An upload that starts in the last moment may continue for a while; after this time its size is final. */
const SIZE_FINAL_AFTER_MS = ADDRESS_LIFE_MS + HOUR
/** How long the record of a deleted upload refuses posts that were read before the deletion. */
const TOMBSTONE_LIFE_MS = DAY
/** Longer than a post takes from the hold of its media to its storage. */
const HOLD_MS = MINUTE
/** How often an object without a signed length is checked. */
const CHECK_EVERY_MS = MINUTE

/** `removed`: the clean-up moved the file aside. `deleted`: the user deleted it, which is final. */
type UploadState = 'stored' | 'removed' | 'deleted'

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
  /** When the stored object is checked next; null once its size, or its deletion, is final. */
  checkAt: Date | null
  state: UploadState
  /** Until then it cannot be deleted, because a post with it is being stored. */
  heldUntil: Date | null
  /** When the record is removed; null until the bytes of a deleted upload are gone. */
  removeAt: Date | null
}

export interface UploadFilter {
  kind?: 'image' | 'video' | undefined
  isUsed?: boolean | undefined
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
    state: { type: String, enum: ['stored', 'removed', 'deleted'], required: true },
    heldUntil: nullable(Date),
    removeAt: nullable(Date),
  },
  schemaOptions,
)

uploadSchema.index({ userId: 1, isNamed: 1, createdAt: 1 })
uploadSchema.index({ userId: 1, createdAt: -1, _id: -1 })
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
        state: 'stored',
        heldUntil: null,
        removeAt: null,
      })
    },

    /** Returns a page of the user's stored media, newest first, without avatars. */
    async list(
      userId: string,
      { kind, isUsed, page, limit }: UploadFilter & { page: number; limit: number },
    ): Promise<{ uploads: Upload[]; total: number }> {
      const filter = {
        userId,
        state: 'stored' as const,
        _id: mediaKeyPattern(userId, kind),
        ...(isUsed !== undefined && { isNamed: isUsed }),
      }
      const [found, total] = await Promise.all([
        collection()
          .find(filter, { sort: { createdAt: -1, _id: -1 }, skip: (page - 1) * limit, limit })
          .toArray(),
        collection().countDocuments(filter),
      ])
      return { uploads: found, total }
    },

    /** Returns an upload that is not deleted or moved aside; null when the user has none with this key. */
    findStored: (userId: string, storageKey: string): Promise<Upload | null> =>
      collection().findOne({ _id: storageKey, userId, state: 'stored' }),

    /**
     * Keeps uploads from being deleted for a minute. Call it before a post with them is stored.
     * @returns the keys whose uploads are deleted
     */
    async hold(storageKeys: string[]): Promise<string[]> {
      if (storageKeys.length === 0) return []
      const until = fromNow(HOLD_MS)
      await collection().updateMany(
        { _id: { $in: storageKeys }, state: { $ne: 'deleted' } },
        { $max: { heldUntil: until }, $set: { state: 'stored' } },
      )
      const unheld = await collection()
        .find({ _id: { $in: storageKeys }, heldUntil: { $not: { $gte: until } } }, { projection: { _id: 1 } })
        .toArray()
      return unheld.map(({ _id }) => _id)
    },

    /** Marks an upload as deleted, and returns false while a post holds it. The sweeper completes what a crash interrupts. */
    async markDeleted({ _id, userId }: Upload): Promise<boolean> {
      const { modifiedCount } = await collection().updateOne(
        { _id, userId, state: 'stored', heldUntil: { $not: { $gt: now() } } },
        { $set: { state: 'deleted', heldUntil: null, checkAt: fromNow(CHECK_EVERY_MS) } },
      )
      return modifiedCount === 1
    },

    /** Takes back `markDeleted`. */
    async restoreDeleted({ _id }: Upload): Promise<void> {
      const filter = { _id, state: 'deleted' as const, removeAt: null }
      await collection().updateOne(filter, { $set: { state: 'stored', checkAt: now() } })
    },

    /** Records that the bytes are gone. A file that is uploaded once more with the same address is deleted once that has ended. */
    async recordDeleted({ _id, createdAt }: Upload): Promise<void> {
      const finalAt = new Date(createdAt.getTime() + SIZE_FINAL_AFTER_MS)
      await collection().updateOne(
        { _id, state: 'deleted' },
        { $set: { checkAt: finalAt <= now() ? null : finalAt, removeAt: fromNow(TOMBSTONE_LIFE_MS) } },
      )
    },

    /** Records whether the clean-up has moved the file aside. */
    async setRemoved(storageKey: string, isRemoved: boolean): Promise<void> {
      const filter = { _id: storageKey, state: { $ne: 'deleted' as const } }
      await collection().updateOne(filter, { $set: { state: isRemoved ? 'removed' : 'stored' } })
    },

    async remove(storageKey: string): Promise<void> {
      await collection().deleteOne({ _id: storageKey })
    },

    /** The user's counted bytes, those of deleted files while their addresses accept uploads included, and the number of valid addresses without a signed length. */
    async usageOf(userId: string): Promise<{ bytes: number; openUnsized: number }> {
      const isOpenUnsized = { $and: [{ $not: '$isSized' }, { $gt: ['$createdAt', fromNow(-ADDRESS_LIFE_MS)] }] }
      const [usage] = await collection()
        .aggregate<{ bytes: number; openUnsized: number }>([
          {
            $match: {
              userId,
              isNamed: false,
              $or: [{ state: { $ne: 'deleted' } }, { createdAt: { $gt: fromNow(-ADDRESS_LIFE_MS) } }],
            },
          },
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
        .find(
          { userId, isNamed: false, state: { $ne: 'deleted' } },
          { projection: { _id: 1 }, sort: { bytes: -1 }, limit },
        )
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
    async recordSize({ _id, createdAt, state }: Upload, bytes: number | null): Promise<void> {
      const unchanged = { _id, state }
      const isFinal = createdAt.getTime() + SIZE_FINAL_AFTER_MS <= now().getTime()
      if (!isFinal) await collection().updateOne(unchanged, { $set: { checkAt: fromNow(CHECK_EVERY_MS) } })
      else if (bytes === null) await collection().deleteOne(unchanged)
      else await collection().updateOne(unchanged, { $set: { bytes, checkAt: null } })
    },

    async removeAllOf(userId: string): Promise<void> {
      await collection().deleteMany({ userId })
    },
  }
}
