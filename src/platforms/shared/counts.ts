import type { PostCounts } from '../../domain/analytics/analytics.ts'

/** Returns the count, or `null` for any other value: an unknown count is never 0. */
export function parseCount(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null
}

/** Returns false for a response without any count, which must not overwrite known counts. */
export function hasAnyCount(counts: PostCounts): boolean {
  return Object.values(counts).some((count) => count !== null)
}
