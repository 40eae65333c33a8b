/** Counts by the platform's own words; ours (spec section 2) lead to the same. */
export function inWordsOf(words: Record<string, string>, metrics: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [words[name] ?? name, value]))
}
