import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { cancelSubscription } from '../../commands/billing/cancel-subscription.ts'
import { createCheckout } from '../../commands/billing/create-checkout.ts'
import { openBillingPortal } from '../../commands/billing/open-billing-portal.ts'
import type { Context } from '../../context.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { operation } from '../openapi/operation.ts'
import { messageWithData, messageOnly, errorResponses } from '../shared/schemas/envelope.ts'
import { presentSubscription } from './present.ts'
import { HostedPage, SubscriptionStatus } from './schema.ts'

/** Time for everything besides the calls to the payment processor. */
const MARGIN_MS = 5 * SECOND

/** Payments of the signed-in user. Like admin responses, these have no `success` field. */
export const paymentRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const deadlineMs = 3 * context.config.PAYMENTS_TIMEOUT_MS + MARGIN_MS

  app.post(
    '/create-checkout',
    {
      config: { deadlineMs },
      schema: {
        ...operation('payments', 'createCheckout', 'Create a checkout page for the Pro plan', {
          keyScope: 'refused',
          description:
            'Returns the same page while it is open. Fails with 409 ALREADY_SUBSCRIBED while a subscription exists.',
          errors: ['ALREADY_SUBSCRIBED', 'PAYMENT_SESSION_FAILED', 'PAYMENTS_UNAVAILABLE'],
        }),
        response: { 200: messageWithData(HostedPage), ...errorResponses },
      },
    },
    async ({ user }) => ({ message: 'Checkout session created', data: await createCheckout(context, user.userId) }),
  )

  app.post(
    '/billing-portal',
    {
      config: { deadlineMs },
      schema: {
        ...operation(
          'payments',
          'openBillingPortal',
          'Open the billing portal for cards, invoices and the subscription',
          { keyScope: 'refused', errors: ['NO_BILLING_ACCOUNT', 'BILLING_PORTAL_FAILED', 'PAYMENTS_UNAVAILABLE'] },
        ),
        response: { 200: messageWithData(HostedPage), ...errorResponses },
      },
    },
    async ({ user }) => ({ message: 'Billing portal opened', data: await openBillingPortal(context, user.userId) }),
  )

  app.post(
    '/cancel',
    {
      config: { deadlineMs },
      schema: {
        ...operation('payments', 'cancelSubscription', 'Cancel the subscription at the end of the paid period', {
          keyScope: 'refused',
          description: 'The plan stays active until then, and the user can resume it in the billing portal.',
          errors: ['NO_ACTIVE_SUBSCRIPTION', 'NO_SUBSCRIPTION_ID', 'ALREADY_CANCELLING', 'PAYMENTS_UNAVAILABLE'],
        }),
        response: { 200: messageOnly, ...errorResponses },
      },
    },
    async ({ user }) => {
      await cancelSubscription(context, user.userId)
      return { message: 'Subscription will be cancelled at the end of the billing period' }
    },
  )

  app.get(
    '/status',
    {
      schema: {
        ...operation('payments', 'getSubscription', 'Get plan, subscription, usage and limits', {
          keyScope: 'refused',
        }),
        response: { 200: messageWithData(SubscriptionStatus), ...errorResponses },
      },
    },
    async (request) => {
      const { userId } = request.user
      const [user, connected, limit] = await Promise.all([
        context.users.findById(userId),
        context.accounts.listConnected(userId),
        context.findAccountLimit(userId),
      ])
      if (!user) throw new ServiceError('UNAUTHORIZED', 'Unauthorized')
      const data = presentSubscription(user, { used: connected.length, limit })
      return { message: 'Subscription status found', data }
    },
  )
}
