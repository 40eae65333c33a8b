import type { HostileText } from './hostile-texts.ts'

/** Runs below this time harm no user and are too short to measure. Quadratic code takes far longer on the longest text. */
const NEGLIGIBLE_MS = 20
/** The divisors of the longest text. A part is measured first, because bad code could take hours on the whole. */
const DIVISORS = [16, 1]
/** Texts of a whole and of these parts of it are compared. Caches that overflow distort one doubling, but not four. */
const PARTS = [1, 2, 4, 8, 16]
/** The shortest measurement: the clock of CPU time is coarse on some machines. */
const MIN_MEASURED_MS = 20
/** Each round can only lower the time of a length: the garbage collector and other processes add time and never take any. */
const MAX_ROUNDS = 6

/**
 * The highest accepted exponent: linear code has 1, quadratic code 2. Linear code that overflows caches on a busy machine was measured at up
 * to 1.3. Code whose quadratic part takes 2.5 times the time of its linear part on the longest text has 1.4.
 */
export const MAX_EXPONENT = 1.4

/**
 * Measures the exponent with which the time of `run` grows with the length of the text, at worst. Returns 1 when every time is
 * negligible. The measure is the CPU time of this thread. Stops at the first exponent above `MAX_EXPONENT`.
 */
export async function worstExponent(
  run: (text: string) => unknown,
  text: HostileText,
  longest: number,
): Promise<number> {
  let worst = 1
  for (const divisor of DIVISORS) {
    const length = Math.floor(longest / divisor)
    const whole = text.make(length)
    if ((await measureCpuMs(() => run(whole))) < NEGLIGIBLE_MS) continue
    worst = Math.max(worst, await measureExponent(run, text, length))
    if (worst > MAX_EXPONENT) break
  }
  return worst
}

async function measureExponent(run: (text: string) => unknown, text: HostileText, length: number): Promise<number> {
  const points = PARTS.map((part) => ({ text: text.make(length / part), leastMs: Infinity }))
  let exponent = Infinity
  for (let round = 0; round < MAX_ROUNDS && exponent > MAX_EXPONENT; round++) {
    for (const point of points)
      point.leastMs = Math.min(point.leastMs, await measureAverageCpuMs(() => run(point.text)))
    if (points[0]!.leastMs < NEGLIGIBLE_MS) return 1
    exponent = fitExponent(points)
  }
  return exponent
}

/** Returns the slope of the line through the logarithms of lengths and times that has the least squared error. */
function fitExponent(points: { text: string; leastMs: number }[]): number {
  const logarithms = points.map(({ text }) => Math.log(text.length))
  const middle = sum(logarithms) / points.length
  const offsets = logarithms.map((logarithm) => logarithm - middle)
  return sum(offsets.map((offset, at) => offset * Math.log(points[at]!.leastMs))) / sum(offsets.map((x) => x * x))
}

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0)

async function measureAverageCpuMs(work: () => unknown): Promise<number> {
  let spentMs = 0
  for (let runs = 1; ; runs++) {
    spentMs += await measureCpuMs(work)
    if (spentMs >= MIN_MEASURED_MS) return spentMs / runs
  }
}

async function measureCpuMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
