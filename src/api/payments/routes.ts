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

/** What a route needs besides the processor. */
const MARGIN_MS = 5 * SECOND

/** Spec 4.6, for authenticated users. Like those for admins the answers carry no `success` (contract section 1). */
export const paymentRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const deadlineMs = 3 * context.config.PAYMENTS_TIMEOUT_MS + MARGIN_MS

  app.post(
    '/create-checkout',
    {
      config: { deadlineMs },
      schema: {
        ...operation('payments', 'createCheckout', 'The page on which the user pays for Pro', {
          description: 'The same page again while it is open. 409 ALREADY_SUBSCRIBED while there is a subscription.',
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
          'The page on which the user looks after cards, invoices and the subscription',
          { errors: ['NO_BILLING_ACCOUNT', 'BILLING_PORTAL_FAILED', 'PAYMENTS_UNAVAILABLE'] },
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
        ...operation('payments', 'cancelSubscription', 'End the subscription with the period that is paid for', {
          description: 'Until then the plan stays as it is, and the billing portal can take it back.',
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
        ...operation('payments', 'getSubscription', 'Plan, subscription, what of the plan is used, and its limits'),
        response: { 200: messageWithData(SubscriptionStatus), ...errorResponses },
      },
    },
    async (request) => {
      const user = await context.users.findById(request.user.userId)
      if (!user) throw new ServiceError('UNAUTHORIZED', 'Unauthorized')
      return { message: 'Subscription status found', data: presentSubscription(user) }
    },
  )
}
