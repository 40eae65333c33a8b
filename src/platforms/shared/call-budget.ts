import { PlatformError } from '../errors.ts'
import type { HttpResponse, HttpClient, HttpRequest } from './http.ts'

/** A rate limit as a response reports it. */
export interface CallWindow {
  /** Distinguishes the limits that one response reports. */
  span: string
  limit: number
  remaining: number
  endsAt: number
}

interface CallBudgetOptions {
  label: string
  parseWindows(answer: Pick<HttpResponse, 'header'>): CallWindow[]
  /** Returns the key of the limit that a call counts against; without it one limit covers all calls. */
  toBudgetKey?(call: Pick<HttpRequest, 'url' | 'headers'>): string
}

/** The share of a limit that is reserved for publishing. */
const RESERVED_SHARE = 0.5
const MAX_REMEMBERED = 20_000

/**
 * Keeps calls that read counts from using up the rate limit of publishing. Every response reports the remaining calls,
 * including those of other processes; reading stops when it would cut into the reserve.
 */
export function createCallBudget({ label, parseWindows, toBudgetKey = () => '' }: CallBudgetOptions) {
  const windows = new Map<string, Map<string, CallWindow>>()

  function recordWindows(budgetKey: string, answer: HttpResponse): void {
    for (const window of parseWindows(answer)) {
      if (![window.limit, window.remaining, window.endsAt].every(Number.isFinite)) continue
      if (windows.size >= MAX_REMEMBERED) windows.clear()
      const windowsBySpan = windows.get(budgetKey) ?? new Map<string, CallWindow>()
      windows.set(budgetKey, windowsBySpan.set(window.span, window))
    }
  }

  /** @throws PlatformError `rate_limited` when too few calls remain */
  function assertRoom(budgetKey: string): void {
    const now = Date.now()
    const usedUp = [...(windows.get(budgetKey)?.values() ?? [])].filter(
      ({ limit, remaining, endsAt }) => endsAt > now && remaining <= limit * RESERVED_SHARE,
    )
    if (usedUp.length === 0) return
    throw new PlatformError('rate_limited', `The remaining calls to ${label} are reserved for publishing`, {
      certain: true,
      retryAfterMs: Math.max(...usedUp.map(({ endsAt }) => endsAt - now)),
    })
  }

  function observe(http: HttpClient): HttpClient {
    return {
      ...http,
      async send(call) {
        const answer = await http.send(call)
        recordWindows(toBudgetKey(call), answer)
        return answer
      },
    }
  }

  return {
    /** Returns the same client; it records the limits that responses report. */
    watch: observe,
    /** Returns a client for calls that can wait: it refuses them while only the reserve remains. */
    throttle(http: HttpClient): HttpClient {
      const watched = observe(http)
      return {
        ...watched,
        async send(call) {
          assertRoom(toBudgetKey(call))
          return watched.send(call)
        },
      }
    },
  }
}
