import type { PostCounts } from '../../domain/analytics/analytics.ts'

/** A count as a platform tells it; null for whatever is none: what is not known is never 0. */
export function parseCount(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null
}

/** An answer without any count says nothing, and takes nothing back of what was known before. */
export function hasAnyCount(counts: PostCounts): boolean {
  return Object.values(counts).some((count) => count !== null)
}
