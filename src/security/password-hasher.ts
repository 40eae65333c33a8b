import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { createFairLimit, QueueFull } from '../domain/shared/fair-limit.ts'
import { ServiceError } from '../domain/shared/service-error.ts'

/** argon2id, the library's default algorithm, with OWASP's parameters: about 7 ms and 19 MiB per hash. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** More would fill the memory and take all threads. */
const MAX_CONCURRENT = 4
/** Leaves one core to other requests. */
const CONCURRENT_HASHES = Math.min(MAX_CONCURRENT, Math.max(1, availableParallelism() - 1))
/** Some seconds of work at most; later requests are refused with a retry time. */
const QUEUED_HASHES = 500

/**
 * Hashes passwords, which must be normalized with `normalizePassword`. `whose` is the requesting client address or account.
 * Requesters take turns, so many requests of one delay another by one hash at most.
 * @throws ServiceError SERVICE_UNAVAILABLE when too many wait
 */
export function createPasswordHasher({ atOnce = CONCURRENT_HASHES, waiting = QUEUED_HASHES } = {}) {
  const limit = createFairLimit({ maxRunning: atOnce, waiting })
  /** The hash compared with for unknown addresses, so that they take as long as known ones. */
  const dummyHash = inTurn('', () => hash(randomBytes(16).toString('hex'), COST))

  async function inTurn<T>(whose: string, work: () => Promise<T>): Promise<T> {
    try {
      return await limit(whose, work)
    } catch (error) {
      if (!(error instanceof QueueFull)) throw error
      throw new ServiceError('SERVICE_UNAVAILABLE', 'Too many concurrent logins. Try again in a moment.', {
        cause: error,
        retryAfterSeconds: 1,
      })
    }
  }

  return {
    hash: (password: string, whose: string): Promise<string> => inTurn(whose, () => hash(password, COST)),

    /** Takes the same time without a stored hash, and is then always false. */
    async verify(passwordHash: string | null, password: string, whose: string): Promise<boolean> {
      const reference = passwordHash ?? (await dummyHash)
      const matches = await inTurn(whose, () => verify(reference, password))
      return matches && passwordHash !== null
    },
  }
}

export type PasswordHasher = ReturnType<typeof createPasswordHasher>
