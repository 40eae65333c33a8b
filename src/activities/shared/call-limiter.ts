import { BrokenCircuitError, circuitBreaker, ConsecutiveBreaker, handleWhenResult } from 'cockatiel'
import { createFairLimit, QueueFull } from '../../domain/shared/fair-limit.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { PlatformError } from '../../platforms/errors.ts'
import type { Metrics } from '../../telemetry/metrics.ts'

/** The number of deliveries that one worker arms by default, so that a burst of them is sent and not rejected. */
const MAX_QUEUED_CALLS = 6_000
const FAILURES_TO_OPEN = 10
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

/**
 * Limits the concurrent calls to one server, takes turns between users, and stops calling while the server keeps failing.
 * @param isServerFailure whether the result of a call counts against the server
 */
export function createServerLimiter<T>(maxConcurrentCalls: number, isServerFailure: (result: T) => boolean) {
  // Only a call that passes the breaker lets it close again. Never read the breaker's state to skip a call.
  const breaker = circuitBreaker(
    handleWhenResult((result) => isServerFailure(result as T)),
    {
      halfOpenAfter: HALF_OPEN_AFTER_MS,
      breaker: new ConsecutiveBreaker(FAILURES_TO_OPEN),
    },
  )
  const limit = createFairLimit({ maxRunning: maxConcurrentCalls, waiting: MAX_QUEUED_CALLS })

  return {
    /** @throws CapacityExceeded before `call` runs, and what `call` throws */
    async run<R extends T>(userId: string, call: () => Promise<R>): Promise<R> {
      try {
        return await limit(userId, () => breaker.execute(call))
      } catch (error) {
        if (error instanceof QueueFull) throw new CapacityExceeded('full', { cause: error })
        if (error instanceof BrokenCircuitError) throw new CapacityExceeded('failing', { cause: error })
        throw error
      }
    },
  }
}

interface Destination {
  platform: Platform
  /** Empty for a platform that is a single server. */
  server: string
  userId: string
}

/**
 * Holds one server limiter for each platform server. A hanging platform delays no other platform, and a user with many posts delays
 * other users by one call.
 */
export function createCallLimiter(maxConcurrentCalls: number, metrics: Pick<Metrics, 'callDequeued' | 'callRejected'>) {
  const limiters = new Map<string, ReturnType<typeof createServerLimiter<object>>>()

  function findLimiter(platform: Platform, server: string) {
    const name = `${platform} ${server}`
    const limiter = limiters.get(name) ?? createServerLimiter<object>(maxConcurrentCalls, isTransientFailure)
    limiters.set(name, limiter)
    return limiter
  }

  return {
    /**
     * Makes `call` when the server has capacity. The call returns its platform error as `error`, which the circuit breaker counts.
     * @throws CapacityExceeded before `call` runs, and what `call` throws
     */
    async run<T extends object>({ platform, server, userId }: Destination, call: () => Promise<T>): Promise<T> {
      const queuedAt = performance.now()
      try {
        return await findLimiter(platform, server).run(userId, () => {
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

function isTransientFailure(result: object): boolean {
  const { error } = result as { error?: unknown }
  return error instanceof PlatformError && error.class === 'transient'
}
