import { type SandboxResponse, type Control, ControlError } from '../../proxied-platform.ts'
import { NO_CROWD } from '../crowd.ts'
import { inWordsOf } from '../metric-words.ts'
import { badParameter, type GraphParams } from './graph.ts'

/** Counts that were set for a post, and when. */
export type Counted = { at: number; counts: Record<string, number> }[]

interface CountedPost {
  text: string
  createdAt: number
  counted?: Counted | undefined
}

/**
 * Counts that are set or simulated. Insights report them late, as the real ones do; `POST {control}/insights {"lagMs":
 * 0}` sets the lag.
 */
export function createCounting(words: Record<string, string>, crowd = NO_CROWD) {
  let lagMs = 0
  const until = (at: number, { text, createdAt, counted = [] }: CountedPost): Record<string, number> =>
    Object.assign(
      inWordsOf(words, crowd.countsOf({ text, publishedAt: createdAt }, at)),
      ...counted.filter((one) => one.at <= at).map(({ counts }) => counts),
    ) as Record<string, number>

  const setLag: Control = [
    'POST',
    /^\/insights$/,
    async ({ body }) => {
      const { lagMs: wanted } = (await body()) as { lagMs?: unknown }
      if (typeof wanted !== 'number' || !(wanted >= 0))
        throw new ControlError(400, 'lagMs must be a number of milliseconds')
      lagMs = wanted
    },
  ]

  return {
    controls: [setLag],
    add(counted: Counted = [], counts: Record<string, number>): Counted {
      return [...counted, { at: Date.now(), counts: inWordsOf(words, counts) }]
    },
    /** The counts that the post itself shows. */
    now: (post: CountedPost) => until(Date.now(), post),
    /** The counts that insights report. */
    reported: (post: CountedPost) => until(Date.now() - lagMs, post),
    /** Returns whether a post has no insights yet. */
    isTooYoung: ({ createdAt }: { createdAt: number }) => lagMs > 0 && Date.now() - createdAt < lagMs,
  }
}

export type Counting = ReturnType<typeof createCounting>

/** @throws GraphRefusal for the whole call if one metric is unsupported */
export function askedMetrics(params: GraphParams, known: readonly string[]): string[] {
  const metrics = params.list('metric')
  if (metrics.length === 0) throw badParameter('The parameter metric is required')
  const unknown = metrics.findIndex((name) => !known.includes(name))
  if (unknown < 0) return metrics
  throw badParameter(`metric[${unknown}] must be one of the following values: ${known.join(', ')}`)
}

/** Metrics without a value are left out. */
export function insightsOf(id: string, metrics: string[], valueOf: (metric: string) => unknown): SandboxResponse {
  const data = metrics.map((name) => ({
    ...described(id, name, 'lifetime'),
    values: [{ value: valueOf(name) }],
  }))
  return { status: 200, body: { data } }
}

export function described(id: string, name: string, period: string) {
  const title = name.replaceAll('_', ' ')
  return { name, period, title, description: `The ${title} of this object.`, id: `${id}/insights/${name}/${period}` }
}
