import { createHash } from 'node:crypto'
import { Schema, type Connection } from 'mongoose'
import { RateLimiterMongo, RateLimiterRes } from 'rate-limiter-flexible'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { SECOND, formatWait } from '../../domain/shared/times.ts'
import { driverCollection } from './native-collection.ts'
import { schemaOptions } from './schema.ts'

const COLLECTION = 'rateLimits'

/** What the limiter library keeps; declared here so that setup makes its indexes like all others. */
const rateLimitSchema = new Schema(
  { key: { type: String, required: true }, points: { type: Number, required: true }, expire: Date },
  schemaOptions,
)
rateLimitSchema.index({ key: 1 }, { unique: true })
rateLimitSchema.index({ expire: 1 }, { expireAfterSeconds: 0 })

/** The message of a refusal, made from the time to wait, like `40 seconds`. */
type Refusal = (wait: string) => string

interface Bucket {
  /** Of the bucket, as error bodies name it. */
  name: string
  points: number
  windowMs: number
}

/**
 * Limits that are counted in MongoDB, because they must hold over processes and restarts (contract section 11). Keys that
 * name people are kept hashed only.
 */
export function createRateLimits(connection: Connection) {
  connection.model('RateLimit', rateLimitSchema, COLLECTION)

  const collection = driverCollection<{ key: string }>(connection, COLLECTION)
  const names = new Set<string>()

  function limiter({ name, points, windowMs }: Bucket): () => RateLimiterMongo {
    names.add(name)
    let made: RateLimiterMongo | undefined
    // The library wants a database that has answered.
    return () =>
      (made ??= new RateLimiterMongo({
        storeClient: connection.db,
        tableName: COLLECTION,
        keyPrefix: name,
        points,
        duration: windowMs / SECOND,
        disableIndexesCreation: true,
      }))
  }

  return {
    /** Counted without refusing: for limits that are looked at before and counted after. */
    limiter,

    /** Forgets what was counted of these people, who are named by their ids or addresses. */
    async forget(people: string[]): Promise<void> {
      const keys = people.flatMap((person) => [...names].map((name) => `${name}:${hashed(person)}`))
      // What follows the hash, such as a network address, is separated by a character that sorts after it.
      const ranges = keys.map((key) => ({ key: { $gte: key, $lt: `${key}\uffff` } }))
      await collection().deleteMany({ $or: ranges })
    },

    /** Counts every call that asks. */
    bucket(bucket: Bucket, refusal: Refusal = (wait) => `Too many requests. Try again in ${wait}.`) {
      const open = limiter(bucket)
      const keyOf = (person: string, place?: string) =>
        place === undefined ? hashed(person) : personKey(person, place)
      return {
        /** Takes one when there is one left. */
        async tryTake(person: string): Promise<boolean> {
          try {
            await open().consume(hashed(person))
            return true
          } catch (error) {
            if (error instanceof RateLimiterRes) return false
            throw error
          }
        },

        /**
         * @param place counts the person's calls from there on their own
         * @throws ServiceError RATE_LIMITED when the key has used its share up
         */
        async take(person: string, place?: string): Promise<void> {
          try {
            await open().consume(keyOf(person, place))
          } catch (error) {
            if (error instanceof RateLimiterRes) throw tooMany(refusal, bucket.name, error.msBeforeNext)
            throw error
          }
        },

        /** What was taken for something that came to nothing. */
        async giveBack(person: string, place?: string): Promise<void> {
          await open().reward(keyOf(person, place))
        },

        /** Returns the whole share. For a share of one: calls that were refused meanwhile count as well, and `giveBack` leaves them. */
        async clear(person: string): Promise<void> {
          await open().delete(hashed(person))
        },
      }
    },
  }
}

export type RateLimits = ReturnType<typeof createRateLimits>

export function tooMany(message: Refusal, bucket: string, waitMs: number): ServiceError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / SECOND))
  return new ServiceError('RATE_LIMITED', message(formatWait(retryAfterSeconds)), {
    retryAfterSeconds,
    details: { bucket },
  })
}

/** The key of a limit on one person from one place. `forget` finds it by the person. */
export function personKey(person: string, place: string): string {
  return `${hashed(person)}|${hashed(place)}`
}

/** Of bounded length, and telling nobody's address. */
export function hashed(key: string): string {
  return createHash('sha256').update(key).digest('base64url')
}
