/** Returns the nearest-rank percentile: the smallest sample that at least this share of the samples does not exceed. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]
  if (value === undefined) throw new Error('There are no samples')
  return value
}

export const median = (samples: readonly number[]): number => percentile(samples, 0.5)

/** Rounds to three significant figures, since the measurements are no more precise. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3))
}

/** At most this probability lies outside of each end of an interval. */
const TAIL = 0.025

/**
 * Returns an interval that contains the median of the distribution of these values with a probability of at least 95 %; null for fewer
 * than six values, which allow none.
 *
 * Its ends are measured values, counted from both ends of the sorted list (order statistics). Each value is below the median with
 * probability one half, so the number of values below it has a binomial distribution, whatever the distribution of the values is. No
 * assumption about noise is needed, and a few rounds suffice.
 */
export function intervalOf(values: readonly number[]): [number, number] | null {
  const count = values.length
  const sorted = values.toSorted((a, b) => a - b)
  let outside = 0
  let probability = 0.5 ** count
  let tail = probability
  // `tail` is the probability that at most `outside` values are below the median.
  while (tail <= TAIL) {
    outside += 1
    probability *= (count - outside + 1) / outside
    tail += probability
  }
  return outside === 0 ? null : [sorted[outside - 1]!, sorted[count - outside]!]
}
