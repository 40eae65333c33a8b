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

type About = Omit<PaymentEvent, 'id' | 'type' | 'createdAt'>

const NOTHING: About = {
  userId: null,
  customerId: null,
  subscriptionId: null,
  invoiceId: null,
  told: null,
  toldInvoice: null,
}

const READERS: Record<PaymentEventType, (object: unknown, createdAt: Date) => About> = {
  'checkout.session.completed': aboutCheckout,
  'invoice.payment_succeeded': (...event) => aboutInvoice('active', ...event),
  'invoice.payment_failed': (...event) => aboutInvoice('past_due', ...event),
  'customer.subscription.updated': aboutSubscription,
  'customer.subscription.deleted': aboutSubscription,
}

/** Parses an event; null when the value is not one. */
export function readEventObject(value: unknown): PaymentEvent | null {
  const event = readFields(value)
  const { object } = readFields(event['data'])
  const [id, type, createdAt] = [readId(event), event['type'], readInstant(event['created'])]
  if (id === null || typeof type !== 'string' || createdAt === null) return null
  if (typeof object !== 'object' || object === null || Array.isArray(object)) return null
  return { id, type, createdAt, ...(isPaymentEventType(type) ? READERS[type](object, createdAt) : NOTHING) }
}

function aboutCheckout(object: unknown, createdAt: Date): About {
  const session = readFields(object)
  const ids = {
    userId: readUserId(session['metadata']),
    customerId: readId(session['customer']),
    subscriptionId: readId(session['subscription']),
  }
  const state = session['payment_status'] === 'unpaid' ? 'incomplete' : 'active'
  return { ...NOTHING, ...ids, invoiceId: readId(session['invoice']), told: impliedBy(ids, { state, createdAt }) }
}

function aboutSubscription(object: unknown): About {
  const subscription = readFields(object)
  return {
    ...NOTHING,
    userId: readUserId(subscription['metadata']),
    customerId: readId(subscription['customer']),
    subscriptionId: readId(subscription),
    invoiceId: readId(subscription['latest_invoice']),
    told: readSubscriptionObject(subscription),
  }
}

function aboutInvoice(state: 'active' | 'past_due', object: unknown, createdAt: Date): About {
  const read = readInvoiceObject(object)
  if (read === null) return NOTHING
  const toldInvoice = { ...read, isPaid: read.isPaid || state === 'active' }
  const ids = {
    userId: readInvoiceUserId(object),
    customerId: toldInvoice.customerId,
    subscriptionId: toldInvoice.subscriptionId,
  }
  // A subscription has not begun while its first payment fails.
  const implied = toldInvoice.isFirst && state === 'past_due' ? 'incomplete' : state
  const period = state === 'active' ? readPaidPeriod(object) : {}
  const subscription = impliedBy(ids, { state: implied, createdAt, ...period })
  return {
    ...NOTHING,
    ...ids,
    invoiceId: toldInvoice.id,
    told: subscription && { ...subscription, latestInvoice: toldInvoice },
    toldInvoice,
  }
}

/** The subscription state implied by an event about another object. */
function impliedBy(
  { userId, customerId, subscriptionId }: Pick<About, 'userId' | 'customerId' | 'subscriptionId'>,
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
