import { PAYMENT_EVENT_TYPES, type PaymentEvent } from '../domain/payment-events.ts'
import {
  fieldsOf,
  idOf,
  instantOf,
  readInvoiceObject,
  readSubscriptionObject,
  userIdIn,
  userIdOfInvoice,
} from './payments-objects.ts'

type About = Omit<PaymentEvent, 'id' | 'type' | 'createdAt'>
type Type = (typeof PAYMENT_EVENT_TYPES)[number]

const NOTHING: About = {
  userId: null,
  customerId: null,
  subscriptionId: null,
  invoiceId: null,
  told: null,
  toldInvoice: null,
}

const READERS: Record<Type, (object: unknown) => About> = {
  'checkout.session.completed': aboutCheckout,
  'invoice.payment_succeeded': aboutInvoice,
  'invoice.payment_failed': aboutInvoice,
  'customer.subscription.updated': aboutSubscription,
  'customer.subscription.deleted': aboutSubscription,
}

/** Null for what is no event. */
export function readEventObject(value: unknown): PaymentEvent | null {
  const event = fieldsOf(value)
  const { object } = fieldsOf(event['data'])
  const [id, type, createdAt] = [idOf(event), event['type'], instantOf(event['created'])]
  if (id === null || typeof type !== 'string' || createdAt === null) return null
  if (typeof object !== 'object' || object === null || Array.isArray(object)) return null
  const known = PAYMENT_EVENT_TYPES.find((candidate) => candidate === type)
  return { id, type, createdAt, ...(known === undefined ? NOTHING : READERS[known](object)) }
}

function aboutCheckout(object: unknown): About {
  const session = fieldsOf(object)
  return {
    ...NOTHING,
    userId: userIdIn(session['metadata']),
    customerId: idOf(session['customer']),
    subscriptionId: idOf(session['subscription']),
    invoiceId: idOf(session['invoice']),
  }
}

function aboutSubscription(object: unknown): About {
  const subscription = fieldsOf(object)
  return {
    ...NOTHING,
    userId: userIdIn(subscription['metadata']),
    customerId: idOf(subscription['customer']),
    subscriptionId: idOf(subscription),
    invoiceId: idOf(subscription['latest_invoice']),
    told: readSubscriptionObject(subscription),
  }
}

function aboutInvoice(object: unknown): About {
  const toldInvoice = readInvoiceObject(object)
  return {
    ...NOTHING,
    userId: userIdOfInvoice(object),
    customerId: toldInvoice?.customerId ?? null,
    subscriptionId: toldInvoice?.subscriptionId ?? null,
    invoiceId: toldInvoice?.id ?? null,
    toldInvoice,
  }
}
