import { PlatformError } from '../errors.ts'
import type { HttpResponse, HttpClient, HttpRequest } from './http.ts'

/** What an answer tells of a limit that its call counted against. */
export interface CallWindow {
  /** Tells the limits apart that one answer may tell of. */
  span: string
  limit: number
  remaining: number
  endsAt: number
}

interface CallBudgetOptions {
  label: string
  parseWindows(answer: Pick<HttpResponse, 'header'>): CallWindow[]
  /** Whose limit a call counts against, as far as it is not everybody's. */
  toBudgetKey?(call: Pick<HttpRequest, 'url' | 'headers'>): string
}

/** The part of a limit that is left to publishing. */
const RESERVED_SHARE = 0.5
const MAX_REMEMBERED = 20_000

/**
 * Whoever looks at counts takes calls from whoever publishes. Every answer tells what is left, also of what other processes took, so
 * reading stops where one more call would be at the cost of publishing.
 */
export function createCallBudget({ label, parseWindows, toBudgetKey = () => '' }: CallBudgetOptions) {
  const windows = new Map<string, Map<string, CallWindow>>()

  function recordWindows(whose: string, answer: HttpResponse): void {
    for (const window of parseWindows(answer)) {
      if (![window.limit, window.remaining, window.endsAt].every(Number.isFinite)) continue
      if (windows.size >= MAX_REMEMBERED) windows.clear()
      const theirs = windows.get(whose) ?? new Map<string, CallWindow>()
      windows.set(whose, theirs.set(window.span, window))
    }
  }

  /** @throws PlatformError `rate_limited` where too little is left */
  function assertRoom(whose: string): void {
    const now = Date.now()
    const spent = [...(windows.get(whose)?.values() ?? [])].filter(
      ({ limit, remaining, endsAt }) => endsAt > now && remaining <= limit * RESERVED_SHARE,
    )
    if (spent.length === 0) return
    throw new PlatformError('rate_limited', `What is left of the calls to ${label} is kept for publishing`, {
      certain: true,
      retryAfterMs: Math.max(...spent.map(({ endsAt }) => endsAt - now)),
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
    /** The same client, with what its answers tell noted. */
    watch: observe,
    /** For calls that can wait: the same client, as long as there is room. */
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
