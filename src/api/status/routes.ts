import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Context } from '../../context.ts'
import { summarizeSlo, type SloSummary } from '../../domain/posts/slo.ts'
import { DAY, SECOND } from '../../domain/shared/times.ts'
import { operation } from '../openapi/operation.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { SloSchema } from './schema.ts'

const WINDOW_MS = DAY
const MAX_POSTS = 250_000
/** Repeated requests get the cached result, so that polling costs the database nothing. */
const CACHE_TTL_MS = 5 * SECOND
/** Longer than the deadline of the database read. */
const DEADLINE_MS = 12 * SECOND

interface Slo extends SloSummary {
  since: string
  until: string
  isComplete: boolean
  missAfterMs: number
}

/** Service levels of the posts scheduled in the last 24 hours, for admins. */
export const statusRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const measure = cacheBriefly(() => measureSlo(context), context.clock)

  app.get(
    '/slo',
    {
      config: { deadlineMs: DEADLINE_MS },
      schema: {
        ...operation(
          'status',
          'getServiceLevels',
          'Get lateness and misses of the posts scheduled in the last 24 hours',
        ),
        response: { 200: success(SloSchema), ...errorResponses },
      },
    },
    async () => ok('Service levels of the last 24 hours', await measure()),
  )
}

async function measureSlo({ slo, clock, config }: Context): Promise<Slo> {
  const until = clock.now()
  const windowStart = new Date(until.getTime() - WINDOW_MS)
  const missAfterMs = config.SLO_MISS_AFTER_MS
  const { groups, since } = await slo.read({ since: windowStart, until, missAfterMs, maxPosts: MAX_POSTS })
  return {
    since: since.toISOString(),
    until: until.toISOString(),
    isComplete: since.getTime() === windowStart.getTime(),
    missAfterMs,
    ...summarizeSlo(groups, missAfterMs),
  }
}

/** Shares a running call between all callers and caches its result for `CACHE_TTL_MS`. Failures are not cached. */
function cacheBriefly<T>(run: () => Promise<T>, clock: Context['clock']): () => Promise<T> {
  let latest: { result: Promise<T>; isRunning: boolean; at: number } | null = null
  return () => {
    const at = clock.now().getTime()
    if (latest && (latest.isRunning || at - latest.at < CACHE_TTL_MS)) return latest.result
    const current = { result: run(), isRunning: true, at }
    latest = current
    current.result.then(
      () => (current.isRunning = false),
      () => (latest = null),
    )
    return current.result
  }
}
