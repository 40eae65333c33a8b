import { extendsSnapshot, findUnchangedSince, type SeenCounts } from '../src/domain/analytics/snapshots.ts'

/**
 * Reduces fetches of a post on one account, in the order of time, to the snapshots that scheduled collections store of them. The last
 * fetch of a snapshot determines all its fields but the id, the counts and their times.
 */
export function mergeFetches<S extends SeenCounts & { _id: string }>(fetches: readonly S[], timezone: string): S[] {
  const merged: S[] = []
  for (const fetched of fetches) {
    const last = merged.at(-1)
    if (last && extendsSnapshot(last, fetched, fetched.takenAt, timezone)) {
      const { _id, slot, takenAt, unchangedSince } = last
      merged[merged.length - 1] = {
        ...fetched,
        _id,
        slot,
        takenAt,
        lastSeenAt: fetched.takenAt,
        ...(unchangedSince && { unchangedSince }),
      }
    } else {
      const unchangedSince = findUnchangedSince(last, fetched)
      merged.push({ ...fetched, ...(unchangedSince && { unchangedSince }) })
    }
  }
  return merged
}
