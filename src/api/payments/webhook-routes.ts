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
 * Where the payment processor tells of events (spec 6.1), authenticated by its signature over the very bytes: this scope has a body
 * parser of its own, which leaves them as they came, and nothing here may depend on what they say before the signature was found good.
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
      // Events of the processor may be this long; they are parsed only after their signature was verified.
      bodyLimit: AUTHENTICATED_BODY_BYTES,
      schema: {
        ...operation('payments', 'receivePaymentEvent', 'Events of the payment processor, signed by it', {
          description: 'Events that concern nobody here are acknowledged and ignored.',
          errors: ['WEBHOOK_INVALID'],
          documented: { body: PaymentEvent },
        }),
        headers: Type.Object({
          'stripe-signature': Type.Optional(Type.String({ description: 'Needed: timestamp and HMAC of the body' })),
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
        // Only operators can mend it, by the right secret.
        if (error instanceof ServiceError) log.warn({ errorCode: error.code }, 'a webhook was refused')
        throw error
      }
    },
  )
}
