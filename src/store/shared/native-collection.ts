import mongoose, { type Connection } from 'mongoose'

type Document = mongoose.mongo.Document
type NativeDatabase = NonNullable<Connection['db']>
type Collection<T extends Document> = mongoose.mongo.Collection<T>

/**
 * Returns the driver's own collection, for paths where mongoose's casting would cost more than the work. Our code builds
 * documents field by field, and filters hold validated scalars only.
 * @returns a function, because the database does not exist before the connection is up; until then it throws like the driver
 */
export function nativeCollection<T extends Document>(connection: Connection, name: string): () => Collection<T> {
  let collection: Collection<T> | undefined
  return () => (collection ??= getNativeDatabase(connection).collection<T>(name))
}

/** Returns the driver's own database. Throws like the driver until the connection is up. */
export function getNativeDatabase({ db }: Connection): NativeDatabase {
  if (!db) throw new mongoose.mongo.MongoNotConnectedError('MongoDB is not connected yet')
  return db
}
