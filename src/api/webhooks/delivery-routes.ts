import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { redeliver, redeliverSince, sendTestEvent } from '../../commands/webhooks/redeliver.ts'
import type { Context } from '../../context.ts'
import { webhookNotFound } from '../../domain/webhooks/webhooks.ts'
import { operation } from '../openapi/operation.ts'
import { IdParam, toPage, toPageResult } from '../shared/schemas/common.ts'
import { Acknowledged, acknowledged, errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { presentDelivery } from './present.ts'
import { ListDeliveriesQuery, RedeliverBody, WebhookDeliveryList, WebhookDeliverySchema } from './schema.ts'
import { presentAll } from '../shared/odd-records.ts'

/** The log of a webhook's deliveries, and requests to send events again. */
export const deliveryRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  app.get(
    '/:id/deliveries',
    {
      schema: {
        ...operation('webhooks', 'listWebhookDeliveries', 'List the deliveries of the last 30 days, newest first', {
          keyScope: 'webhooks:read',
        }),
        params: IdParam('id'),
        querystring: ListDeliveriesQuery,
        response: { 200: success(WebhookDeliveryList), ...errorResponses },
      },
    },
    async ({ user, params, query, log }) => {
      const webhook = await context.webhooks.find(user.userId, params.id)
      if (!webhook) throw webhookNotFound()
      const page = toPage(query)
      const { deliveries, total } = await context.webhookDeliveries.page(webhook, { ...page, state: query.state })
      const data = { deliveries: presentAll(deliveries, presentDelivery, log), ...toPageResult(total, page) }
      return ok('Deliveries found', data)
    },
  )

  app.post(
    '/:id/deliveries/:deliveryId/redeliver',
    {
      schema: {
        ...operation('webhooks', 'redeliverWebhookDelivery', 'Send an event again, with the same id', {
          keyScope: 'webhooks:write',
          errors: ['WEBHOOK_DISABLED'],
        }),
        params: Type.Composite([IdParam('id'), IdParam('deliveryId')]),
        response: { 202: success(WebhookDeliverySchema), ...errorResponses },
      },
    },
    async ({ user, params: { id, deliveryId } }, reply) => {
      const delivery = await redeliver(context, { userId: user.userId, webhookId: id, deliveryId })
      return reply.code(202).send(ok('The event will be sent again', presentDelivery(delivery)))
    },
  )

  app.post(
    '/:id/redeliver',
    {
      schema: {
        ...operation('webhooks', 'redeliverWebhookEvents', 'Send all events since an instant again', {
          description:
            'The events of the feed since then are sent in their order, with the same ids, before new events.',
          keyScope: 'webhooks:write',
          errors: ['WEBHOOK_DISABLED'],
        }),
        params: IdParam('id'),
        body: RedeliverBody,
        response: { 202: Acknowledged, ...errorResponses },
      },
    },
    async ({ user, params, body }, reply) => {
      await redeliverSince(context, { userId: user.userId, webhookId: params.id, since: new Date(body.since) })
      return reply.code(202).send(acknowledged('The events will be sent again'))
    },
  )

  app.post(
    '/:id/test',
    {
      schema: {
        ...operation('webhooks', 'sendWebhookTestEvent', 'Send an event of the type `webhook.test`', {
          keyScope: 'webhooks:write',
          errors: ['WEBHOOK_DISABLED'],
        }),
        params: IdParam('id'),
        response: { 202: success(WebhookDeliverySchema), ...errorResponses },
      },
    },
    async ({ user, params }, reply) => {
      const delivery = await sendTestEvent(context, { userId: user.userId, webhookId: params.id })
      return reply.code(202).send(ok('The test event will be sent', presentDelivery(delivery)))
    },
  )
}
