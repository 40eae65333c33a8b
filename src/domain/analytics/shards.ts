/** The owners after `afterUserId` up to `untilUserId`; null for no bound. */
export interface OwnerRange {
  afterUserId: string | null
  untilUserId: string | null
}

/** Fewer posts or accounts are not worth a workflow of their own. */
const RECORDS_PER_SHARD = 1_000

/** Returns into how many shards this number of posts or accounts is divided. */
export function countShards(records: number, most: number): number {
  return Math.min(most, Math.max(1, Math.ceil(records / RECORDS_PER_SHARD)))
}

/**
 * Divides all owners into ranges with about the same number of records. Every owner, also one that is not in the sample, is in exactly
 * one range.
 * @param sample the owners of random records, one per record
 * @param count the number of ranges; fewer when the sample has too few owners
 */
export function divideOwners(sample: readonly string[], count: number): OwnerRange[] {
  const sorted = sample.toSorted()
  const quantiles = Array.from({ length: count - 1 }, (_, index) => {
    return sorted[Math.ceil(((index + 1) * sorted.length) / count) - 1]
  })
  const bounds = [...new Set(quantiles)].filter((bound) => bound !== undefined)
  return [...bounds, null].map((untilUserId, index) => ({ afterUserId: bounds[index - 1] ?? null, untilUserId }))
}

export function isInRange(userId: string, { afterUserId, untilUserId }: OwnerRange): boolean {
  return (afterUserId === null || userId > afterUserId) && (untilUserId === null || userId <= untilUserId)
}
