import type { ProcessorSubscription } from '../../domain/billing/billing.ts'
import { isPaymentEventType, type PaymentEvent, type PaymentEventType } from '../../domain/billing/payment-events.ts'
import {
  readFields,
  readId,
  readInstant,
  readPaidPeriod,
  readInvoiceObject,
  readSubscriptionObject,
  readUserId,
  readInvoiceUserId,
} from './objects.ts'

type EventDetails = Omit<PaymentEvent, 'id' | 'type' | 'createdAt'>

const NO_DETAILS: EventDetails = {
  userId: null,
  customerId: null,
  subscriptionId: null,
  invoiceId: null,
  payloadSubscription: null,
  payloadInvoice: null,
}

const READERS: Record<PaymentEventType, (object: unknown, createdAt: Date) => EventDetails> = {
  'checkout.session.completed': readCheckoutDetails,
  'invoice.payment_succeeded': (...event) => readInvoiceDetails('active', ...event),
  'invoice.payment_failed': (...event) => readInvoiceDetails('past_due', ...event),
  'customer.subscription.updated': readSubscriptionDetails,
  'customer.subscription.deleted': readSubscriptionDetails,
}

/** Parses an event; null when the value is not one. */
export function readEventObject(value: unknown): PaymentEvent | null {
  const event = readFields(value)
  const { object } = readFields(event['data'])
  const [id, type, createdAt] = [readId(event), event['type'], readInstant(event['created'])]
  if (id === null || typeof type !== 'string' || createdAt === null) return null
  if (typeof object !== 'object' || object === null || Array.isArray(object)) return null
  return { id, type, createdAt, ...(isPaymentEventType(type) ? READERS[type](object, createdAt) : NO_DETAILS) }
}

function readCheckoutDetails(object: unknown, createdAt: Date): EventDetails {
  const session = readFields(object)
  const ids = {
    userId: readUserId(session['metadata']),
    customerId: readId(session['customer']),
    subscriptionId: readId(session['subscription']),
  }
  const state = session['payment_status'] === 'unpaid' ? 'incomplete' : 'active'
  return {
    ...NO_DETAILS,
    ...ids,
    invoiceId: readId(session['invoice']),
    payloadSubscription: toImpliedSubscription(ids, { state, createdAt }),
  }
}

function readSubscriptionDetails(object: unknown): EventDetails {
  const subscription = readFields(object)
  return {
    ...NO_DETAILS,
    userId: readUserId(subscription['metadata']),
    customerId: readId(subscription['customer']),
    subscriptionId: readId(subscription),
    invoiceId: readId(subscription['latest_invoice']),
    payloadSubscription: readSubscriptionObject(subscription),
  }
}

function readInvoiceDetails(state: 'active' | 'past_due', object: unknown, createdAt: Date): EventDetails {
  const invoice = readInvoiceObject(object)
  if (invoice === null) return NO_DETAILS
  const payloadInvoice = { ...invoice, isPaid: invoice.isPaid || state === 'active' }
  const ids = {
    userId: readInvoiceUserId(object),
    customerId: payloadInvoice.customerId,
    subscriptionId: payloadInvoice.subscriptionId,
  }
  // A subscription has not begun while its first payment fails.
  const implied = payloadInvoice.isFirst && state === 'past_due' ? 'incomplete' : state
  const period = state === 'active' ? readPaidPeriod(object) : {}
  const subscription = toImpliedSubscription(ids, { state: implied, createdAt, ...period })
  return {
    ...NO_DETAILS,
    ...ids,
    invoiceId: payloadInvoice.id,
    payloadSubscription: subscription && { ...subscription, latestInvoice: payloadInvoice },
    payloadInvoice,
  }
}

/** Returns the subscription state implied by an event about another object; null when the event does not name a subscription. */
function toImpliedSubscription(
  { userId, customerId, subscriptionId }: Pick<EventDetails, 'userId' | 'customerId' | 'subscriptionId'>,
  implied: Pick<ProcessorSubscription, 'state' | 'createdAt'> & Partial<ProcessorSubscription>,
): ProcessorSubscription | null {
  if (customerId === null || subscriptionId === null) return null
  return {
    id: subscriptionId,
    customerId,
    userId,
    currentPeriodStart: null,
    currentPeriodEnd: null,
    cancelAtPeriodEnd: null,
    latestInvoice: null,
    ...implied,
  }
}
