import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { changeWebhook } from '../../commands/webhooks/change-webhook.ts'
import { createWebhook } from '../../commands/webhooks/create-webhook.ts'
import { deleteWebhook } from '../../commands/webhooks/delete-webhook.ts'
import { rotateSecret } from '../../commands/webhooks/rotate-secret.ts'
import type { Context } from '../../context.ts'
import { webhookNotFound, type Webhook } from '../../domain/webhooks/webhooks.ts'
import { operation } from '../openapi/operation.ts'
import { parseIfMatch, toETag } from '../shared/etags.ts'
import { IdParam } from '../shared/schemas/common.ts'
import { Acknowledged, acknowledged, errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { deliveryRoutes } from './delivery-routes.ts'
import { presentWebhook } from './present.ts'
import {
  CreateWebhookBody,
  UpdateWebhookBody,
  UpdateWebhookHeaders,
  WebhookSchema,
  WebhookWithSecret,
} from './schema.ts'
import { presentAll } from '../shared/odd-records.ts'

/** The webhooks of the signed-in user. */
export const webhookRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const present = (webhook: Webhook) => presentWebhook(webhook, context.clock.now())

  app.post(
    '/',
    {
      schema: {
        ...operation('webhooks', 'createWebhook', 'Create a webhook', {
          description:
            'The webhook gets the events from now on. Only this response and `rotateWebhookSecret` contain the signing secret. A user can have 10 webhooks.',
          keyScope: 'webhooks:write',
          errors: ['WEBHOOK_LIMIT_REACHED'],
        }),
        body: CreateWebhookBody,
        response: { 201: success(WebhookWithSecret), ...errorResponses },
      },
    },
    async ({ user, body, log }, reply) => {
      const { url, events = [], description = '' } = body
      const { webhook, secret } = await createWebhook(context, { userId: user.userId, url, events, description })
      log.info({ webhookId: webhook._id, events }, 'webhook created')
      return reply.code(201).send(ok('Webhook created', { ...present(webhook), secret }))
    },
  )

  app.get(
    '/',
    {
      schema: {
        ...operation('webhooks', 'listWebhooks', 'List the webhooks, oldest first', { keyScope: 'webhooks:read' }),
        response: { 200: success(Type.Array(WebhookSchema)), ...errorResponses },
      },
    },
    async ({ user, log }) => ok('Webhooks found', presentAll(await context.webhooks.listOf(user.userId), present, log)),
  )

  app.get(
    '/:id',
    {
      schema: {
        ...operation('webhooks', 'getWebhook', 'Read a webhook', {
          keyScope: 'webhooks:read',
          responseHeaders: { 200: ['ETag'] },
        }),
        params: IdParam('id'),
        response: { 200: success(WebhookSchema), ...errorResponses },
      },
    },
    async ({ user, params }, reply) => {
      const webhook = await context.webhooks.find(user.userId, params.id)
      if (!webhook) throw webhookNotFound()
      reply.header('etag', toETag(webhook))
      return ok('Webhook found', present(webhook))
    },
  )

  app.patch(
    '/:id',
    {
      schema: {
        ...operation('webhooks', 'updateWebhook', 'Change, disable or enable a webhook', {
          description:
            'Disabling ends the pending deliveries. A webhook that is enabled again gets the events from then on; `redeliverWebhookEvents` sends the ones before.',
          keyScope: 'webhooks:write',
          errors: ['PRECONDITION_FAILED'],
          responseHeaders: { 200: ['ETag'] },
        }),
        params: IdParam('id'),
        headers: UpdateWebhookHeaders,
        body: UpdateWebhookBody,
        response: { 200: success(WebhookSchema), ...errorResponses },
      },
    },
    async ({ user, params, headers, body, log }, reply) => {
      const { enabled: isEnabled, ...change } = body
      const revisions = parseIfMatch(headers['if-match'])
      const webhook = await changeWebhook(context, {
        ...{ userId: user.userId, webhookId: params.id },
        ...{ change, isEnabled, revisions },
      })
      reply.header('etag', toETag(webhook))
      log.info({ webhookId: webhook._id, isEnabled: webhook.isEnabled }, 'webhook changed')
      return ok('Webhook changed', present(webhook))
    },
  )

  app.delete(
    '/:id',
    {
      schema: {
        ...operation('webhooks', 'deleteWebhook', 'Delete a webhook and its log', { keyScope: 'webhooks:write' }),
        params: IdParam('id'),
        response: { 200: Acknowledged, ...errorResponses },
      },
    },
    async ({ user, params, log }) => {
      await deleteWebhook(context, user.userId, params.id)
      log.info({ webhookId: params.id }, 'webhook deleted')
      return acknowledged('Webhook deleted')
    },
  )

  app.post(
    '/:id/rotate-secret',
    {
      schema: {
        ...operation('webhooks', 'rotateWebhookSecret', 'Replace the signing secret', {
          description: 'For 24 hours, deliveries carry two signatures: one with the new and one with the old secret.',
          keyScope: 'webhooks:write',
        }),
        params: IdParam('id'),
        response: { 200: success(WebhookWithSecret), ...errorResponses },
      },
    },
    async ({ user, params, log }) => {
      const { webhook, secret } = await rotateSecret(context, user.userId, params.id)
      log.info({ webhookId: webhook._id }, 'webhook secret rotated')
      return ok('Secret replaced', { ...present(webhook), secret })
    },
  )

  await app.register(deliveryRoutes, { context })
}
