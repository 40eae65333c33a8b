import {
  NO_BILLING,
  type Billing,
  type KnownSubscription,
  type ProcessorInvoice,
  type ProcessorState,
  type ProcessorSubscription,
} from './billing.ts'
import type { PaymentEvent } from './payment-events.ts'
import type { Limits, Subscription } from './subscription.ts'

/** What the processor said when it was asked, after the record was read. */
export interface ProcessorSnapshot {
  /** Null for one that the processor does not know. */
  subscriptions: ReadonlyMap<string, ProcessorSubscription | null>
  event: PaymentEvent | null
  /** The one the event is about. */
  invoice: ProcessorInvoice | null
  /** The user's last checkout; null when there is none to follow. */
  checkout: { status: 'open' | 'complete' | 'expired'; subscriptionId: string | null } | null
}

export interface BillingRecord {
  subscription: Subscription
  limits: Limits
  /** Missing on records from before there were payments. */
  billing?: Billing
}

/** What a state means for the record (contract section 7). */
export const STANDING_BY_STATE = {
  trialing: 'active',
  active: 'active',
  past_due: 'pastDue',
  unpaid: 'pastDue',
  paused: 'pastDue',
  canceled: 'cancelled',
  incomplete_expired: 'cancelled',
  incomplete: 'unsettled',
  unknown: 'unsettled',
} as const satisfies Record<ProcessorState, ResolvedSubscription['standing']>

/** One subscription of the user as this look has it. */
export interface ResolvedSubscription {
  id: string
  customerId: string | null
  createdAt: Date
  state: ProcessorState
  /** From `unsettled` nothing follows. */
  standing: Subscription['status'] | 'unsettled'
  /** Null where nothing new is said of it. */
  said: ProcessorSubscription | null
  heard: KnownSubscription['heard']
  isFlagged: boolean
}

export function getBilling({ billing }: Pick<BillingRecord, 'billing'>): Billing {
  return { ...NO_BILLING, ...billing }
}

/** All that a look has to ask for. One that ended never comes back, whatever is said of it. */
export function listSubscriptionIds(
  user: BillingRecord,
  event: PaymentEvent | null,
  checkoutId: string | null,
): string[] {
  const { subscriptions, endedIds } = getBilling(user)
  const ids = [
    ...subscriptions.map(({ id }) => id),
    user.subscription.processorSubscriptionId,
    event?.subscriptionId,
    event?.told?.id,
    event?.toldInvoice?.subscriptionId,
    checkoutId,
  ]
  return [...new Set(ids.filter((id) => typeof id === 'string'))].filter((id) => !endedIds.includes(id))
}

/**
 * Where the processor knows a subscription, that counts, and what events say does not. Where it does not, the signed payload counts
 * if none that is newer was heard of; with nothing said, nothing follows: it forgets no subscription, so it is likelier the wrong
 * account that is asked.
 */
export function resolveSubscription(id: string, user: BillingRecord, look: ProcessorSnapshot): ResolvedSubscription {
  const known = getBilling(user).subscriptions.find((one) => one.id === id)
  const event = look.event && isAbout(look.event, id) ? look.event : null
  const told = event?.told?.id === id ? event.told : null
  const read = look.subscriptions.get(id) ?? null
  const said = read ?? told
  const base = {
    id,
    customerId: said?.customerId ?? known?.customerId ?? event?.customerId ?? null,
    createdAt: (read ?? known ?? told)?.createdAt ?? new Date(0),
    heard: selectNewest(known?.heard, event),
    isFlagged: known?.isFlagged ?? false,
  }
  if (!said) return { ...base, state: 'incomplete', standing: 'unsettled', said: null }
  const standing = STANDING_BY_STATE[said.state]
  const hasPassed = !read && standing !== 'cancelled' && base.heard?.eventId !== event?.id
  return { ...base, state: said.state, standing: hasPassed ? 'unsettled' : standing, said: hasPassed ? null : said }
}

export function compareByAge(one: ResolvedSubscription, other: ResolvedSubscription): number {
  return one.createdAt.getTime() - other.createdAt.getTime() || (one.id < other.id ? -1 : 1)
}

function isAbout(event: PaymentEvent, id: string): boolean {
  return [event.subscriptionId, event.told?.id, event.toldInvoice?.subscriptionId].includes(id)
}

/** Of two events of one instant, the id decides: anything that everybody comes to. */
function selectNewest(heard: KnownSubscription['heard'], event: PaymentEvent | null): KnownSubscription['heard'] {
  if (!event) return heard
  const next = { eventId: event.id, at: event.createdAt }
  const since = heard ? next.at.getTime() - heard.at.getTime() : 1
  return since > 0 || (since === 0 && heard && next.eventId > heard.eventId) ? next : heard
}
