/** The value below which this share of the samples lies; of few samples the next higher one that was measured. */
export function percentile(samples: number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]
  if (value === undefined) throw new Error('There are no samples')
  return value
}

export const median = (samples: number[]): number => percentile(samples, 0.5)

/** To three significant figures, so that a table does not pretend to more than was measured. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3))
}

/**
 * Wilcoxon's signed-rank test on pairs that were measured side by side, as standard deviations from "no difference" (large samples);
 * beyond 2.58 either way the chance that there is none is under one in a hundred.
 */
export function signedRank(differences: number[]): number {
  const ranked = differences.filter((difference) => difference !== 0).toSorted((a, b) => Math.abs(a) - Math.abs(b))
  const count = ranked.length
  const positive = ranked.reduce((sum, difference, index) => (difference > 0 ? sum + index + 1 : sum), 0)
  const mean = (count * (count + 1)) / 4
  const deviation = Math.sqrt((count * (count + 1) * (2 * count + 1)) / 24)
  return count === 0 ? 0 : (positive - mean) / deviation
}
