import { createHash } from 'node:crypto'
import { Schema, type Connection } from 'mongoose'
import { RateLimiterMongo, RateLimiterRes } from 'rate-limiter-flexible'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { SECOND, formatWait } from '../../domain/shared/times.ts'
import { nativeCollection } from './native-collection.ts'
import { required, schemaOptions } from './schema.ts'

const COLLECTION = 'rateLimits'

/** The limiter library's records, declared here so that setup creates their indexes. */
const rateLimitSchema = new Schema({ key: required(String), points: required(Number), expire: Date }, schemaOptions)
rateLimitSchema.index({ key: 1 }, { unique: true })
rateLimitSchema.index({ expire: 1 }, { expireAfterSeconds: 0 })

/** Builds the message of a refusal from the time to wait, such as `40 seconds`. */
type Refusal = (wait: string) => string

interface Bucket {
  /** The name in error bodies. */
  name: string
  points: number
  windowMs: number
}

/**
 * Rate limits counted in MongoDB, because they must hold across processes and restarts. Keys that name people are stored only
 * as hashes.
 */
export function createRateLimits(connection: Connection) {
  connection.model('RateLimit', rateLimitSchema, COLLECTION)

  const collection = nativeCollection<{ key: string }>(connection, COLLECTION)
  const names = new Set<string>()

  function limiter({ name, points, windowMs }: Bucket): () => RateLimiterMongo {
    names.add(name)
    let created: RateLimiterMongo | undefined
    // The library needs a connected database.
    return () =>
      (created ??= new RateLimiterMongo({
        storeClient: connection.db,
        tableName: COLLECTION,
        keyPrefix: name,
        points,
        duration: windowMs / SECOND,
        disableIndexesCreation: true,
      }))
  }

  return {
    /** A counter that does not refuse, for limits that are checked before and counted after the work. */
    limiter,

    /** Deletes the counts of these people, named by ids or addresses. */
    async clearAllOf(people: string[]): Promise<void> {
      const keys = people.flatMap((person) => [...names].map((name) => `${name}:${hashKey(person)}`))
      // A suffix, such as a network address, follows a separator that sorts after the hash.
      const ranges = keys.map((key) => ({ key: { $gte: key, $lt: `${key}\uffff` } }))
      await collection().deleteMany({ $or: ranges })
    },

    /** A limit that counts every call. */
    bucket(bucket: Bucket, refusal: Refusal = (wait) => `Too many requests. Try again in ${wait}.`) {
      const getLimiter = limiter(bucket)
      const toKey = (person: string, origin?: string) =>
        origin === undefined ? hashKey(person) : toPersonKey(person, origin)
      return {
        /** Takes one unit; returns false when none is left. */
        async tryTake(person: string, origin?: string): Promise<boolean> {
          try {
            await getLimiter().consume(toKey(person, origin))
            return true
          } catch (error) {
            if (error instanceof RateLimiterRes) return false
            throw error
          }
        },

        /**
         * @param origin counts the person's calls from each origin separately, such as a network or a device
         * @throws ServiceError RATE_LIMITED when the key has used all its units
         */
        async take(person: string, origin?: string): Promise<void> {
          try {
            await getLimiter().consume(toKey(person, origin))
          } catch (error) {
            if (error instanceof RateLimiterRes) throw rateLimited(refusal, bucket.name, error.msBeforeNext)
            throw error
          }
        },

        /** Returns a unit that was taken for failed work. */
        async refund(person: string, origin?: string): Promise<void> {
          await getLimiter().reward(toKey(person, origin))
        },

        /** Resets the count. For limits of one unit: refused calls count as well, and `refund` does not remove them. */
        async clear(person: string): Promise<void> {
          await getLimiter().delete(hashKey(person))
        },
      }
    },
  }
}

export type RateLimits = ReturnType<typeof createRateLimits>

/** One limit, with a count per key. */
export type RateLimit = ReturnType<RateLimits['bucket']>

export function rateLimited(message: Refusal, bucket: string, waitMs: number): ServiceError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / SECOND))
  return new ServiceError('RATE_LIMITED', message(formatWait(retryAfterSeconds)), {
    retryAfterSeconds,
    details: { bucket },
  })
}

/** Returns the key of a limit on one person from one origin. `clearAllOf` finds it by the person. */
export function toPersonKey(person: string, origin: string): string {
  return `${hashKey(person)}|${hashKey(origin)}`
}

/** Hashes a key, which bounds its length and hides the address. */
export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('base64url')
}
