import type { Connection } from 'mongoose'
import type { OwnerRange } from '../../domain/analytics/shards.ts'
import { ALL_SHARDS } from './all-shards.ts'
import { nativeCollection } from './native-collection.ts'

interface OwnedRecord {
  _id: string
  userId: string
}

/** Reads what a plan needs to divide the owners of a collection. Both reads cost little, however many records there are. */
export function createOwnerSample(connection: Connection, name: string) {
  const collection = nativeCollection<OwnedRecord>(connection, name)

  return {
    /** The owners of up to `size` random records, one per record. */
    async sampleOwners(size: number): Promise<string[]> {
      const sample = await collection()
        .aggregate<OwnedRecord>([{ $sample: { size } }, { $project: { userId: 1 } }], ALL_SHARDS)
        .toArray()
      return sample.map(({ userId }) => userId)
    },

    /** About how many records there are. */
    countRoughly: (): Promise<number> => collection().estimatedDocumentCount(ALL_SHARDS),
  }
}

export type OwnerSample = ReturnType<typeof createOwnerSample>

/** Selects the records of the owners in a range. */
export function toOwnerFilter({ afterUserId, untilUserId }: OwnerRange) {
  const userId = {
    ...(afterUserId !== null && { $gt: afterUserId }),
    ...(untilUserId !== null && { $lte: untilUserId }),
  }
  return Object.keys(userId).length > 0 ? { userId } : {}
}
