import type { mongo } from 'mongoose'

type Dump = ReadonlyMap<string, mongo.Document[]>

/** Reads one collection after the other, like `mongodump`. Numbers retain their types. */
export async function readDump(database: mongo.Db): Promise<Dump> {
  const collections = await database.listCollections({ type: 'collection' }, { nameOnly: true }).toArray()
  const dump = new Map<string, mongo.Document[]>()
  for (const { name } of collections) {
    dump.set(name, await database.collection(name).find({}, { promoteValues: false }).toArray())
  }
  return dump
}

/** Replaces the records of all collections by those of the dump. */
export async function restoreDump(database: mongo.Db, dump: Dump): Promise<void> {
  for (const { collectionName } of await database.collections())
    await database.collection(collectionName).deleteMany({})
  for (const [name, records] of dump) if (records.length > 0) await database.collection(name).insertMany(records)
}
