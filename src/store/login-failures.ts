import { MINUTE } from '../domain/times.ts'
import { normalizeEmail } from '../domain/user.ts'
import { hashed, tooMany, type RateLimits } from './rate-limits.ts'

const WINDOW_MS = 15 * MINUTE

interface Attempt {
  email: string
  ipAddress: string
}

/**
 * Failed logins of the last 15 minutes, per account and address and per address alone. Kept in MongoDB because they must
 * hold over processes and restarts (contract section 11). Successes do not count.
 */
export function createLoginFailures(
  { limiter }: Pick<RateLimits, 'limiter'>,
  limits: { perAccount: number; perAddress: number },
) {
  const byAccount = limiter({ name: 'login-account', points: limits.perAccount, windowMs: WINDOW_MS })
  const byAddress = limiter({ name: 'login-address', points: limits.perAddress, windowMs: WINDOW_MS })
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
    if (wait > 0) throw tooMany('Too many failed logins, try again later', 'login', wait)
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

function accountKey(email: string, ipAddress: string): string {
  return `${hashed(normalizeEmail(email))}|${ipAddress}`
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
