/** A platform's metrics of one post; null when the platform does not report one. */
export interface PostCounts {
  likes: number | null
  shares: number | null
  comments: number | null
  impressions: number | null
  reach: number | null
  saved: number | null
}

export const NO_COUNTS: PostCounts = {
  likes: null,
  shares: null,
  comments: null,
  impressions: null,
  reach: null,
  saved: null,
}

/** The metrics that count as engagement. */
export const ENGAGEMENTS = ['likes', 'comments', 'shares'] as const satisfies (keyof PostCounts)[]

/** Returns the sum of the known values; null when none is known. */
export function sumKnown(values: (number | null)[]): number | null {
  return values.reduce((sum, value) => (value === null ? sum : (sum ?? 0) + value), null)
}

/** The counts of all posts of a thread. */
export interface ThreadCounts {
  /** By post, the first included; null for a post that the platform reported nothing of. */
  parts: (PostCounts | null)[]
  /** The sums of the known counts. */
  sum: PostCounts
}

export function toThreadCounts(parts: (PostCounts | null)[]): ThreadCounts {
  const names = Object.keys(NO_COUNTS) as (keyof PostCounts)[]
  const sums = names.map((name) => [name, sumKnown(parts.map((counts) => counts?.[name] ?? null))])
  return { parts, sum: Object.fromEntries(sums) as PostCounts }
}

export interface DerivedMetrics {
  /** Sum of the reported engagement metrics; null when none is reported. */
  totalEngagement: number | null
  /** Engagement per follower; null when the account has no followers or their number is unknown. */
  engagementRate: number | null
  /** Shares as a fraction of the engagement; null without shares. */
  virality: number | null
}

export function deriveMetrics(counts: PostCounts, followers: number | null): DerivedMetrics {
  const totalEngagement = sumKnown(ENGAGEMENTS.map((name) => counts[name]))
  return {
    totalEngagement,
    engagementRate: totalEngagement === null || !followers ? null : totalEngagement / followers,
    virality: totalEngagement && counts.shares ? counts.shares / totalEngagement : null,
  }
}

/** Metrics by which the best posts can be ranked. */
export const RANKINGS = [
  'totalEngagement',
  'engagementRate',
  'likes',
  'shares',
  'comments',
  'impressions',
  'reach',
  'saved',
] as const satisfies (keyof PostCounts | keyof DerivedMetrics)[]

export type Ranking = (typeof RANKINGS)[number]

export const PERIODS = ['7d', '30d'] as const

export type Period = (typeof PERIODS)[number]

/** The period of an analytics query, from its first instant to its last. */
export interface Window {
  start: Date
  end: Date
}

/** Returns the window of the same length that ends just before this one starts. */
export function toPrecedingWindow({ start, end }: Window): Window {
  return { start: new Date(2 * start.getTime() - end.getTime() - 1), end: new Date(start.getTime() - 1) }
}
