import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { requirePayments } from '../../commands/billing/payment-calls.ts'
import { receivePaymentEvent } from '../../commands/billing/receive-payment-event.ts'
import type { Context } from '../../context.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { AUTHENTICATED_BODY_BYTES } from '../plugins/json-bodies.ts'
import { errorResponses } from '../shared/schemas/envelope.ts'
import { operation } from '../openapi/operation.ts'
import { PaymentEvent, Received } from './schema.ts'

/**
 * The webhook of the payment processor, authenticated by a signature over the raw bytes. A body parser in this scope keeps the
 * bytes unchanged. No code may use the content of an event before its signature is verified.
 */
export const webhookRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => body,
  )

  app.post(
    '/webhook',
    {
      config: { isUnlimited: true },
      // Events can be this long; they are parsed only after their signature is verified.
      bodyLimit: AUTHENTICATED_BODY_BYTES,
      schema: {
        ...operation('payments', 'receivePaymentEvent', 'Receive a signed event of the payment processor', {
          description: 'Events without a matching user are acknowledged and ignored.',
          errors: ['WEBHOOK_INVALID'],
          documented: { body: PaymentEvent },
        }),
        headers: Type.Object({
          'stripe-signature': Type.Optional(Type.String({ description: 'Required: timestamp and HMAC of the body' })),
        }),
        response: { 200: Received, ...errorResponses },
      },
    },
    async ({ body, headers, log }) => {
      const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
      const payments = requirePayments(context.payments)
      try {
        const event = await payments.readEvent(bytes, headers['stripe-signature'], context.clock.now())
        await receivePaymentEvent(context, event)
        return { received: true as const }
      } catch (error) {
        // Operators must fix a rejected signature: the webhook secret is wrong.
        if (error instanceof ServiceError) log.warn({ errorCode: error.code }, 'payment webhook refused')
        throw error
      }
    },
  )
}
