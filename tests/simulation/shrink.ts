import type { History, Outcome } from './history.ts'

/**
 * Returns a history with fewer posts, changes and mishaps that still violates the same invariant, and its outcome.
 * @param run runs a history
 */
export async function shrinkHistory(
  failing: History,
  outcome: Outcome,
  run: (history: History) => Promise<Outcome>,
): Promise<{ history: History; outcome: Outcome }> {
  const { invariant } = outcome.violations[0]!
  let smallest = { history: failing, outcome }
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false
    for (const history of listSmaller(smallest.history)) {
      const next = await run(history)
      if (!next.violations.some((violation) => violation.invariant === invariant)) continue
      smallest = { history, outcome: next }
      isSmaller = true
      break
    }
  }
  return smallest
}

/** Yields histories that lack one part each, the larger parts first. */
function* listSmaller(history: History): Generator<History> {
  const { odds, posts, mishaps } = history
  for (const [index] of posts.entries()) yield { ...history, posts: posts.toSpliced(index, 1) }
  for (const [index] of mishaps.entries()) yield { ...history, mishaps: mishaps.toSpliced(index, 1) }
  for (const name of ['call', 'command', 'slow'] as const) {
    if (odds[name] > 0) yield { ...history, odds: { ...odds, [name]: 0 } }
  }
  for (const [index, post] of posts.entries()) {
    const replace = (smaller: typeof post) => ({ ...history, posts: posts.with(index, smaller) })
    if (post.changes.length > 0) yield replace({ ...post, changes: [] })
    for (const platform of post.platforms) {
      const platforms = post.platforms.filter((one) => one !== platform)
      if (platforms.length > 0) yield replace({ ...post, platforms })
    }
  }
}
