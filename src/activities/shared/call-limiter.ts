import type { Platform } from '../../domain/shared/platforms.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import { PlatformError } from '../../platforms/errors.ts'
import { createCompartment, NoRoom } from './compartment.ts'

/** Whose call goes where. */
interface Destination {
  platform: Platform
  /** Empty where the platform is one server. */
  server: string
  userId: string
}

/** Sending is crowded or the platform is down: nothing was sent. */
export class CapacityExceeded extends Error {
  constructor(platform: Platform) {
    super(`no room to send to ${platform}`)
    this.name = 'Crowded'
  }
}

/**
 * One compartment for each server we talk to: a limit on sends in flight, with turns per user, and a breaker that opens while the
 * server keeps failing. So a hanging platform holds up nobody but itself, and a user with many posts delays others by one send.
 */
export function createCallLimiter(callsInFlight: number, metrics: Pick<Metrics, 'callDequeued' | 'callRejected'>) {
  const compartments = new Map<string, ReturnType<typeof createCompartment<object>>>()

  function of(platform: Platform, server: string) {
    const name = `${platform} ${server}`
    const known = compartments.get(name) ?? createCompartment<object>(callsInFlight, isServerTrouble)
    compartments.set(name, known)
    return known
  }

  return {
    /**
     * Runs `send` when there is room. What its call failed with it returns as `error`: the breaker goes by that.
     * @throws Crowded before `send` ran, when the line is too long or the breaker is open; and what `send` throws
     */
    async run<T extends object>({ platform, server, userId }: Destination, send: () => Promise<T>): Promise<T> {
      const inLineSince = performance.now()
      try {
        return await of(platform, server).run(userId, () => {
          metrics.callDequeued(platform, performance.now() - inLineSince)
          return send()
        })
      } catch (error) {
        if (!(error instanceof NoRoom)) throw error
        metrics.callRejected(platform, error.reason)
        throw new CapacityExceeded(platform)
      }
    },
  }
}

export type CallLimiter = ReturnType<typeof createCallLimiter>

function isServerTrouble(result: object): boolean {
  const { error } = result as { error?: unknown }
  return error instanceof PlatformError && error.class === 'transient'
}
