import { addMonths } from './calendar.ts'
import type { Clock } from './clock.ts'
import type { Events, EventType } from './events.ts'
import type { Card, CustomerRecord, InvoiceRecord, Metadata, Seconds, SubscriptionRecord } from './records.ts'
import type { Shapes } from './shapes.ts'
import { periodOf } from './shapes/subscription.ts'
import { newId, type State } from './state.ts'

interface BillingDeps {
  state: State
  shapes: Shapes
  clock: Clock
  events: Events
}

const DAY = 86_400
/**
 * Days after the first attempt on which an invoice is charged again. When the last attempt fails, the subscription
 * ends.
 */
const RETRY_DAYS = [3, 5, 7]

/** Creates subscriptions and their invoices, and runs them over time. */
export function createBilling({ state, shapes, clock, events }: BillingDeps) {
  const { customers, subscriptions, invoices } = state
  /** How long the invoice of a renewal stays a draft. The real API takes an hour; here the default is 0. */
  const settings = { draftSeconds: 0 }

  const shown = (record: SubscriptionRecord) => shapes.subscription(record, events.settings.apiShape)
  const emit = (type: EventType, record: SubscriptionRecord) => events.emit(type, shown(record))
  const emitInvoice = (type: EventType, record: InvoiceRecord) =>
    events.emit(type, shapes.invoice(record, events.settings.apiShape))

  /** Saves changes of a subscription and emits an event. */
  function update(id: string, changes: Partial<SubscriptionRecord>): SubscriptionRecord {
    const before = subscriptions.get(id)!
    const after = subscriptions.set(id, { ...before, ...changes })
    events.emit('customer.subscription.updated', shown(after), shown(before))
    return after
  }

  /** Adds a draft, not charged yet. */
  function addInvoice(subscription: SubscriptionRecord, reason: InvoiceRecord['reason']): InvoiceRecord {
    const { start, end, previousStart } = periodOf(subscription)
    const { id, customerId, metadata, itemId } = subscription
    const invoiceId = subscription.latestInvoiceId
    const count = invoices.values().filter((other) => other.customerId === customerId).length
    return invoices.set(invoiceId, {
      id: invoiceId,
      number: `${customerId.slice(-8).toUpperCase()}-${String(count + 1).padStart(4, '0')}`,
      lineId: newId('il'),
      customerId,
      customerEmail: customers.get(customerId)!.email,
      subscriptionId: id,
      itemId,
      metadata,
      reason,
      status: 'draft',
      createdAt: clock.now(),
      finalizedAt: null,
      paidAt: null,
      usedFrom: previousStart,
      periodStart: start,
      periodEnd: end,
      attempts: 0,
      nextAttemptAt: null,
    })
  }

  /** Charges the customer's card. */
  function charge(id: string): InvoiceRecord {
    const invoice = invoices.get(id)!
    const now = clock.now()
    const finalizedAt = invoice.finalizedAt ?? now
    const tried = { ...invoice, attempts: invoice.attempts + 1, finalizedAt }
    if (customers.get(invoice.customerId)!.card === 'works') {
      return invoices.set(id, { ...tried, status: 'paid', paidAt: now, nextAttemptAt: null })
    }
    const retries = RETRY_DAYS.map((days) => finalizedAt + days * DAY)
    return invoices.set(id, { ...tried, status: 'open', nextAttemptAt: retries.find((at) => at > now) ?? null })
  }

  function emitCharge(invoice: InvoiceRecord): void {
    if (invoice.status === 'open') return emitInvoice('invoice.payment_failed', invoice)
    emitInvoice('invoice.paid', invoice)
    emitInvoice('invoice.payment_succeeded', invoice)
  }

  function end(id: string): SubscriptionRecord {
    const subscription = subscriptions.get(id)!
    const at = clock.now()
    const ended = subscriptions.set(id, {
      ...subscription,
      status: 'canceled',
      canceledAt: subscription.canceledAt ?? at,
      endedAt: at,
    })
    for (const invoice of invoices.values()) {
      if (invoice.subscriptionId === id) invoices.set(invoice.id, { ...invoice, nextAttemptAt: null })
    }
    emit('customer.subscription.deleted', ended)
    return ended
  }

  /** Starts the next period, or ends the subscription. */
  function renew(id: string): void {
    const before = subscriptions.get(id)!
    if (before.cancelAtPeriodEnd) return void end(id)
    const periods = before.periods + 1
    const periodEnd = addMonths(before.createdAt, periods)
    const next = { ...before, periods, periodEnd, latestInvoiceId: newId('in') }
    const draft = addInvoice(next, 'subscription_cycle')
    const { latestInvoiceId } = next
    if (settings.draftSeconds > 0) {
      invoices.set(draft.id, { ...draft, nextAttemptAt: draft.createdAt + settings.draftSeconds })
      update(id, { periods, periodEnd, latestInvoiceId })
      return
    }
    const invoice = charge(draft.id)
    update(id, { periods, periodEnd, latestInvoiceId, status: invoice.status === 'paid' ? 'active' : 'past_due' })
    emitCharge(invoice)
  }

  /** Charges an invoice again and applies the result. */
  function chargeAgain(id: string): void {
    const invoice = charge(id)
    emitCharge(invoice)
    const subscription = subscriptions.get(invoice.subscriptionId)!
    if (!isLive(subscription) || subscription.latestInvoiceId !== id) return
    if (invoice.status === 'paid') {
      if (subscription.status !== 'active') update(subscription.id, { status: 'active' })
    } else if (invoice.nextAttemptAt === null) end(subscription.id)
    else if (subscription.status === 'active') update(subscription.id, { status: 'past_due' })
  }

  return {
    settings,

    createCustomer(email: string | null, card: Card): CustomerRecord {
      const id = newId('cus')
      return customers.set(id, { id, email, card, createdAt: clock.now(), isDeleted: false })
    },

    /** Starts a subscription with a paid first invoice. The caller has checked that the card works. */
    start(customerId: string, metadata: Metadata): SubscriptionRecord {
      const id = newId('sub')
      const createdAt = clock.now()
      const subscription: SubscriptionRecord = {
        id,
        itemId: newId('si'),
        customerId,
        metadata,
        status: 'active',
        createdAt,
        periods: 1,
        periodEnd: addMonths(createdAt, 1),
        cancelAtPeriodEnd: false,
        canceledAt: null,
        endedAt: null,
        latestInvoiceId: newId('in'),
        isForgotten: false,
      }
      subscriptions.set(id, subscription)
      addInvoice(subscription, 'subscription_create')
      const invoice = charge(subscription.latestInvoiceId)
      emit('customer.subscription.created', subscription)
      emitCharge(invoice)
      return subscription
    },

    update,
    end,
    setCancelAtPeriodEnd(id: string, cancelAtPeriodEnd: boolean, also: Partial<SubscriptionRecord> = {}) {
      return update(id, { ...also, cancelAtPeriodEnd, canceledAt: cancelAtPeriodEnd ? clock.now() : null })
    },

    setCard(customerId: string, card: Card): CustomerRecord {
      return customers.set(customerId, { ...customers.get(customerId)!, card })
    },

    /** @returns the unpaid invoices that were charged */
    retryPayment(customerId: string): InvoiceRecord[] {
      const unpaid = invoices
        .values()
        .filter((invoice) => invoice.customerId === customerId && invoice.status === 'open')
      for (const { id } of unpaid) chargeAgain(id)
      return unpaid.map(({ id }) => invoices.get(id)!)
    },

    deleteCustomer(id: string): CustomerRecord {
      for (const subscription of subscriptions.values()) {
        if (subscription.customerId === id && isLive(subscription)) end(subscription.id)
      }
      const deleted = customers.set(id, { ...customers.get(id)!, email: null, isDeleted: true })
      events.emit('customer.deleted', shapes.customer(deleted))
      return deleted
    },

    /** Returns the events that are due until then, unordered. */
    due(until: Seconds): { at: Seconds; run(): void }[] {
      const renewals = subscriptions
        .values()
        .filter((subscription) => subscription.periodEnd <= until && isLive(subscription))
        .map(({ id, periodEnd }) => ({ at: periodEnd, run: () => renew(id) }))
      const retries = invoices
        .values()
        .flatMap(({ id, nextAttemptAt: at }) => (at === null || at > until ? [] : [{ at, run: () => chargeAgain(id) }]))
      return [...retries, ...renewals]
    },
  }
}

export type Billing = ReturnType<typeof createBilling>

export function isLive({ status, isForgotten }: SubscriptionRecord): boolean {
  return status !== 'canceled' && !isForgotten
}
