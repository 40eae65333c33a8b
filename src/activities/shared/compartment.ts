import { BrokenCircuitError, circuitBreaker, ConsecutiveBreaker, handleWhenResult } from 'cockatiel'
import { createFairLimit, QueueFull } from '../../domain/shared/fair-limit.ts'
import { SECOND } from '../../domain/shared/times.ts'

/** As many as may wait armed in one worker by default: a burst of them is sent, not sent away. */
const LONGEST_QUEUE = 2_000
const FAILURES_TO_OPEN = 10
const HALF_OPEN_AFTER_MS = 5 * SECOND

/** Thrown before the call was made: the line is full, or the server keeps failing. */
export class NoRoom extends Error {
  readonly reason: 'full' | 'failing'
  constructor(reason: NoRoom['reason'], cause: unknown) {
    super(reason === 'full' ? 'the line is full' : 'the server keeps failing', { cause })
    this.name = 'NoRoom'
    this.reason = reason
  }
}

/** For one server we talk to: a limit on calls in flight, with turns per user, and a breaker that opens while results tell of trouble. */
export function createCompartment<T>(callsInFlight: number, isTrouble: (result: T) => boolean) {
  // Only what goes through the breaker lets it try the server again: so nobody may ask for its state and turn back.
  const breaker = circuitBreaker(
    handleWhenResult((result) => isTrouble(result as T)),
    {
      halfOpenAfter: HALF_OPEN_AFTER_MS,
      breaker: new ConsecutiveBreaker(FAILURES_TO_OPEN),
    },
  )
  const limit = createFairLimit({ maxRunning: callsInFlight, waiting: LONGEST_QUEUE })

  return {
    /** @throws NoRoom, and what `call` throws */
    async run<R extends T>(userId: string, call: () => Promise<R>): Promise<R> {
      try {
        return await limit(userId, () => breaker.execute(call))
      } catch (error) {
        if (error instanceof QueueFull) throw new NoRoom('full', error)
        if (error instanceof BrokenCircuitError) throw new NoRoom('failing', error)
        throw error
      }
    },
  }
}
