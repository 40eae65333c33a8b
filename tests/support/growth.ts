import type { HostileText } from './hostile-texts.ts'

/** Runs below this say nothing about growth, and harm no user: what is quadratic takes far longer on the longest text. */
const NEGLIGIBLE_MS = 20
/** A part of the longest text is tried first, so that what takes hours on the whole is found out early. */
const PARTS = [16, 1]
/** The clock of CPU time is coarse on some machines. */
const MEASURED_MS = 60
/** A ratio counts when it is found in all of so many tries: the garbage collector spoils one or two. */
const TRIES = 4

export const MAX_GROWTH = 3

/**
 * The factor by which the time of `run` grows, at worst, when the text gets twice as long; 1 where all of it takes no time.
 * Measured in the CPU time of this thread, which other processes do not add to. Ends with the first factor above `MAX_GROWTH`.
 */
export function worstGrowth(run: (text: string) => unknown, text: HostileText, longest: number): number {
  let worst = 1
  for (const part of PARTS) {
    const length = Math.floor(longest / part)
    const whole = text.make(length)
    if (cpuMs(() => run(whole)) < NEGLIGIBLE_MS) continue
    worst = Math.max(worst, growth(run, text.make(length / 2), whole))
    if (worst > MAX_GROWTH) break
  }
  return worst
}

function growth(run: (text: string) => unknown, half: string, whole: string): number {
  let least = Infinity
  for (let attempt = 0; attempt < TRIES && least > MAX_GROWTH; attempt++) {
    const long = averageCpuMs(() => run(whole))
    if (long < NEGLIGIBLE_MS) return 1
    least = Math.min(least, long / averageCpuMs(() => run(half)))
  }
  return least
}

function averageCpuMs(work: () => unknown): number {
  let spentMs = 0
  for (let runs = 1; ; runs++) {
    spentMs += cpuMs(work)
    if (spentMs >= MEASURED_MS) return spentMs / runs
  }
}

function cpuMs(work: () => unknown): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
