import {
  bulkhead,
  BulkheadRejectedError,
  circuitBreaker,
  CircuitState,
  ConsecutiveBreaker,
  handleWhen,
} from 'cockatiel'
import type { Platform } from '../domain/platforms.ts'
import { SECOND } from '../domain/times.ts'
import { PlatformError } from '../platforms/errors.ts'

const LONGEST_QUEUE = 1_000
const FAILURES_TO_OPEN = 10
const HALF_OPEN_AFTER_MS = 5 * SECOND

/** Sending is crowded or the platform is down: nothing was claimed and nothing was sent. */
export class Crowded extends Error {
  constructor(platform: Platform) {
    super(`no room to send to ${platform}`)
    this.name = 'Crowded'
  }
}

/**
 * One compartment for each server we talk to: a limit on sends in flight, and a breaker that opens while the server
 * keeps failing. So a hanging platform holds up nobody but itself.
 */
export function createBulkheads(callsInFlight: number) {
  const compartments = new Map<string, ReturnType<typeof compartment>>()

  function compartment() {
    return {
      sends: bulkhead(callsInFlight, LONGEST_QUEUE),
      breaker: circuitBreaker(
        handleWhen((error) => error instanceof PlatformError && error.class === 'transient'),
        { halfOpenAfter: HALF_OPEN_AFTER_MS, breaker: new ConsecutiveBreaker(FAILURES_TO_OPEN) },
      ),
    }
  }

  function of(platform: Platform, server: string) {
    const name = `${platform} ${server}`
    const known = compartments.get(name) ?? compartment()
    compartments.set(name, known)
    return known
  }

  return {
    /**
     * Runs `send` when there is room; `call` inside it goes through the breaker.
     * @throws Crowded before `send` ran, when the line is too long or the breaker is open
     */
    async send<T>(
      platform: Platform,
      server: string,
      send: (call: <R>(work: () => Promise<R>) => Promise<R>) => Promise<T>,
    ): Promise<T> {
      const { sends, breaker } = of(platform, server)
      if (breaker.state === CircuitState.Open) throw new Crowded(platform)
      try {
        return await sends.execute(() => {
          if (breaker.state === CircuitState.Open) throw new Crowded(platform)
          return send((work) => breaker.execute(work))
        })
      } catch (error) {
        if (error instanceof BulkheadRejectedError) throw new Crowded(platform)
        throw error
      }
    },
  }
}

export type Bulkheads = ReturnType<typeof createBulkheads>
