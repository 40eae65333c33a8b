import { setTimeout as delay } from 'node:timers/promises'

/** The time of this process. Tests replace it. */
export interface Clock {
  now(): Date
  /** Resolves at or after `instant`, never before it; rejects with the signal's reason when that aborts first. */
  sleepUntil(instant: Date, signal?: AbortSignal): Promise<void>
}

/** A timer takes a 32-bit delay and may wake early, so long waits are split and checked after each timer. */
const MAX_TIMER_MS = 60_000

export const systemClock: Clock = {
  now: () => new Date(),
  async sleepUntil(instant, signal) {
    for (let left = instant.getTime() - Date.now(); left > 0; left = instant.getTime() - Date.now()) {
      await delay(Math.min(left, MAX_TIMER_MS), undefined, signal ? { signal } : {})
    }
    signal?.throwIfAborted()
  },
}
