/** People who look at what is published, without anybody's doing. Counts that are set through the control interface stand before theirs. */
export interface Crowd {
  /** How often each of these was counted of a post by then, by our own words (spec section 2). */
  countsOf(post: { text: string; publishedAt: number }, at: number): Record<string, number>
  followers(at: number): number
}

/** As it is in tests: nothing is counted that was not set. */
export const NO_CROWD: Crowd = { countsOf: () => ({}), followers: () => 0 }
