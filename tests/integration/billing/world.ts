import { startPayments } from '../../../sandbox/services/payments.ts'
import type { PaymentEvent } from '../../../src/domain/billing/payment-events.ts'
import { LIMITS } from '../../support/billing.ts'
import { createAccount } from '../../support/api.ts'
import { testContext } from '../../support/servers.ts'
import { signatureOf } from '../../support/webhooks.ts'

export const USED = { postsCreated: 7, captionGenerations: 3 }
export const UNUSED = { postsCreated: 0, captionGenerations: 0 }

/** The service and the sandbox's payment processor. Events are queued, and reach the service when a test delivers them. */
export async function billingWorld() {
  const sandbox = await startPayments({ workMs: 0 })
  const { processor } = sandbox
  processor.webhooks({ held: true })
  const settings = sandbox.env('http://127.0.0.1:9')
  const secret = settings.STRIPE_WEBHOOK_SECRETS
  const context = await testContext(settings)
  const payments = context.payments!

  /** An event as the service reads it from a webhook. */
  async function read(body: object): Promise<PaymentEvent> {
    const payload = Buffer.from(JSON.stringify(body))
    return payments.readEvent(payload, signatureOf(payload, { secret }), new Date())
  }

  return {
    context,
    payments,
    processor,

    newUser: () => createAccount(context, { limits: LIMITS.free, usage: USED }),

    /** Creates a user who has paid for the first month. */
    subscribe: (userId: string, customerId?: string) =>
      processor.subscribe({ userId, email: `${userId}@example.test`, ...(customerId && { customerId }) }),

    /** All events about a user, in order. */
    async eventsOf(userId: string): Promise<PaymentEvent[]> {
      const bodies = processor.events().map(({ body }) => body)
      const events = await Promise.all(bodies.filter((body) => JSON.stringify(body).includes(userId)).map(read))
      return events.filter(({ subscriptionId }) => subscriptionId !== null)
    },

    read,

    /** Processes an event like the workflow. */
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
