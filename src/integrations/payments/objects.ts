import {
  PROCESSOR_STATES,
  type ProcessorInvoice,
  type ProcessorState,
  type ProcessorSubscription,
} from '../../domain/billing/billing.ts'
import { SECOND } from '../../domain/shared/times.ts'

/*
 * Parsers for objects of the API. Responses use the pinned version, webhooks use the account's version:
 * since 2025-03 a subscription's period is on its item and an invoice's subscription is under `parent`, so both places are read.
 * https://docs.stripe.com/changelog/basil#2025-03-31.basil
 */

type Fields = Record<string, unknown>

const LONGEST_ID = 255

/** Returns the fields of an object; none for any other value. */
export function readFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

/** Reads the id of an object, or an id in place of the object. */
export function readId(value: unknown): string | null {
  const id = typeof value === 'string' ? value : readFields(value)['id']
  return typeof id === 'string' && id !== '' && id.length <= LONGEST_ID ? id : null
}

export function readInstant(seconds: unknown): Date | null {
  if (typeof seconds !== 'number') return null
  const instant = new Date(seconds * SECOND)
  return Number.isNaN(instant.getTime()) ? null : instant
}

/** Our user id, as stored by the checkout. */
export function readUserId(metadata: unknown): string | null {
  return readId(readFields(metadata)['userId'])
}

/** Parses a subscription; null when the value is not a readable one. */
export function readSubscriptionObject(value: unknown): ProcessorSubscription | null {
  const subscription = readFields(value)
  const [id, customerId] = [readId(subscription), readId(subscription['customer'])]
  const createdAt = readInstant(subscription['created'])
  const state = toState(subscription['status'])
  if (id === null || customerId === null || createdAt === null || state === null) return null
  const period = readPeriod(subscription)
  return {
    id,
    customerId,
    userId: readUserId(subscription['metadata']),
    state,
    createdAt,
    ...period,
    cancelAtPeriodEnd: subscription['cancel_at_period_end'] === true || endsWithin(period, subscription['cancel_at']),
    latestInvoice: readInvoiceObject(subscription['latest_invoice']),
  }
}

function toState(status: unknown): ProcessorState | null {
  if (typeof status !== 'string') return null
  return PROCESSOR_STATES.find((state) => state === status) ?? 'unknown'
}

type Period = Pick<ProcessorSubscription, 'currentPeriodStart' | 'currentPeriodEnd'>

function readPeriod(subscription: Fields): Period {
  const items = readFields(subscription['items'])['data']
  const item = readFields(Array.isArray(items) ? items[0] : null)
  return {
    currentPeriodStart: readInstant(subscription['current_period_start'] ?? item['current_period_start']),
    currentPeriodEnd: readInstant(subscription['current_period_end'] ?? item['current_period_end']),
  }
}

/** The period that an invoice pays for, taken from its last line. */
export function readPaidPeriod(invoice: unknown): Period {
  const lines = readFields(readFields(invoice)['lines'])['data']
  const { start, end } = readFields(readFields(Array.isArray(lines) ? lines.at(-1) : null)['period'])
  return { currentPeriodStart: readInstant(start), currentPeriodEnd: readInstant(end) }
}

/** The portal stores a cancellation in the newer billing mode as an instant. */
function endsWithin({ currentPeriodEnd }: Period, cancelAt: unknown): boolean {
  const end = readInstant(cancelAt)
  return end !== null && currentPeriodEnd !== null && end <= currentPeriodEnd
}

/** Parses an invoice; null when the value is a bare id or not readable. */
export function readInvoiceObject(value: unknown): ProcessorInvoice | null {
  const invoice = readFields(value)
  const id = readId(invoice)
  if (id === null) return null
  return {
    id,
    subscriptionId: readId(invoice['subscription']) ?? readId(subscriptionDetails(invoice)['subscription']),
    customerId: readId(invoice['customer']),
    isFirst: invoice['billing_reason'] === 'subscription_create',
    isPaid: invoice['status'] === 'paid' || invoice['paid'] === true,
  }
}

export function readInvoiceUserId(value: unknown): string | null {
  const invoice = readFields(value)
  return (
    readUserId(subscriptionDetails(invoice)['metadata']) ??
    readUserId(readFields(invoice['subscription_details'])['metadata'])
  )
}

function subscriptionDetails(invoice: Fields): Fields {
  return readFields(readFields(invoice['parent'])['subscription_details'])
}
