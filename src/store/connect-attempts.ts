import { Schema, type Connection } from 'mongoose'
import { PLATFORMS, type Platform } from '../domain/platforms.ts'
import { driverCollection } from './driver.ts'
import { schemaOptions } from './schema-options.ts'

/** A user who was sent to a platform's page and may come back (safety.md section 3). Goes by itself soon after its end. */
export interface ConnectAttempt {
  /** Hash of the nonce in `state`. */
  _id: string
  userId: string
  /** The session it was begun in: it ends with that. */
  sessionId: string
  platform: Platform
  /** Sealed; gone once the attempt is used. */
  secrets: string | null
  /** Hash of what the browser it was begun in holds in a cookie; null when it was begun by no browser. */
  bindingHash: string | null
  /** Hash of what the callback names where the platform knows no `state`. */
  lookupHash?: string
  expiresAt: Date
  consumedAt: Date | null
}

/** How a callback names the attempt. Every part that is given has to be right. */
export type AttemptName = Pick<ConnectAttempt, 'platform'> &
  ({ _id: string; userId: string; lookupHash?: string } | { lookupHash: string })

const required = <T>(type: T) => ({ type, required: true }) as const
const nullable = <T>(type: T) => ({ type, default: null })

const attemptSchema = new Schema<ConnectAttempt>(
  {
    _id: required(String),
    userId: required(String),
    sessionId: required(String),
    platform: { type: String, enum: PLATFORMS, required: true },
    secrets: nullable(String),
    bindingHash: nullable(String),
    lookupHash: String,
    expiresAt: required(Date),
    consumedAt: nullable(Date),
  },
  schemaOptions,
)

attemptSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })
attemptSchema.index({ lookupHash: 1 }, { unique: true, sparse: true })

export function createConnectAttemptStore(connection: Connection) {
  connection.model<ConnectAttempt>('ConnectAttempt', attemptSchema, 'connectAttempts')

  const collection = driverCollection<ConnectAttempt>(connection, 'connectAttempts')

  return {
    async insert(attempt: ConnectAttempt): Promise<void> {
      await collection().insertOne(attempt)
    },

    /**
     * Uses the attempt up, by one conditional write: of all that come with the same name one gets it, and once only.
     * A callback in the wrong browser does not use it up.
     * @param bindingHashes those of which the attempt may have one; null among them stands for an attempt without
     * @returns the attempt with its secrets, or null when there is none that is still open
     */
    consume: (name: AttemptName, bindingHashes: (string | null)[], at: Date): Promise<ConnectAttempt | null> =>
      collection().findOneAndUpdate(
        { ...name, bindingHash: { $in: bindingHashes }, consumedAt: null, expiresAt: { $gt: at } },
        { $set: { consumedAt: at, secrets: null } },
        { returnDocument: 'before' },
      ),
  }
}
