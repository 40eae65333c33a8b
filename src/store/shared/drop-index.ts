import type mongoose from 'mongoose'

type Collection = mongoose.mongo.Collection

/** Removes the index with exactly these keys, if there is one. */
export async function dropIndex(collection: Pick<Collection, 'indexes' | 'dropIndex'>, keys: object): Promise<void> {
  const wanted = JSON.stringify(keys)
  for (const { key, name } of await collection.indexes()) {
    if (JSON.stringify(key) === wanted && name !== undefined) await collection.dropIndex(name)
  }
}
