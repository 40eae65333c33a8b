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
