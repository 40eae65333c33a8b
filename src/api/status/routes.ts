import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Static } from '@sinclair/typebox'
import type { Context } from '../../context.ts'
import { summarizeHours, summarizeSlo, type SloSummary } from '../../domain/posts/slo.ts'
import { DAY, HOUR, SECOND } from '../../domain/shared/times.ts'
import { cacheBriefly } from '../../flow/cache-briefly.ts'
import { operation } from '../openapi/operation.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { PunctualitySchema, SloSchema } from './schema.ts'

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
  const measureByHour = cacheBriefly(() => measureHours(context), CACHE_TTL_MS, context.clock)
  const measure = cacheBriefly(() => measureSlo(context), CACHE_TTL_MS, context.clock)

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

  app.get(
    '/punctuality',
    {
      config: { deadlineMs: DEADLINE_MS },
      schema: {
        ...operation('status', 'getPunctuality', 'Get the share of punctual deliveries in each of the last 24 hours'),
        response: { 200: success(PunctualitySchema), ...errorResponses },
      },
    },
    async () => ok('Punctuality of the last 24 hours', await measureByHour()),
  )
}

async function measureHours({ slo, clock, config }: Context): Promise<Static<typeof PunctualitySchema>> {
  const until = clock.now()
  const missAfterMs = config.SLO_MISS_AFTER_MS
  const firstHour = new Date(Math.floor(until.getTime() / HOUR) * HOUR - WINDOW_MS + HOUR)
  // The window leaves out its start.
  const windowStart = new Date(firstHour.getTime() - 1)
  const { groups, since } = await slo.readHours({ since: windowStart, until, missAfterMs, maxPosts: MAX_POSTS })
  const hours = summarizeHours(groups, { since: firstHour, until, missAfterMs })
  return {
    hours: hours.map(({ hour, ...counts }) => ({ hour: hour.toISOString(), ...counts })),
    isComplete: since.getTime() === windowStart.getTime(),
    missAfterMs,
  }
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
