import mongoose, { type Connection } from 'mongoose'

type Document = mongoose.mongo.Document
type Collection<T extends Document> = mongoose.mongo.Collection<T>

/**
 * The driver's own collection, for paths where mongoose's casting would cost more than the work. What goes in is built by our
 * own code, field by field; filters are of validated scalars only.
 * @returns a function, since there is no database before the connection is up; it throws like the driver does meanwhile
 */
export function nativeCollection<T extends Document>(connection: Connection, name: string): () => Collection<T> {
  let collection: Collection<T> | undefined
  return () => {
    if (collection) return collection
    if (!connection.db) throw new mongoose.mongo.MongoNotConnectedError('MongoDB is not connected yet')
    return (collection = connection.db.collection<T>(name))
  }
}
