/** Returns the nearest-rank percentile: the smallest sample that at least this share of the samples does not exceed. */
export function percentile(samples: number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]
  if (value === undefined) throw new Error('There are no samples')
  return value
}

export const median = (samples: number[]): number => percentile(samples, 0.5)

/** Rounds to three significant figures, since the measurements are no more precise. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3))
}

/** Returns details of the lateness of one side's calls, in milliseconds. */
export function describeLateness(side: string, late: number[]): Record<string, number> {
  return {
    [`${side} calls`]: late.length,
    [`${side} p50 ms`]: rounded(median(late)),
    [`${side} p99 ms`]: rounded(percentile(late, 0.99)),
    [`${side} max ms`]: Math.max(...late),
  }
}

/**
 * Wilcoxon's signed-rank test for paired samples. Returns the standard deviations from "no difference" (large samples). Beyond ±2.58,
 * the difference is significant at 1%.
 */
export function signedRank(differences: number[]): number {
  const ranked = differences.filter((difference) => difference !== 0).toSorted((a, b) => Math.abs(a) - Math.abs(b))
  const count = ranked.length
  const positive = ranked.reduce((sum, difference, index) => (difference > 0 ? sum + index + 1 : sum), 0)
  const mean = (count * (count + 1)) / 4
  const deviation = Math.sqrt((count * (count + 1) * (2 * count + 1)) / 24)
  return count === 0 ? 0 : (positive - mean) / deviation
}
