import { setTimeout as delay } from 'node:timers/promises'

/** The process's time. Tests put their own in its place. */
export interface Clock {
  now(): Date
  /** Resolves at or after `instant`, never before it; rejects with the signal's reason when that aborts first. */
  sleepUntil(instant: Date, signal?: AbortSignal): Promise<void>
}

/** Timers take at most a 32-bit delay, and may wake a little early: so long waits are cut up, and every wake is checked. */
const LONGEST_TIMER_MS = 60_000

export const systemClock: Clock = {
  now: () => new Date(),
  async sleepUntil(instant, signal) {
    for (let left = instant.getTime() - Date.now(); left > 0; left = instant.getTime() - Date.now()) {
      await delay(Math.min(left, LONGEST_TIMER_MS), undefined, signal ? { signal } : {})
    }
    signal?.throwIfAborted()
  },
}
