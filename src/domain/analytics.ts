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
