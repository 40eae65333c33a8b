import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Context } from '../../context.ts'
import { summarizeSlo, type SloSummary } from '../../domain/posts/slo.ts'
import { DAY, SECOND } from '../../domain/shared/times.ts'
import { operation } from '../openapi/operation.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { SloSchema } from './schema.ts'

const WINDOW_MS = DAY
const MOST_POSTS = 250_000
/** Whoever asks more often gets the same answer, so that asking costs the database nothing. */
const ANSWER_LASTS_MS = 5 * SECOND
/** The read has its own deadline below this. */
const DEADLINE_MS = 12 * SECOND

interface Slo extends SloSummary {
  since: string
  until: string
  isComplete: boolean
  missAfterMs: number
}

/** For admins: how the posts of the last 24 hours kept their instants. */
export const statusRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const measure = shared(() => measureSlo(context), context.clock)

  app.get(
    '/slo',
    {
      config: { deadlineMs: DEADLINE_MS },
      schema: {
        ...operation('status', 'getServiceLevels', 'Lateness and misses of the posts scheduled in the last 24 hours'),
        response: { 200: success(SloSchema), ...errorResponses },
      },
    },
    async () => ok('Service levels of the last 24 hours', await measure()),
  )
}

async function measureSlo({ punctuality, clock, config }: Context): Promise<Slo> {
  const until = clock.now()
  const wanted = new Date(until.getTime() - WINDOW_MS)
  const missAfterMs = config.SLO_MISS_AFTER_MS
  const { groups, since } = await punctuality.read({ since: wanted, until, missAfterMs, mostPosts: MOST_POSTS })
  return {
    since: since.toISOString(),
    until: until.toISOString(),
    isComplete: since.getTime() === wanted.getTime(),
    missAfterMs,
    ...summarizeSlo(groups, missAfterMs),
  }
}

/** One run at a time for all who ask, and its answer for a few seconds; a failure is not kept. */
function shared<T>(run: () => Promise<T>, clock: Context['clock']): () => Promise<T> {
  let latest: { answer: Promise<T>; isRunning: boolean; at: number } | null = null
  return () => {
    const at = clock.now().getTime()
    if (latest && (latest.isRunning || at - latest.at < ANSWER_LASTS_MS)) return latest.answer
    const mine = { answer: run(), isRunning: true, at }
    latest = mine
    mine.answer.then(
      () => (mine.isRunning = false),
      () => (latest = null),
    )
    return mine.answer
  }
}
