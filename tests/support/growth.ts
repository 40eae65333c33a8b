import type { HostileText } from './hostile-texts.ts'

/** Runs below this time harm no user and are too short to measure. Quadratic code takes far longer on the longest text. */
const NEGLIGIBLE_MS = 20
/** The divisors of the longest text. A part is measured first, because bad code could take hours on the whole. */
const DIVISORS = [16, 1]
/** The shortest measurement: the clock of CPU time is coarse on some machines. */
const MIN_MEASURED_MS = 60
/** The number of measurements of a ratio. The lowest counts, because the garbage collector distorts some. */
const MAX_MEASUREMENTS = 4

export const MAX_GROWTH = 3

/**
 * Measures by which factor the time of `run` grows, at worst, when the text doubles. Returns 1 when every time is negligible.
 * The measure is the CPU time of this thread, which other processes do not affect. Stops at the first factor above `MAX_GROWTH`.
 */
export function worstGrowth(run: (text: string) => unknown, text: HostileText, longest: number): number {
  let worst = 1
  for (const divisor of DIVISORS) {
    const length = Math.floor(longest / divisor)
    const whole = text.make(length)
    const wholeMs = measureCpuMs(() => run(whole))
    if (wholeMs < NEGLIGIBLE_MS) continue
    const half = text.make(length / 2)
    // One run of each is enough for most functions. Only a high ratio is measured again, over many runs.
    const ratio = wholeMs / measureCpuMs(() => run(half))
    worst = Math.max(worst, ratio <= MAX_GROWTH ? ratio : measureGrowth(run, half, whole))
    if (worst > MAX_GROWTH) break
  }
  return worst
}

function measureGrowth(run: (text: string) => unknown, half: string, whole: string): number {
  let least = Infinity
  for (let attempt = 0; attempt < MAX_MEASUREMENTS && least > MAX_GROWTH; attempt++) {
    const long = measureAverageCpuMs(() => run(whole))
    if (long < NEGLIGIBLE_MS) return 1
    least = Math.min(least, long / measureAverageCpuMs(() => run(half)))
  }
  return least
}

function measureAverageCpuMs(work: () => unknown): number {
  let spentMs = 0
  for (let runs = 1; ; runs++) {
    spentMs += measureCpuMs(work)
    if (spentMs >= MIN_MEASURED_MS) return spentMs / runs
  }
}

function measureCpuMs(work: () => unknown): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
