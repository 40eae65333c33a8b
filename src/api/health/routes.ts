import { Type, type FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import { ServiceError } from '../../domain/service-error.ts'
import { SECOND } from '../../domain/times.ts'
import { errorBody } from '../errors.ts'
import { errorResponses, ok, success } from '../schemas/envelope.ts'

const Healthy = success(Type.Object({ status: Type.Literal('ok') }))

/** Probes come every few seconds from several sides; indexes do not vanish that often. */
const INDEX_CHECK_LASTS_MS = 30 * SECOND
const PING_DEADLINE_MS = 2 * SECOND

/** Three questions of operation (contract section 1): does this process live, can it serve, would a post go out now. */
export const healthRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const missingForReady = createReadyCheck(context)

  const route = (path: string, summary: string, missing: () => Promise<string[]>) =>
    app.get(
      path,
      {
        config: { isUnlimited: true },
        schema: { tags: ['health'], summary, response: { 200: Healthy, ...errorResponses } },
      },
      async (request, reply) => {
        reply.header('cache-control', 'no-store')
        const absent = await missing()
        return absent.length === 0 ? ok('Healthy', { status: 'ok' as const }) : sendMissing(request, reply, absent)
      },
    )

  route('/live', 'This process runs', async () => [])
  route('/ready', 'This process can serve: the database and its indexes are there', missingForReady)
  route('/delivery', 'A post would go out now; 503 lists what is missing', () => context.deliveryHealth())
}

function sendMissing(request: FastifyRequest, reply: FastifyReply, missing: string[]): FastifyReply {
  const error = new ServiceError('SERVICE_UNAVAILABLE', `Not healthy: ${missing.join(', ')}`)
  return reply.code(error.statusCode).send({ ...errorBody(error, request.id), missing })
}

function createReadyCheck({ database, clock, draining }: Context): () => Promise<string[]> {
  let indexesSeenAt = -Infinity

  return async () => {
    if (draining.aborted) return ['process is stopping']
    if (!(await answers(database.ping()))) return ['database']
    const now = clock.now().getTime()
    if (now - indexesSeenAt < INDEX_CHECK_LASTS_MS) return []
    const missing = await database.missingIndexes()
    if (missing.length === 0) indexesSeenAt = now
    return missing.map((index) => `index ${index}`)
  }
}

/** Bounded, since a server that hangs accepts connections and answers nothing. */
async function answers(ping: Promise<void>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), PING_DEADLINE_MS)
  const answered = ping.then(
    () => true,
    () => false,
  )
  return Promise.race([answered, late.promise]).finally(() => clearTimeout(timer))
}
