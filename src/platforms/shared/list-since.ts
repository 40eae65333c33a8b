import { MINUTE } from '../../domain/shared/times.ts'

/** The maximum difference between a platform's clock and ours. The times of some are whole seconds. */
export const CLOCK_TOLERANCE_MS = MINUTE

interface Listing<T> {
  /** Milliseconds since 1970. */
  since: number
  maxPages: number
  /** Returns the time of an entry, milliseconds since 1970; NaN for one without a readable time, which is returned as well. */
  toTime(entry: T): number
  /** Reads a page, the newest first. Without `next` there is no page after it; a page may be empty. */
  load(next: string | undefined): Promise<{ found: readonly T[]; next: string | undefined }>
}

/** Lists what a platform returns in pages back to an instant: the newest first, and whether these are all. */
export async function listSince<T>({ since, maxPages, toTime, load }: Listing<T>) {
  const found: T[] = []
  let next: string | undefined
  for (let page = 0; page < maxPages; page++) {
    const loaded = await load(next)
    const recent = loaded.found.filter((entry) => !(toTime(entry) < since))
    found.push(...recent)
    next = loaded.next
    const isComplete = next === undefined || recent.length < loaded.found.length
    if (isComplete) return { found, isComplete }
  }
  return { found, isComplete: false }
}
