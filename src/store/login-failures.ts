import { createHash } from 'node:crypto'
import { RateLimiterMongo } from 'rate-limiter-flexible'
import { Schema, type Connection } from 'mongoose'
import { ServiceError } from '../domain/service-error.ts'
import { MINUTE, SECOND } from '../domain/times.ts'
import { normalizeEmail } from '../domain/user.ts'
import { schemaOptions } from './schema-options.ts'

const COLLECTION = 'rateLimits'
const WINDOW_SECONDS = (15 * MINUTE) / SECOND

/** What the limiter library keeps; declared here so that setup makes its indexes like all others. */
const rateLimitSchema = new Schema(
  { key: { type: String, required: true }, points: { type: Number, required: true }, expire: Date },
  schemaOptions,
)
rateLimitSchema.index({ key: 1 }, { unique: true })
rateLimitSchema.index({ expire: 1 }, { expireAfterSeconds: 0 })

interface Attempt {
  email: string
  ipAddress: string
}

/**
 * Failed logins of the last 15 minutes, per account and address and per address alone. Kept in MongoDB because they must
 * hold over processes and restarts (contract section 11). Successes do not count.
 */
export function createLoginFailures(connection: Connection, limits: { perAccount: number; perAddress: number }) {
  connection.model('RateLimit', rateLimitSchema, COLLECTION)
  const limiter = (keyPrefix: string, points: number) => {
    let made: RateLimiterMongo | undefined
    // The library wants a database that has answered.
    return () =>
      (made ??= new RateLimiterMongo({
        storeClient: connection.db,
        tableName: COLLECTION,
        keyPrefix,
        points,
        duration: WINDOW_SECONDS,
        disableIndexesCreation: true,
      }))
  }
  const byAccount = limiter('login-account', limits.perAccount)
  const byAddress = limiter('login-address', limits.perAddress)
  const inTurn = createTurns()

  async function assertAllowed({ email, ipAddress }: Attempt): Promise<void> {
    const [account, address] = await Promise.all([
      byAccount().get(accountKey(email, ipAddress)),
      byAddress().get(ipAddress),
    ])
    const waits = [
      account && account.consumedPoints >= limits.perAccount ? account.msBeforeNext : 0,
      address && address.consumedPoints >= limits.perAddress ? address.msBeforeNext : 0,
    ]
    const wait = Math.max(...waits)
    if (wait > 0) {
      throw new ServiceError('RATE_LIMITED', 'Too many failed logins, try again later', {
        retryAfterSeconds: Math.ceil(wait / SECOND),
        details: { bucket: 'login' },
      })
    }
  }

  async function record({ email, ipAddress }: Attempt): Promise<void> {
    await Promise.all([byAccount().penalty(accountKey(email, ipAddress)), byAddress().penalty(ipAddress)])
  }

  return {
    /**
     * Runs `check`, and counts a failure when it resolves to null. Attempts from one address go one after another,
     * so that guesses sent side by side cannot slip past the count.
     * @throws ServiceError RATE_LIMITED before `check` runs
     */
    attempt: <T>(attempt: Attempt, check: () => Promise<T | null>): Promise<T | null> =>
      inTurn(attempt.ipAddress, async () => {
        await assertAllowed(attempt)
        const result = await check()
        if (result === null) await record(attempt)
        return result
      }),
  }
}

/** Hashed, so that the limits hold no addresses of people and keys of bounded length. */
function accountKey(email: string, ipAddress: string): string {
  return `${createHash('sha256').update(normalizeEmail(email)).digest('base64url')}|${ipAddress}`
}

/** Runs the jobs of one key one after another. */
function createTurns() {
  const last = new Map<string, Promise<unknown>>()

  return async <T>(key: string, job: () => Promise<T>): Promise<T> => {
    const result = (last.get(key) ?? Promise.resolve()).then(job, job)
    last.set(key, result)
    try {
      return await result
    } finally {
      if (last.get(key) === result) last.delete(key)
    }
  }
}
