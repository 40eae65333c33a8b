import { startPayments } from '../../../sandbox/services/payments.ts'
import type { PaymentEvent } from '../../../src/domain/billing/payment-events.ts'
import { LIMITS } from '../../support/billing.ts'
import { createAccount } from '../../support/api.ts'
import { testContext } from '../../support/servers.ts'
import { signatureOf } from '../../support/webhooks.ts'

export const USED = { postsCreated: 7, captionGenerations: 3 }
export const UNUSED = { postsCreated: 0, captionGenerations: 0 }

/** The service and the sandbox's processor. Its events are kept, and reach the service when a test hands them over. */
export async function billingWorld() {
  const sandbox = await startPayments({ workMs: 0 })
  const { processor } = sandbox
  processor.webhooks({ held: true })
  const settings = sandbox.env('http://127.0.0.1:9')
  const secret = settings.STRIPE_WEBHOOK_SECRETS
  const context = await testContext(settings)
  const payments = context.payments!

  /** As the service reads it from a webhook. */
  async function read(body: object): Promise<PaymentEvent> {
    const payload = Buffer.from(JSON.stringify(body))
    return payments.readEvent(payload, signatureOf(payload, { secret }), new Date())
  }

  return {
    context,
    payments,
    processor,

    newUser: () => createAccount(context, { limits: LIMITS.free, usage: USED }),

    /** A user at the processor, who has paid for the first month there. */
    subscribe: (userId: string, customerId?: string) =>
      processor.subscribe({ userId, email: `${userId}@example.test`, ...(customerId && { customerId }) }),

    /** All that the processor had to say of a user, in the order in which it happened. */
    async eventsOf(userId: string): Promise<PaymentEvent[]> {
      const bodies = processor.events().map(({ body }) => body)
      const events = await Promise.all(bodies.filter((body) => JSON.stringify(body).includes(userId)).map(read))
      return events.filter(({ subscriptionId }) => subscriptionId !== null)
    },

    read,

    /** What the workflow does with an event that came. */
    async apply(userId: string, event: PaymentEvent) {
      await context.paymentEvents.insertOrRead(event, new Date())
      return context.syncSubscription(userId, event)
    },

    user: async (userId: string) => (await context.users.findById(userId))!,

    async news(userId: string): Promise<string[]> {
      const stored = await context.notifications.listOf(userId, 100)
      return stored.map(({ message }) => message).toReversed()
    },

    async close() {
      await context.close()
      await sandbox.stop()
    },
  }
}

export type BillingWorld = Awaited<ReturnType<typeof billingWorld>>
