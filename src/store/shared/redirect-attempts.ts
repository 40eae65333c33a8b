import { Schema, type Connection } from 'mongoose'
import { driverCollection } from './native-collection.ts'
import { schemaOptions } from './schema.ts'

/** Somebody who was sent to another site's page and may come back (safety.md section 3). Goes by itself soon after its end. */
export interface RedirectAttempt {
  /** Hash of the random part of `state`. */
  _id: string
  /** Sealed; gone once the attempt is used. */
  secrets: string | null
  /** Hash of what the browser it was begun in holds in a cookie; null when it was begun by no browser. */
  bindingHash: string | null
  /** Hash of what the callback names where the other site knows no `state`. */
  lookupHash?: string
  expiresAt: Date
  consumedAt: Date | null
}

const required = <T>(type: T) => ({ type, required: true }) as const
const nullable = <T>(type: T) => ({ type, default: null })

/**
 * @param model the name of what is attempted
 * @param fields what its records have besides those of every attempt
 */
export function createRedirectAttemptStore<Attempt extends RedirectAttempt, Name extends object>(
  connection: Connection,
  { model, collection: name, fields }: { model: string; collection: string; fields: Record<string, object> },
) {
  const schema = new Schema(
    {
      _id: required(String),
      ...fields,
      secrets: nullable(String),
      bindingHash: nullable(String),
      lookupHash: String,
      expiresAt: required(Date),
      consumedAt: nullable(Date),
    },
    schemaOptions,
  )
  schema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })
  schema.index({ lookupHash: 1 }, { unique: true, sparse: true })
  connection.model(model, schema, name)

  const collection = driverCollection<RedirectAttempt>(connection, name)

  return {
    async insert(attempt: Attempt): Promise<void> {
      await collection().insertOne(attempt)
    },

    /**
     * Uses the attempt up, by one conditional write: of all that come with the same name one gets it, and once only.
     * A callback in the wrong browser does not use it up.
     * @param bindingHashes those of which the attempt may have one; null among them stands for an attempt without
     * @returns the attempt with its secrets, or null when there is none that is still open
     */
    async consume(attempt: Name, bindingHashes: (string | null)[], at: Date): Promise<Attempt | null> {
      // guard: redirect attempt
      const before = await collection().findOneAndUpdate(
        { ...(attempt as object), bindingHash: { $in: bindingHashes }, consumedAt: null, expiresAt: { $gt: at } },
        { $set: { consumedAt: at, secrets: null } },
        { returnDocument: 'before' },
      )
      return before as Attempt | null
    },
  }
}
