import { SECOND } from '../domain/shared/times.ts'

interface AdaptiveLimitOptions {
  /** The number of concurrent calls at first, and again after a minute without a full load. */
  start: number
  /** The largest number. */
  most: number
}

/** One call while it runs. */
export interface RunningCall {
  startedAt: number
  /** Whether no more calls ran with it than at the start of a load. */
  isCalm: boolean
}

/** What a call reveals about its server. */
export interface CallResult {
  /** The time until the response, milliseconds; null when it says nothing about the load, as with a call that carries a file. */
  latencyMs: number | null
  /** Whether the server asked for fewer calls (429). */
  isThrottled: boolean
}

/** The longest latency that still counts as unchanged: the latency of a calm server by this factor, and the jitter of a fast one. */
const STEADY_FACTOR = 1.5
const JITTER_MS = 10
/** The weight of a call in the mean of a calm server, and of a busy one. */
const CALM_WEIGHT = 0.05
const BUSY_WEIGHT = 0.1
const SLOWER_FACTOR = 0.75
const THROTTLED_FACTOR = 0.5
/** A throttled server gets at least so many concurrent calls. */
const LEAST = 4
const IDLE_AFTER_MS = 60 * SECOND

/**
 * How many calls to one server may run concurrently: more while its latency holds, fewer when it slows down or answers 429 (slow
 * start, then additive increase and multiplicative decrease, as TCP controls congestion). Slowness lowers the limit to `start`, a
 * 429 further.
 */
export function createAdaptiveLimit({ start, most }: AdaptiveLimitOptions) {
  let limit = start
  /** Up to here every call raises the limit by one, above it every full round of calls. */
  let doubleUntil = most
  let running = 0
  let calmMs: number | null = null
  let busyMs: number | null = null
  let lastLoweredAt = -Infinity
  let lastFullAt = -Infinity

  function lower(factor: number, least: number, now: number): void {
    limit = Math.max(Math.min(limit, least), limit * factor)
    doubleUntil = limit
    busyMs = null
    lastLoweredAt = now
  }

  function raise(): void {
    limit = Math.min(most, limit + (limit < doubleUntil ? 1 : 1 / limit))
  }

  function learn(latencyMs: number, isCalm: boolean): void {
    if (isCalm) calmMs = mix(calmMs, latencyMs, CALM_WEIGHT)
    else busyMs = mix(busyMs, latencyMs, BUSY_WEIGHT)
  }

  function isSlower(): boolean {
    return calmMs !== null && busyMs !== null && busyMs > calmMs * STEADY_FACTOR + JITTER_MS
  }

  return {
    current: (): number => Math.floor(limit),

    begin(now: number): RunningCall {
      if (now - lastFullAt > IDLE_AFTER_MS && now - lastLoweredAt > IDLE_AFTER_MS) {
        limit = start
        doubleUntil = most
      }
      running += 1
      if (running >= Math.floor(limit)) lastFullAt = now
      return { startedAt: now, isCalm: running <= start }
    },

    end({ startedAt, isCalm }: RunningCall, { latencyMs, isThrottled }: CallResult, now: number): void {
      running -= 1
      // Calls that began before the limit was lowered reveal nothing about the new one.
      if (startedAt < lastLoweredAt) return
      if (isThrottled) {
        lower(THROTTLED_FACTOR, Math.min(LEAST, start), now)
        return
      }
      if (latencyMs === null) return
      learn(latencyMs, isCalm)
      if (isSlower() && limit > start) lower(SLOWER_FACTOR, start, now)
      else if (lastFullAt >= startedAt && !isSlower()) raise()
    },
  }
}

function mix(mean: number | null, value: number, weight: number): number {
  return mean === null ? value : mean + weight * (value - mean)
}
