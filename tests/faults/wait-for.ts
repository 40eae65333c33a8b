import { setTimeout as delay } from 'node:timers/promises'

const POLL_MS = 100

/**
 * Polls until the value fits, for states that no event announces.
 * @throws Error with the description and the last value after the time limit
 */
export async function waitFor<T>(
  description: string,
  read: () => Promise<T> | T,
  fits: (value: T) => boolean,
  withinMs = 60_000,
): Promise<T> {
  for (const end = Date.now() + withinMs; ; await delay(POLL_MS)) {
    const value = await read()
    if (fits(value)) return value
    if (Date.now() > end) {
      throw new Error(`${description}: not within ${withinMs / 1_000} s; the last value was ${JSON.stringify(value)}`)
    }
  }
}
