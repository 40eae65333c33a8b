import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { ServiceError } from '../domain/service-error.ts'

/** argon2id, the library's default algorithm, at the cost OWASP gives for it: about 7 ms and 19 MiB a hash. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** More would fill the machine's memory and starve everything else of its threads. */
const MOST_AT_ONCE = 4
/** One core is left to everybody who does not log in. */
const HASHES_AT_ONCE = Math.min(MOST_AT_ONCE, Math.max(1, availableParallelism() - 1))
/** Some seconds of work at most; whoever comes after that is told to come back. */
const HASHES_WAITING = 500

/** Hashes passwords, which must be in the form `normalizePassword` gives them. */
export function createPasswordHasher({ atOnce = HASHES_AT_ONCE, waiting = HASHES_WAITING } = {}) {
  const queue = createQueue(atOnce, waiting)
  /** Compared with for unknown addresses, so that they take as long as known ones. */
  const nobody = queue(() => hash(randomBytes(16).toString('hex'), COST))

  return {
    hash: (password: string): Promise<string> => queue(() => hash(password, COST)),

    /** Takes the same time without a stored hash, and then is always false. */
    async verify(passwordHash: string | null, password: string): Promise<boolean> {
      const reference = passwordHash ?? (await nobody)
      const matches = await queue(() => verify(reference, password))
      return matches && passwordHash !== null
    },
  }
}

/** Runs at most `atOnce` jobs side by side, and lets at most `waiting` more wait for their turn. */
function createQueue(atOnce: number, waiting: number) {
  let running = 0
  const turns: (() => void)[] = []

  async function takeTurn(): Promise<void> {
    if (running < atOnce) {
      running += 1
      return
    }
    if (turns.length >= waiting) {
      throw new ServiceError('SERVICE_UNAVAILABLE', 'Too many logins at the moment, try again', {
        retryAfterSeconds: 1,
      })
    }
    await new Promise<void>((resolve) => turns.push(resolve))
  }

  function passTurn(): void {
    const next = turns.shift()
    if (next) next()
    else running -= 1
  }

  return async <T>(job: () => Promise<T>): Promise<T> => {
    await takeTurn()
    try {
      return await job()
    } finally {
      passTurn()
    }
  }
}
