import { type SandboxResponse, type Control, ControlError } from '../../proxied-platform.ts'
import { NO_CROWD } from '../crowd.ts'
import { inWordsOf } from '../metric-words.ts'
import { badParameter, type GraphParams } from './graph.ts'

/** What was set of a post's counts, and when. */
export type Counted = { at: number; counts: Record<string, number> }[]

interface CountedPost {
  text: string
  createdAt: number
  counted?: Counted | undefined
}

/**
 * Counts that nobody in the sandbox makes by hand. Insights tell them late, as the real ones are worked out some time after: by how much
 * is set with `POST {control}/insights {"lagMs": 0}`.
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
      if (typeof wanted !== 'number' || !(wanted >= 0)) throw new ControlError(400, 'lagMs is a number of milliseconds')
      lagMs = wanted
    },
  ]

  return {
    controls: [setLag],
    add(counted: Counted = [], counts: Record<string, number>): Counted {
      return [...counted, { at: Date.now(), counts: inWordsOf(words, counts) }]
    },
    /** What the post itself shows. */
    now: (post: CountedPost) => until(Date.now(), post),
    /** What insights tell. */
    told: (post: CountedPost) => until(Date.now() - lagMs, post),
    /** Of such a post there are no insights yet. */
    isTooYoung: ({ createdAt }: { createdAt: number }) => lagMs > 0 && Date.now() - createdAt < lagMs,
  }
}

export type Counting = ReturnType<typeof createCounting>

/** @throws GraphRefusal of the whole call for one metric that does not fit */
export function askedMetrics(params: GraphParams, known: readonly string[]): string[] {
  const asked = params.list('metric')
  if (asked.length === 0) throw badParameter('The parameter metric is required')
  const unknown = asked.findIndex((name) => !known.includes(name))
  if (unknown < 0) return asked
  throw badParameter(`metric[${unknown}] must be one of the following values: ${known.join(', ')}`)
}

/** What is left out is not known. */
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
