/** A simulated audience. Counts that are set through the control interface override it. */
export interface Crowd {
  /** Returns the counts of a post at a time, by our names. */
  countsOf(post: { text: string; publishedAt: number }, at: number): Record<string, number>
  followers(at: number): number
}

/** No audience, as in tests: all counts must be set. */
export const NO_CROWD: Crowd = { countsOf: () => ({}), followers: () => 0 }
