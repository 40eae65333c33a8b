import type { Billing, KnownSubscription, ProcessorInvoice, ProcessorState, ProcessorSubscription } from './billing.ts'
import type { PaymentEvent } from './payment-events.ts'
import type { Limits, Subscription } from './subscription.ts'

/** Responses of the payment processor, read after the user's record. */
export interface ProcessorSnapshot {
  /** By id; null for a subscription that the processor does not know. */
  subscriptions: ReadonlyMap<string, ProcessorSubscription | null>
  event: PaymentEvent | null
  /** The invoice that the event is about. */
  invoice: ProcessorInvoice | null
  /** The user's last checkout; null when there is none to check. */
  checkout: { status: 'open' | 'complete' | 'expired'; subscriptionId: string | null } | null
}

export interface BillingRecord {
  subscription: Subscription
  limits: Limits
  billing: Billing
}

/** The status of the user's subscription for each state at the processor. */
export const STATUS_BY_STATE = {
  trialing: 'active',
  active: 'active',
  past_due: 'pastDue',
  unpaid: 'pastDue',
  paused: 'pastDue',
  canceled: 'cancelled',
  incomplete_expired: 'cancelled',
  incomplete: 'undetermined',
  unknown: 'undetermined',
} as const satisfies Record<ProcessorState, ResolvedSubscription['effectiveStatus']>

type NewestEvent = KnownSubscription['newestEvent']

/** A subscription of the user as resolved from the record, the event and the processor's response. */
export interface ResolvedSubscription {
  id: string
  customerId: string | null
  createdAt: Date
  state: ProcessorState
  /** The user's status that follows from `state`. `undetermined` changes nothing in the record. */
  effectiveStatus: Subscription['status'] | 'undetermined'
  /** The state to apply; null when there is nothing new. */
  reported: ProcessorSubscription | null
  newestEvent: NewestEvent
  isFlagged: boolean
}

/** Returns the ids of the subscriptions to fetch from the processor. Ended subscriptions are excluded, because they never resume. */
export function listSubscriptionIds(
  user: BillingRecord,
  event: PaymentEvent | null,
  checkoutId: string | null,
): string[] {
  const { subscriptions, endedIds } = user.billing
  const ids = [
    ...subscriptions.map(({ id }) => id),
    user.subscription.processorSubscriptionId,
    event?.subscriptionId,
    event?.payloadSubscription?.id,
    event?.payloadInvoice?.subscriptionId,
    checkoutId,
  ]
  return [...new Set(ids.filter((id) => typeof id === 'string'))].filter((id) => !endedIds.includes(id))
}

/**
 * Resolves the current state of a subscription. The processor's response overrides events. If the processor does not know the
 * subscription, the signed payload of the event counts unless a newer event was recorded. Without either, the subscription is
 * `undetermined`: the processor forgets no subscription, so the service probably uses the wrong processor account.
 */
export function resolveSubscription(
  id: string,
  user: BillingRecord,
  snapshot: ProcessorSnapshot,
): ResolvedSubscription {
  const known = user.billing.subscriptions.find((one) => one.id === id)
  const event = snapshot.event && isAbout(snapshot.event, id) ? snapshot.event : null
  const fromEvent = event?.payloadSubscription?.id === id ? event.payloadSubscription : null
  const fetched = snapshot.subscriptions.get(id) ?? null
  const reported = fetched ?? fromEvent
  const base = {
    id,
    customerId: reported?.customerId ?? known?.customerId ?? event?.customerId ?? null,
    createdAt: (fetched ?? known ?? fromEvent)?.createdAt ?? new Date(0),
    newestEvent: selectNewest(known?.newestEvent, event),
    isFlagged: known?.isFlagged ?? false,
  }
  if (!reported) return { ...base, state: 'incomplete', effectiveStatus: 'undetermined', reported: null }
  const effectiveStatus = STATUS_BY_STATE[reported.state]
  const isOutdated = !fetched && effectiveStatus !== 'cancelled' && base.newestEvent?.eventId !== event?.id
  return {
    ...base,
    state: reported.state,
    effectiveStatus: isOutdated ? 'undetermined' : effectiveStatus,
    reported: isOutdated ? null : reported,
  }
}

export function compareByAge(one: ResolvedSubscription, other: ResolvedSubscription): number {
  return one.createdAt.getTime() - other.createdAt.getTime() || (one.id < other.id ? -1 : 1)
}

function isAbout(event: PaymentEvent, id: string): boolean {
  return [event.subscriptionId, event.payloadSubscription?.id, event.payloadInvoice?.subscriptionId].includes(id)
}

/** Returns the newer event. Events with equal timestamps are ordered by id; any deterministic tie-break works. */
function selectNewest(known: NewestEvent, event: PaymentEvent | null): NewestEvent {
  if (!event) return known
  const next = { eventId: event.id, at: event.createdAt }
  const since = known ? next.at.getTime() - known.at.getTime() : 1
  return since > 0 || (since === 0 && known && next.eventId > known.eventId) ? next : known
}
