import type { HostileText } from './hostile-texts.ts'

/** Runs below this time harm no user and are too short to measure. Quadratic code takes far longer on the longest text. */
const NEGLIGIBLE_MS = 20
/** The part of the longest text that is measured first, because bad code could take hours on the whole. */
const PART = 1 / 16
/**
 * The whole text takes 16 times as long as the part in linear time, and 256 times in quadratic. Below this factor, about half of the
 * time of the whole is quadratic at most, and it grows by less than `MAX_GROWTH` when the text doubles.
 */
const CLEARLY_LINEAR = 24
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
  const part = text.make(longest * PART)
  const partMs = measureCpuMs(() => run(part))
  const growthOfPart = growthAt(partMs, run, text, longest * PART)
  if (growthOfPart > MAX_GROWTH) return growthOfPart

  const whole = text.make(longest)
  const wholeMs = measureCpuMs(() => run(whole))
  // The first run of the part may have been slow for other reasons.
  if (
    wholeMs <
    CLEARLY_LINEAR *
      Math.min(
        partMs,
        measureCpuMs(() => run(part)),
      )
  )
    return growthOfPart
  return Math.max(growthOfPart, growthAt(wholeMs, run, text, longest))
}

function growthAt(wholeMs: number, run: (text: string) => unknown, text: HostileText, length: number): number {
  if (wholeMs < NEGLIGIBLE_MS) return 1
  const half = text.make(length / 2)
  // One run of each is enough for most functions. Only a high ratio is measured again, over many runs.
  const ratio = wholeMs / measureCpuMs(() => run(half))
  return ratio <= MAX_GROWTH ? ratio : measureGrowth(run, half, text.make(length))
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
