import type { ProcessorInvoice, ProcessorSubscription } from '../../src/domain/billing/billing.ts'
import { listSubscriptionIds, type BillingRecord } from '../../src/domain/billing/processor-snapshot.ts'
import { decideBillingUpdate, type BillingUpdate } from '../../src/domain/billing/billing-update.ts'
import type { PaymentEvent } from '../../src/domain/billing/payment-events.ts'
import { newUser, type User } from '../../src/domain/users/user.ts'
import { after, T0 } from './posts.ts'

export const MONTH = 30 * 86_400_000
export const LIMITS = {
  free: { maxPosts: 30, maxCaptionGenerations: 15 },
  pro: { maxPosts: 60, maxCaptionGenerations: 30 },
}

export function buildInvoice(fields: Partial<ProcessorInvoice> = {}): ProcessorInvoice {
  return { id: 'in_1', subscriptionId: 'sub_1', customerId: 'cus_1', isFirst: true, isPaid: true, ...fields }
}

export function buildSubscription(fields: Partial<ProcessorSubscription> = {}): ProcessorSubscription {
  return {
    id: 'sub_1',
    customerId: 'cus_1',
    userId: 'user_1',
    state: 'active',
    createdAt: T0,
    currentPeriodStart: T0,
    currentPeriodEnd: after(T0, MONTH),
    cancelAtPeriodEnd: false,
    latestInvoice: buildInvoice({ ...(fields.id && { subscriptionId: fields.id }) }),
    ...fields,
  }
}

let events = 0

export function buildEvent(fields: Partial<PaymentEvent> = {}): PaymentEvent {
  return {
    id: `evt_${(events += 1)}`,
    type: 'customer.subscription.updated',
    createdAt: T0,
    userId: 'user_1',
    customerId: 'cus_1',
    subscriptionId: 'sub_1',
    invoiceId: null,
    payloadSubscription: null,
    payloadInvoice: null,
    ...fields,
  }
}

export function buildUser(): User {
  const user = newUser(
    { _id: 'user_1', email: 'a@example.test', name: 'Ann', passwordHash: null, limits: LIMITS.free },
    T0,
  )
  return { ...user, usage: { postsCreated: 7, captionGenerations: 3 } }
}

/** The state of the processor. A test changes it and syncs again. */
export interface ProcessorData {
  subscriptions: ProcessorSubscription[]
  invoices?: ProcessorInvoice[]
  checkout?: { status: 'open' | 'complete' | 'expired'; subscriptionId: string | null }
}

/** Syncs a user with the processor's state once, like the command but without servers. */
export function syncBilling(
  user: User,
  data: ProcessorData,
  event: PaymentEvent | null = null,
): { user: User; step: BillingUpdate } {
  const checkout = user.billing.checkoutId === null ? null : (data.checkout ?? null)
  const ids = listSubscriptionIds(user satisfies BillingRecord, event, checkout?.subscriptionId ?? null)
  const invoices = [...data.subscriptions.flatMap(({ latestInvoice }) => latestInvoice ?? []), ...(data.invoices ?? [])]
  const step = decideBillingUpdate(
    user,
    {
      subscriptions: new Map(
        ids.map((id) => [id, data.subscriptions.find((subscription) => subscription.id === id) ?? null]),
      ),
      event,
      invoice: event?.invoiceId ? (invoices.find(({ id }) => id === event.invoiceId) ?? event.payloadInvoice) : null,
      checkout,
    },
    LIMITS,
  )
  return { user: apply(user, step), step }
}

function apply(user: User, { subscription, limits, resetsUsage, billing }: BillingUpdate): User {
  return {
    ...user,
    subscription: { ...user.subscription, ...subscription },
    limits: limits ?? user.limits,
    usage: resetsUsage ? { postsCreated: 0, captionGenerations: 0 } : user.usage,
    billing: { ...billing, revision: user.billing.revision + 1 },
  }
}
