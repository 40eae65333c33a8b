import type { Connection } from 'mongoose'
import { SEALED_FIELDS, type SealedField, type SealedRecord } from '../../domain/shared/secrets.ts'
import { nativeCollection } from './native-collection.ts'

const COLLECTIONS = Object.entries(Object.groupBy(SEALED_FIELDS, ({ collection }) => collection))

/** A sealed value and its record. */
export interface SealedValue {
  record: SealedRecord
  sealed: string
}

/** Reads and replaces sealed values wherever they are stored. A sealed value has the form `v1.<key id>.…`. */
export function createSealedValues(connection: Connection) {
  const collectionOf = (name: string) => nativeCollection<SealedRecord>(connection, name)()

  return {
    /** Returns how many values each key has sealed, by key id. Reads every record with a secret. */
    async countByKey(): Promise<Map<string, number>> {
      const counts = new Map<string, number>()
      for (const [collection, fields = []] of COLLECTIONS) {
        const keyIds = fields.map(({ path }) => ({
          $arrayElemAt: [{ $split: [{ $ifNull: [`$${path}`, ''] }, '.'] }, 1],
        }))
        const found = collectionOf(collection).aggregate<{ _id: string; count: number }>([
          { $project: { keyId: keyIds } },
          { $unwind: '$keyId' },
          { $match: { keyId: { $type: 'string' } } },
          { $group: { _id: '$keyId', count: { $sum: 1 } } },
        ])
        for await (const { _id, count } of found) counts.set(_id, (counts.get(_id) ?? 0) + count)
      }
      return counts
    },

    /** The values of a field that another key than `keyId` has sealed, in the order of the ids of their records. */
    async list(
      { collection, path }: SealedField,
      { notBy, after, limit }: { notBy: string; after: string; limit: number },
    ): Promise<SealedValue[]> {
      const records = await collectionOf(collection)
        .find(
          { _id: { $gt: after }, [path]: { $type: 'string', $not: new RegExp(`^v1\\.${notBy}\\.`) } },
          { projection: { userId: 1, platform: 1, version: 1, [path]: 1 } },
        )
        .sort({ _id: 1 })
        .limit(limit)
        .toArray()
      return records.map((record) => ({ record, sealed: readPath(record, path) }))
    },

    /**
     * Replaces values unless they have changed since they were read.
     * @returns how many were replaced
     */
    async replace(
      { collection, path }: SealedField,
      values: readonly (SealedValue & { resealed: string })[],
    ): Promise<number> {
      if (values.length === 0) return 0
      const updates = values.map(({ record: { _id }, sealed, resealed }) => ({
        updateOne: {
          filter: { _id, [path]: sealed },
          update: { $set: { [path]: resealed } },
        },
      }))
      const { modifiedCount } = await collectionOf(collection).bulkWrite(updates, { ordered: false })
      return modifiedCount
    },
  }
}

function readPath(record: object, path: string): string {
  return path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], record) as string
}
