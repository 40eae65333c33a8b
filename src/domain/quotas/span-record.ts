import type { CallLimit } from './limits.ts'

/** Tokens that count until an instant. */
export interface CountedTokens {
  until: Date
  tokens: number
}

/** The use of one sliding limit as it is stored. */
export interface SpanRecord {
  /** Absent until the platform reports another limit than the default. */
  limit?: number
  counted: CountedTokens[]
  /** The latest report of the platform, minus the tokens granted since. It applies until the platform's reset. */
  report?: { left: number; until: Date; at: Date } | null
}

/** Returns the limit in force and the tokens that are left of it. */
export function computeFree({ limit }: CallLimit, record: SpanRecord | undefined, now: Date) {
  const inForce = record?.limit ?? limit
  const counted = (record?.counted ?? []).filter(({ until }) => until > now)
  const left = inForce - counted.reduce((total, { tokens }) => total + tokens, 0)
  const report = record?.report && record.report.until > now ? record.report.left : Infinity
  return { limit: inForce, free: Math.max(0, Math.min(left, report)) }
}

/** Returns the instants at which tokens become free, in order. Until the next one, their number stays. It never falls by itself. */
export function listEnds(record: SpanRecord | undefined, now: Date): Date[] {
  const { counted = [], report } = record ?? {}
  return [...counted.map(({ until }) => until), ...(report ? [report.until] : [])]
    .filter((end) => end > now)
    .toSorted((one, other) => one.getTime() - other.getTime())
}
