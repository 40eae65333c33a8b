import { BrokenCircuitError, circuitBreaker, ConsecutiveBreaker, handleWhenResult, type IBreaker } from 'cockatiel'
import { createAdaptiveLimit, type CallResult } from '../../flow/adaptive-limit.ts'
import { createFairLimit, QueueFull } from '../../flow/fair-limit.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { PlatformError } from '../../platforms/errors.ts'
import type { Metrics } from '../../telemetry/metrics.ts'

/** The number of deliveries that one worker arms by default, so that a burst of them is sent and not rejected. */
const MAX_QUEUED_CALLS = 6_000
const FAILURES_TO_OPEN = 10
/** Fewer accounts may fail by their own fault. */
const ACCOUNTS_TO_OPEN = 3
const HALF_OPEN_AFTER_MS = 5 * SECOND

/** Thrown before a call is made: the queue is full, or the circuit breaker is open. */
export class CapacityExceeded extends Error {
  readonly reason: 'full' | 'failing'
  constructor(reason: CapacityExceeded['reason'], options?: ErrorOptions) {
    super(reason === 'full' ? 'too many calls are waiting' : 'the server keeps failing', options)
    this.name = 'CapacityExceeded'
    this.reason = reason
  }
}

/** What the result of a call reveals about the server. */
export interface CallFindings extends CallResult {
  isFailure: boolean
}

/**
 * Limits the concurrent calls to one server, takes turns between users, and stops calling while the server keeps failing. Calls of an
 * account that keeps failing stop alone.
 * @param judge reads the result of a call
 */
export function createServerLimiter<T>(limits: CallLimits, judge: (result: T) => CallFindings) {
  const adaptive = createAdaptiveLimit(limits)
  const limit = createFairLimit({ maxRunning: adaptive.current, waiting: MAX_QUEUED_CALLS })
  const failures = createServerBreaker()
  const server = circuitBreaker(onFailure, { halfOpenAfter: HALF_OPEN_AFTER_MS, breaker: failures.breaker })
  /** The accounts that are being called or whose last call failed. */
  const accounts = new Map<string, ReturnType<typeof createAccountBreaker>>()
  /** Another 429 for the same account is its own limit, such as posts per day. */
  let lastThrottled: string | undefined

  async function callServer<R extends T>(accountId: string, call: () => Promise<R>): Promise<Judged<R>> {
    const running = adaptive.begin(performance.now())
    // A call that throws did not reach the server.
    let findings: CallFindings = { isFailure: false, isThrottled: false, latencyMs: null }
    try {
      const result = await call()
      findings = judge(result)
      if (findings.isFailure) failures.add(accountId)
      return { result, isFailure: findings.isFailure }
    } finally {
      const isThrottled = findings.isThrottled && accountId !== lastThrottled
      if (isThrottled) lastThrottled = accountId
      adaptive.end(running, { latencyMs: findings.latencyMs, isThrottled }, performance.now())
    }
  }

  // Only a call that passes a breaker lets it close again. Never read a breaker's state to skip a call.
  async function callAs<R extends T>(accountId: string, call: () => Promise<R>): Promise<R> {
    const account = accounts.get(accountId) ?? createAccountBreaker()
    accounts.set(accountId, account)
    let isFailing = false
    try {
      const judged = await account.execute(() => server.execute(() => callServer(accountId, call)))
      isFailing = judged.isFailure
      return judged.result
    } catch (error) {
      isFailing = error instanceof BrokenCircuitError
      throw error
    } finally {
      if (isFailing) accounts.set(accountId, account)
      else accounts.delete(accountId)
    }
  }

  return {
    /**
     * @param caller.weight the calls that the user makes per turn, 1 by default
     * @throws CapacityExceeded before `call` runs, and what `call` throws
     */
    async run<R extends T>({ userId, accountId, weight = 1 }: Caller, call: () => Promise<R>): Promise<R> {
      try {
        return await limit(userId, () => callAs(accountId, call), { weight })
      } catch (error) {
        if (error instanceof QueueFull) throw new CapacityExceeded('full', { cause: error })
        if (error instanceof BrokenCircuitError) throw new CapacityExceeded('failing', { cause: error })
        throw error
      }
    },
  }
}

/** The user and the account of a call. */
export interface Caller {
  userId: string
  accountId: string
  weight?: number
}

/** The numbers of concurrent calls to one server: at first, and at most. */
interface CallLimits {
  start: number
  most: number
}

interface Judged<R> {
  result: R
  isFailure: boolean
}

const onFailure = handleWhenResult((judged) => (judged as Judged<unknown>).isFailure)

const createAccountBreaker = () =>
  circuitBreaker(onFailure, { halfOpenAfter: HALF_OPEN_AFTER_MS, breaker: new ConsecutiveBreaker(FAILURES_TO_OPEN) })

/** Opens after ten failures in a row of at least three accounts. `add` comes before the failure that the breaker then sees. */
function createServerBreaker() {
  const accounts = new Set<string>()
  let inARow = 0
  const breaker: IBreaker = {
    state: undefined,
    success() {
      inARow = 0
      accounts.clear()
    },
    failure() {
      inARow += 1
      return inARow >= FAILURES_TO_OPEN && accounts.size >= ACCOUNTS_TO_OPEN
    },
  }
  return { breaker, add: (accountId: string) => void accounts.add(accountId) }
}

/** The part of a call's result that the limiter reads. */
type PlatformCall = object & {
  error?: unknown
  /** Set where the latency shows how busy the server is, milliseconds. */
  latencyMs?: number
}

interface Destination extends Caller {
  platform: Platform
  /** Empty for a platform that is a single server. */
  server: string
}

/**
 * Holds one server limiter for each platform server. A hanging platform delays no other platform, and a user with many posts delays
 * other users by the calls of one turn.
 */
export function createCallLimiter(limits: CallLimits, metrics: Pick<Metrics, 'callDequeued' | 'callRejected'>) {
  const limiters = new Map<string, ReturnType<typeof createServerLimiter<PlatformCall>>>()

  function findLimiter(platform: Platform, server: string) {
    const name = `${platform} ${server}`
    const limiter = limiters.get(name) ?? createServerLimiter<PlatformCall>(limits, judgePlatformCall)
    limiters.set(name, limiter)
    return limiter
  }

  return {
    /**
     * Makes `call` when the server has capacity.
     * @throws CapacityExceeded before `call` runs, and what `call` throws
     */
    async run<T extends PlatformCall>(destination: Destination, call: () => Promise<T>): Promise<T> {
      const { platform, server, ...caller } = destination
      const queuedAt = performance.now()
      try {
        return await findLimiter(platform, server).run(caller, () => {
          metrics.callDequeued(platform, performance.now() - queuedAt)
          return call()
        })
      } catch (error) {
        if (error instanceof CapacityExceeded) metrics.callRejected(platform, error.reason)
        throw error
      }
    },
  }
}

export type CallLimiter = ReturnType<typeof createCallLimiter>

function judgePlatformCall({ error, latencyMs }: PlatformCall): CallFindings {
  const errorClass = error instanceof PlatformError ? error.class : null
  return {
    latencyMs: latencyMs ?? null,
    isFailure: errorClass === 'transient',
    isThrottled: errorClass === 'rate_limited',
  }
}
