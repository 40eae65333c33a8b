import type { Connection } from 'mongoose'
import { ALL_SHARDS } from './all-shards.ts'
import { getNativeDatabase, nativeCollection } from './native-collection.ts'

/**
 * The version of the form in which records are stored. A process neither reads nor writes a database with another version. Increment it
 * with every change after which this code cannot read what is stored, or the code before it cannot read what this code stores.
 */
export const SCHEMA_VERSION = 7

const COLLECTION = 'meta'

interface VersionRecord {
  _id: 'schema'
  version: number
}

/** The records of a database have another form than this release stores. Its message is for operators. */
export class SchemaVersionError extends Error {}

const versionCollection = (connection: Connection) => nativeCollection<VersionRecord>(connection, COLLECTION)()

/** Returns the schema version of a database; null before `npm run setup`. */
export async function readSchemaVersion(connection: Connection): Promise<number | null> {
  return (await versionCollection(connection).findOne({ _id: 'schema' }))?.version ?? null
}

/**
 * Records the schema version in an empty database. Can be repeated, by any number of processes.
 * @throws SchemaVersionError for a database with records of another version, or of an unknown one
 */
export async function claimSchemaVersion(connection: Connection): Promise<void> {
  // In this order: a concurrent setup records the version before any process stores a record.
  if (!(await hasRecords(connection))) {
    const claim = { $setOnInsert: { version: SCHEMA_VERSION } }
    await versionCollection(connection).updateOne({ _id: 'schema' }, claim, { upsert: true })
  }
  const version = await readSchemaVersion(connection)
  if (version === null) {
    throw new SchemaVersionError(
      'The database has records but no schema version: another program or an unreleased version wrote them. Use an empty database.',
    )
  }
  const error = findVersionError(version)
  if (error) throw error
}

/** Returns the error for a database with this schema version; null when it is the version of this release. */
export function findVersionError(version: number): SchemaVersionError | null {
  if (version === SCHEMA_VERSION) return null
  const [writer, advice] =
    version < SCHEMA_VERSION
      ? ['an older', 'Run the release that wrote it, or use an empty database.']
      : ['a newer', 'Run that release or a later one.']
  return new SchemaVersionError(
    `The database has schema version ${version} of ${writer} release, and this release needs ${SCHEMA_VERSION}. ${advice}`,
  )
}

/** Returns whether any collection has a record, besides that of the version. */
async function hasRecords(connection: Connection): Promise<boolean> {
  const database = getNativeDatabase(connection)
  const collections = await database.listCollections({}, { nameOnly: true }).toArray()
  const names = collections.map(({ name }) => name).filter((name) => name !== COLLECTION && !name.startsWith('system.'))
  const found = await Promise.all(
    names.map((name) => database.collection(name).findOne({}, { projection: { _id: 1 }, ...ALL_SHARDS })),
  )
  return found.some((record) => record !== null)
}
