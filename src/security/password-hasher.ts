import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { createFairLimit, QueueFull } from '../domain/shared/fair-limit.ts'
import { ServiceError } from '../domain/shared/service-error.ts'

/** argon2id, the library's default algorithm, at the cost OWASP gives for it: about 7 ms and 19 MiB a hash. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** More would fill the machine's memory and starve everything else of its threads. */
const MOST_AT_ONCE = 4
/** One core is left to everybody who does not log in. */
const HASHES_AT_ONCE = Math.min(MOST_AT_ONCE, Math.max(1, availableParallelism() - 1))
/** Some seconds of work at most; whoever comes after that is told to come back. */
const HASHES_WAITING = 500

/**
 * Hashes passwords, which must be in the form `normalizePassword` gives them. `whose` is the client address or account that asks:
 * they take turns, so that many requests of one of them delay another by one hash at most.
 * @throws ServiceError SERVICE_UNAVAILABLE when too many wait
 */
export function createPasswordHasher({ atOnce = HASHES_AT_ONCE, waiting = HASHES_WAITING } = {}) {
  const limit = createFairLimit({ maxRunning: atOnce, waiting })
  /** Compared with for unknown addresses, so that they take as long as known ones. */
  const nobody = inTurn('', () => hash(randomBytes(16).toString('hex'), COST))

  async function inTurn<T>(whose: string, work: () => Promise<T>): Promise<T> {
    try {
      return await limit(whose, work)
    } catch (error) {
      if (!(error instanceof QueueFull)) throw error
      throw new ServiceError('SERVICE_UNAVAILABLE', 'Too many logins at the moment, try again', {
        cause: error,
        retryAfterSeconds: 1,
      })
    }
  }

  return {
    hash: (password: string, whose: string): Promise<string> => inTurn(whose, () => hash(password, COST)),

    /** Takes the same time without a stored hash, and then is always false. */
    async verify(passwordHash: string | null, password: string, whose: string): Promise<boolean> {
      const reference = passwordHash ?? (await nobody)
      const matches = await inTurn(whose, () => verify(reference, password))
      return matches && passwordHash !== null
    },
  }
}
