import { setTimeout as delay } from 'node:timers/promises'
import { SECOND } from '../../domain/times.ts'

const FIRST_PAUSE_MS = SECOND / 2
const LONGEST_PAUSE_MS = 5 * SECOND

/** Looks until what it waits for is there, at growing intervals; false when it was not there in time. */
export async function pollUntil(
  look: () => Promise<boolean>,
  { waitMs, signal }: { waitMs: number; signal: AbortSignal },
): Promise<boolean> {
  const end = Date.now() + waitMs
  for (let pause = FIRST_PAUSE_MS; !(await look()); pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    if (Date.now() + pause > end) return false
    await delay(pause, undefined, { signal })
  }
  return true
}
