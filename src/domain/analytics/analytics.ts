/** What a platform counts of one post; null is what it does not tell (spec section 2). */
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

/** The counts that are engagement. */
export const ENGAGEMENTS = ['likes', 'comments', 'shares'] as const satisfies (keyof PostCounts)[]

/** The sum of the known values; null when none is known. */
export function sumKnown(values: (number | null)[]): number | null {
  return values.reduce((sum, value) => (value === null ? sum : (sum ?? 0) + value), null)
}

export interface DerivedMetrics {
  /** Of the known counts; null when none is known. */
  totalEngagement: number | null
  /** A fraction of the followers; null when there are none, or nobody knows. */
  engagementRate: number | null
  /** Which part of the engagement are shares; null without shares. */
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

/** What the best posts may be ranked by. */
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

/** The time that an analytics read covers: whole days of the user, of which today ends now. */
export interface Window {
  start: Date
  end: Date
}

/** The window of the same length that ends where this one starts. */
export function toPrecedingWindow({ start, end }: Window): Window {
  return { start: new Date(2 * start.getTime() - end.getTime()), end: start }
}
