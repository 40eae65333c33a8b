import { Type, type FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { toErrorBody } from '../shared/errors.ts'
import { operation } from '../openapi/operation.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'

const Healthy = success(Type.Object({ status: Type.Literal('ok') }))

/** Health probes: is the process alive, can it serve requests, can posts be published now. */
export const healthRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const route = (path: string, documentation: ReturnType<typeof operation>, missing: () => Promise<string[]>) =>
    app.get(
      path,
      {
        config: { isUnlimited: true },
        schema: { ...documentation, response: { 200: Healthy, ...errorResponses } },
      },
      async (request, reply) => {
        const absent = await missing()
        return absent.length === 0 ? ok('Healthy', { status: 'ok' as const }) : sendUnhealthy(request, reply, absent)
      },
    )

  route('/live', operation('health', 'checkLive', 'Check that this process is running'), async () => [])
  route(
    '/ready',
    operation('health', 'checkReady', 'Check that this process can serve requests: database and indexes are available'),
    () => context.readiness.missing(),
  )
  route(
    '/delivery',
    operation('health', 'checkDelivery', 'Check that posts can be published now; 503 lists what is missing'),
    () => context.deliveryHealth(),
  )
}

function sendUnhealthy(request: FastifyRequest, reply: FastifyReply, missing: string[]): FastifyReply {
  const error = new ServiceError('SERVICE_UNAVAILABLE', `Not healthy: ${missing.join(', ')}`)
  return reply.code(error.statusCode).send({ ...toErrorBody(error, request.id), missing })
}
