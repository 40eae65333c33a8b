import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Static } from '@sinclair/typebox'
import type { Context } from '../../context.ts'
import { countWaiting } from '../../domain/posts/waiting.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { cacheBriefly } from '../../flow/cache-briefly.ts'
import { operation } from '../openapi/operation.ts'
import { errorResponses, messageWithData } from '../shared/schemas/envelope.ts'
import { Queues, SetupReport } from './operations-schema.ts'

const CACHE_TTL_MS = 5 * SECOND
/** Longer than the deadlines of the probes and of the database reads. */
const DEADLINE_MS = 12 * SECOND
/** Delays below this are ordinary. */
const UNSTARTED_AFTER_MS = 30 * SECOND
const MAX_POSTS = 10_000
const MAX_POLLERS = 50

/** What an operator has to know: which parts of the service are set up, and what waits. */
export const adminOperationsRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const readQueues = cacheBriefly(() => measureQueues(context), CACHE_TTL_MS, context.clock)

  app.get(
    '/setup',
    {
      config: { deadlineMs: DEADLINE_MS },
      schema: {
        ...operation('admin', 'getSetup', 'Check each part that an operator sets up, with the next step'),
        response: { 200: messageWithData(SetupReport), ...errorResponses },
      },
    },
    async () => ({ message: 'Setup checked', data: await context.reportSetup() }),
  )

  app.get(
    '/queues',
    {
      config: { deadlineMs: DEADLINE_MS },
      schema: {
        ...operation('admin', 'getQueues', 'Get task queues with their workers, and what waits'),
        response: { 200: messageWithData(Queues), ...errorResponses },
      },
    },
    async () => ({ message: 'Queues found', data: await readQueues() }),
  )
}

async function measureQueues({
  clock,
  config,
  deadLetters,
  orchestrator,
  posts,
}: Context): Promise<Static<typeof Queues>> {
  const now = clock.now()
  const [taskQueues, unstartedPosts, waiting, letters] = await Promise.all([
    orchestrator.readQueues(config.WORKER_SILENCE_MS).catch(() => null),
    posts.countUnstarted(new Date(now.getTime() - UNSTARTED_AFTER_MS), MAX_POSTS),
    posts.groupWaiting(now, MAX_POSTS),
    deadLetters.page({ page: 1, limit: 1 }),
  ])
  return {
    at: now.toISOString(),
    taskQueues:
      taskQueues &&
      taskQueues.map(({ queue, kind, isServed, backlog, backlogAgeMs, pollers }) => ({
        ...{ queue, kind, isServed, backlog, backlogAgeMs },
        pollers: pollers
          .slice(0, MAX_POLLERS)
          .map(({ identity, lastAccessAt }) => ({ identity, lastAccessAt: lastAccessAt.toISOString() })),
      })),
    unstartedPosts,
    waiting: countWaiting(waiting.groups).map(({ oldestDueAt, ...counted }) => ({
      ...counted,
      oldestDueAt: oldestDueAt.toISOString(),
    })),
    isComplete: waiting.isComplete,
    deadLetters: letters.total,
  }
}
