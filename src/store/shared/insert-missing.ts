import mongoose from 'mongoose'
import { DUPLICATE_KEY } from '../mongo-errors.ts'

type Document = mongoose.mongo.Document

/** Inserts the records that no unique index refuses. Returns the positions of the others. */
export async function insertMissing<T extends Document>(
  collection: mongoose.mongo.Collection<T>,
  records: mongoose.mongo.OptionalUnlessRequiredId<T>[],
): Promise<Set<number>> {
  const existing = new Set<number>()
  try {
    await collection.insertMany(records, { ordered: false })
  } catch (error) {
    if (!(error instanceof mongoose.mongo.MongoBulkWriteError)) throw error
    for (const { index, code } of [error.writeErrors].flat()) {
      if (code !== DUPLICATE_KEY) throw error
      existing.add(index)
    }
  }
  return existing
}
