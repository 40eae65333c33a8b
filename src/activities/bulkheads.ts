import {
  BrokenCircuitError,
  bulkhead,
  BulkheadRejectedError,
  circuitBreaker,
  ConsecutiveBreaker,
  handleWhenResult,
  wrap,
} from 'cockatiel'
import type { Platform } from '../domain/platforms.ts'
import { SECOND } from '../domain/times.ts'
import type { Metrics } from '../integrations/metrics.ts'
import { PlatformError } from '../platforms/errors.ts'

/** As many as may wait armed in one worker by default: a burst of them is sent, not sent away. */
const LONGEST_QUEUE = 2_000
const FAILURES_TO_OPEN = 10
const HALF_OPEN_AFTER_MS = 5 * SECOND

/** Sending is crowded or the platform is down: nothing was sent. */
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
export function createBulkheads(callsInFlight: number, metrics: Pick<Metrics, 'sendWaited' | 'sendCrowdedOut'>) {
  const compartments = new Map<string, ReturnType<typeof compartment>>()

  function compartment() {
    // Only what goes through the breaker lets it try the server again: so nobody may ask for its state and turn back.
    const breaker = circuitBreaker(handleWhenResult(isServerTrouble), {
      halfOpenAfter: HALF_OPEN_AFTER_MS,
      breaker: new ConsecutiveBreaker(FAILURES_TO_OPEN),
    })
    return wrap(bulkhead(callsInFlight, LONGEST_QUEUE), breaker)
  }

  function of(platform: Platform, server: string) {
    const name = `${platform} ${server}`
    const known = compartments.get(name) ?? compartment()
    compartments.set(name, known)
    return known
  }

  return {
    /**
     * Runs `send` when there is room. What its call failed with it returns as `error`: the breaker goes by that.
     * @throws Crowded before `send` ran, when the line is too long or the breaker is open; and what `send` throws
     */
    async send<T extends object>(platform: Platform, server: string, send: () => Promise<T>): Promise<T> {
      const inLineSince = performance.now()
      try {
        return await of(platform, server).execute(() => {
          metrics.sendWaited(platform, performance.now() - inLineSince)
          return send()
        })
      } catch (error) {
        const isFull = error instanceof BulkheadRejectedError
        if (!isFull && !(error instanceof BrokenCircuitError)) throw error
        metrics.sendCrowdedOut(platform, isFull ? 'full' : 'failing')
        throw new Crowded(platform)
      }
    },
  }
}

export type Bulkheads = ReturnType<typeof createBulkheads>

function isServerTrouble(result: unknown): boolean {
  const { error } = result as { error?: unknown }
  return error instanceof PlatformError && error.class === 'transient'
}
