import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { createFairLimit, QueueFull } from '../flow/fair-limit.ts'
import { ServiceError } from '../domain/shared/service-error.ts'

/** argon2id, the library's default algorithm, with OWASP's parameters: about 7 ms and 19 MiB per hash. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** More concurrent hashes would fill the memory and take all threads. */
const MAX_CONCURRENT = 4
/** The default leaves one core to other requests. */
const CONCURRENT_HASHES = Math.min(MAX_CONCURRENT, Math.max(1, availableParallelism() - 1))
/** A full queue is a few seconds of work. Later requests are refused with a retry time. */
const QUEUED_HASHES = 500

/**
 * Hashes passwords, which must be normalized with `normalizePassword`. `requester` is the requesting client address or account.
 * Requesters take turns, so many requests of one delay another by one hash at most.
 * @throws ServiceError SERVICE_UNAVAILABLE when too many wait
 */
export function createPasswordHasher({ maxConcurrent = CONCURRENT_HASHES, waiting = QUEUED_HASHES } = {}) {
  const limit = createFairLimit({ maxRunning: maxConcurrent, waiting })
  /** The hash compared with for unknown addresses, so that they take as long as known ones. */
  const dummyHash = runInTurn('', () => hash(randomBytes(16).toString('hex'), COST))

  async function runInTurn<T>(requester: string, work: () => Promise<T>): Promise<T> {
    try {
      return await limit(requester, work)
    } catch (error) {
      if (!(error instanceof QueueFull)) throw error
      throw new ServiceError('SERVICE_UNAVAILABLE', 'Too many concurrent logins. Try again in a moment.', {
        cause: error,
        retryAfterSeconds: 1,
      })
    }
  }

  return {
    hash: (password: string, requester: string): Promise<string> => runInTurn(requester, () => hash(password, COST)),

    /** Takes as long without a stored hash, and then returns false. */
    async verify(passwordHash: string | null, password: string, requester: string): Promise<boolean> {
      const reference = passwordHash ?? (await dummyHash)
      const matches = await runInTurn(requester, () => verify(reference, password))
      return matches && passwordHash !== null
    },
  }
}

export type PasswordHasher = ReturnType<typeof createPasswordHasher>
