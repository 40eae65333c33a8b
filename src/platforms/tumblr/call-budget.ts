import { SECOND } from '../../domain/times.ts'
import { PlatformError } from '../errors.ts'
import type { HttpAnswer, HttpClient } from '../shared/http.ts'

interface Window {
  limit: number
  remaining: number
  endsAt: number
}

/** The part of an hour's and of a day's calls that is left to publishing. */
const KEPT_PART = 0.5

/**
 * Tumblr grants calls to the application, not to its users: whoever looks at counts takes them from whoever publishes. Every answer
 * tells what is left, also of what other processes took.
 */
export function createCallBudget() {
  const windows = new Map<string, Window>()

  function note(answer: Pick<HttpAnswer, 'header'>): void {
    for (const span of ['perhour', 'perday']) {
      const [limit, remaining, seconds] = ['limit', 'remaining', 'reset'].map((name) =>
        Number(answer.header(`x-ratelimit-${span}-${name}`) ?? NaN),
      ) as [number, number, number]
      const isWhole = [limit, remaining, seconds].every((figure) => !Number.isNaN(figure))
      if (isWhole) windows.set(span, { limit, remaining, endsAt: Date.now() + seconds * SECOND })
    }
  }

  return {
    /** The same client, with what its answers tell noted. */
    watch: (http: HttpClient): HttpClient => ({
      ...http,
      async send(call) {
        const answer = await http.send(call)
        note(answer)
        return answer
      },
    }),

    /** @throws PlatformError `rate_limited` where one more call that can wait would be at the cost of publishing */
    assertRoom(): void {
      const now = Date.now()
      const spent = [...windows.values()].filter(
        ({ limit, remaining, endsAt }) => endsAt > now && remaining <= limit * KEPT_PART,
      )
      if (spent.length === 0) return
      throw new PlatformError('rate_limited', 'What is left of the calls to Tumblr is kept for publishing', {
        certain: true,
        retryAfterMs: Math.max(...spent.map(({ endsAt }) => endsAt - now)),
      })
    },
  }
}

export type CallBudget = ReturnType<typeof createCallBudget>
