import { MINUTE, SECOND } from '../shared/times.ts'

/** The wait of a delivery for a server that could not be reached. */
export interface Outage {
  /** The origin of the server. */
  server: string
  /** When a call of this delivery failed first. Calls that reach the server in between do not change it. */
  since: Date
  /** When the delivery was last deferred for it. A later return of the server ends the wait. */
  at: Date
}

/** The longest wait that a server may state in its place, for example in a 503. */
const LONGEST_STATED_MS = 90 * SECOND

/**
 * Returns the wait before the next try to reach a server: short at first, later between 60 and 90 s.
 * @param elapsedMs the time since the first failure
 * @param jitter 0 to 1
 */
export function toProbeWaitMs(elapsedMs: number, jitter: number, statedMs = 0): number {
  const wait = Math.min(Math.max(SECOND, 4 * elapsedMs), MINUTE) * (1 + jitter / 2)
  return Math.max(wait, Math.min(statedMs, LONGEST_STATED_MS))
}

/**
 * Returns the state of a delivery after an attempt; null when it does not wait for a server.
 * @param server the origin that the attempt could not reach
 */
export function toOutage(before: Outage | null | undefined, server: string | undefined, now: Date): Outage | null {
  if (server === undefined) return null
  return { server, since: before?.server === server ? before.since : now, at: now }
}
