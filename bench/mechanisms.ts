import type { Replacement } from '../tests/support/copied-source.ts'

/**
 * What a mechanism is measured on: the rate of immediate posts or their commands to MongoDB, the processor time of scheduled posts on
 * platforms that respond at different times, the lateness of posts of one instant on a platform that responds immediately or after 50 ms, or
 * the route that creates posts.
 */
type MeasuredOn = 'immediate' | 'commands' | 'scheduled' | 'burst' | 'slowBurst' | 'create'

/** A part of the service that only makes it faster, and the replacement that switches it off. */
export interface Mechanism {
  off: Replacement
  on: MeasuredOn
}

/** Calls the function behind a batcher with one item each. */
const withoutBatches = (code: string): string =>
  code.replace(
    /\bbatcher(<[^(]*>)?\(/,
    '((apply) => (item) => new Promise((resolve, reject) => apply([item], (_, result) => result instanceof Error ? reject(result) : resolve(result)).catch(reject)))(',
  )

export const MECHANISMS: Mechanism[] = [
  {
    on: 'immediate',
    off: { anchor: 'first attempt in the workflow task', change: () => 'const first = null' },
  },
  {
    on: 'scheduled',
    off: { anchor: 'deliveries of a post end together', change: () => '' },
  },
  {
    on: 'immediate',
    off: { anchor: 'batched reads', change: () => 'return async (key) => (await load([key]))[0] ?? null' },
  },
  {
    on: 'immediate',
    off: {
      anchor: 'batched moves',
      change: () =>
        'const enqueue = (id, item) => new Promise((resolve, reject) => applyMoves(id, [item], (_, result) => result instanceof Error ? reject(result) : resolve(result)).catch(reject))',
    },
  },
  {
    on: 'commands',
    off: { anchor: 'posts remembered by revision', change: () => 'let remembered' },
  },
  {
    on: 'immediate',
    off: { anchor: 'batched notifications', change: withoutBatches },
  },
  {
    on: 'create',
    off: { anchor: 'batched creates', change: withoutBatches },
  },
  {
    on: 'burst',
    off: { anchor: 'arming by rank', change: (code) => code.replace(', post.dueRank', '') },
  },
  {
    on: 'burst',
    off: { anchor: 'calls before records', change: () => 'return' },
  },
  {
    on: 'slowBurst',
    off: { anchor: 'adaptive call limit', change: (code) => code.replace(' * MOST_GROWTH', '') },
  },
]
