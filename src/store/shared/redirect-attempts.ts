import { Schema, type Connection } from 'mongoose'
import { nativeCollection } from './native-collection.ts'
import { nullable, required, schemaOptions } from './schema.ts'

/** The redirect of a user to another site, from which the user may return. Expires by itself. */
export interface RedirectAttempt {
  /** Hash of the random part of `state`. */
  _id: string
  /** Sealed; null once the attempt is consumed. */
  secrets: string | null
  /** Hash of the binding that the browser holds in a cookie; null when no browser started the attempt. */
  bindingHash: string | null
  /** Hash of the callback's token where the other site supports no `state`. */
  lookupHash?: string
  expiresAt: Date
  consumedAt: Date | null
}

/**
 * Stores the redirect attempts of one kind.
 * @param model the name of the mongoose model
 * @param fields fields besides those of every attempt
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

  const collection = nativeCollection<RedirectAttempt>(connection, name)

  return {
    async insert(attempt: Attempt): Promise<void> {
      await collection().insertOne(attempt)
    },

    /**
     * Consumes the attempt by one conditional write: of concurrent callbacks exactly one gets it. A callback in the wrong
     * browser does not consume it.
     * @param bindingHashes the accepted bindings; null accepts an attempt without one
     * @returns the attempt with its secrets, or null when no open attempt matches
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
