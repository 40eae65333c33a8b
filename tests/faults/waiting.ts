import { setTimeout as delay } from 'node:timers/promises'

const POLL_MS = 100

/** Asks until the answer fits, for states that no event announces; fails with the last answer. */
export async function until<T>(
  what: string,
  ask: () => Promise<T> | T,
  fits: (answer: T) => boolean,
  withinMs = 60_000,
): Promise<T> {
  for (const end = Date.now() + withinMs; ; await delay(POLL_MS)) {
    const answer = await ask()
    if (fits(answer)) return answer
    if (Date.now() > end) {
      throw new Error(`${what}: not within ${withinMs / 1_000} s; the last answer was ${JSON.stringify(answer)}`)
    }
  }
}
