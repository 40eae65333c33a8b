import type { Billing, KnownSubscription } from './billing.ts'
import {
  resolveSubscription,
  compareByAge,
  type BillingRecord,
  type ResolvedSubscription,
  type ProcessorSnapshot,
} from './processor-snapshot.ts'
import { formatIsoDate } from '../shared/times.ts'
import type { Limits, Subscription, SubscriptionPlan } from './subscription.ts'

export type BillingEvent =
  | { kind: 'planChanged' | 'paymentFailed' | 'paymentRecovered' | 'planEnding' | 'planContinues' }
  | { kind: 'secondSubscription'; subscriptionId: string }

/** The changes to apply to a user's record. Only fields that change are set, so that concurrent changes of other fields stay. */
export interface BillingUpdate {
  subscription: Partial<Subscription>
  /** The limits of the new plan; null when the plan and the user's limits stay. */
  limits: Limits | null
  resetsUsage: boolean
  billing: Omit<Billing, 'revision'>
  events: BillingEvent[]
  isChanged: boolean
}

type Move = Pick<BillingUpdate, 'subscription'> & { applied: Billing['applied'] }

const UNKNOWN_PERIOD = { currentPeriodStart: null, currentPeriodEnd: null, cancelAtPeriodEnd: false }
const MAX_ENDED_IDS = 20
const MAX_COUNTED_INVOICES = 40

/**
 * Decides how a user's record changes to match the payment processor. The decision depends on the processor's current state and
 * not on the order of events, so repeated calls return the same result.
 */
export function decideBillingUpdate(
  user: BillingRecord,
  snapshot: ProcessorSnapshot,
  planLimits: Record<SubscriptionPlan, Limits>,
): BillingUpdate {
  const { revision: _, ...before } = user.billing
  const resolved = [...snapshot.subscriptions.keys()]
    .map((id) => resolveSubscription(id, user, snapshot))
    .toSorted(compareByAge)
  const ended = resolved.filter(({ effectiveStatus }) => effectiveStatus === 'cancelled')
  const running = resolved.filter(({ effectiveStatus }) => effectiveStatus !== 'cancelled')
  const record = running.find(
    ({ id, effectiveStatus }) => effectiveStatus !== 'undetermined' || isRecordSubscription(user, id),
  )
  const customerIds = resolved.map(({ customerId }) => customerId)
  const secondSubscriptions = running.filter((one) => one !== record && one.effectiveStatus !== 'undetermined')

  // An incomplete subscription was never paid for and granted nothing that could be revoked.
  const revocable = ended.filter(({ id, state }) => isRecordSubscription(user, id) || state !== 'incomplete_expired')
  const move = record
    ? applyRecordState(user, before.applied, record)
    : downgradeToFree(user, before.applied, revocable)
  const subscription = findChanges(user.subscription, move.subscription)
  const renewal = countInvoices(before.countedInvoiceIds, snapshot, record)
  // The usage restarts after each ended subscription of the record, including one that started and ended between two syncs.
  const resetsUsage = renewal.resetsUsage || revocable.some((one) => !record || compareByAge(one, record) < 0)
  const billing = {
    subscriptions: running.flatMap((one) => toKnownSubscription(one, secondSubscriptions.includes(one))),
    applied: move.applied,
    endedIds: [...before.endedIds, ...ended.map(({ id }) => id)].slice(-MAX_ENDED_IDS),
    countedInvoiceIds: renewal.counted,
    customerIds: mergeIds(before.customerIds, customerIds),
    checkoutId: isPendingCheckout(snapshot.checkout, running) ? before.checkoutId : null,
  }
  return {
    subscription,
    limits: subscription.plan ? planLimits[subscription.plan] : null,
    resetsUsage,
    billing,
    events: [...findEvents(user.subscription, subscription), ...findSecondSubscriptionEvents(secondSubscriptions)],
    isChanged: Object.keys(subscription).length > 0 || resetsUsage || !isSame(before, billing),
  }
}

/** Describes an update for operators, without personal data. */
export function describeBillingUpdate(
  user: BillingRecord,
  { subscription, resetsUsage, events }: BillingUpdate,
): string {
  const { plan, status, currentPeriodEnd, cancelAtPeriodEnd } = { ...user.subscription, ...subscription }
  const until = currentPeriodEnd ? ` until ${formatIsoDate(currentPeriodEnd)}` : ''
  const parts = [
    Object.keys(subscription).length > 0 ? `${plan}/${status}${until}${cancelAtPeriodEnd ? ', then free' : ''}` : '',
    resetsUsage ? 'usage reset' : '',
    events.some(({ kind }) => kind === 'secondSubscription') ? 'second subscription flagged' : '',
  ]
  return parts.filter((part) => part !== '').join(', ') || 'nothing'
}

/** Sets plan and status when the state differs from the last applied one. Until then an admin's override stays. */
function applyRecordState(user: BillingRecord, applied: Billing['applied'], record: ResolvedSubscription): Move {
  const { id, state, effectiveStatus, reported } = record
  if (!reported || effectiveStatus === 'undetermined') return { subscription: {}, applied }
  // Fields that a payload omits keep their values.
  const before = isRecordSubscription(user, id) ? user.subscription : UNKNOWN_PERIOD
  const subscription = {
    processorCustomerId: reported.customerId,
    processorSubscriptionId: id,
    currentPeriodStart: reported.currentPeriodStart ?? before.currentPeriodStart,
    currentPeriodEnd: reported.currentPeriodEnd ?? before.currentPeriodEnd,
    cancelAtPeriodEnd: reported.cancelAtPeriodEnd ?? before.cancelAtPeriodEnd,
  }
  if (applied?.subscriptionId === id && applied.state === state) return { subscription, applied }
  return {
    subscription: { ...subscription, plan: 'pro', status: effectiveStatus },
    applied: { subscriptionId: id, state },
  }
}

/** Downgrades once per ended subscription when no other one is active. A plan that an admin grants afterwards stays. */
function downgradeToFree(user: BillingRecord, applied: Billing['applied'], revocable: ResolvedSubscription[]): Move {
  const last = revocable.find(({ id }) => isRecordSubscription(user, id)) ?? revocable.at(-1)
  if (!last) return { subscription: {}, applied }
  return {
    subscription: {
      plan: 'free',
      status: 'cancelled',
      processorCustomerId: user.subscription.processorCustomerId ?? last.customerId,
      processorSubscriptionId: null,
      ...UNKNOWN_PERIOD,
    },
    applied: { subscriptionId: last.id, state: last.state },
  }
}

/**
 * Resets the usage once for the newest paid invoice of the record's subscription, except for its first. Renewal invoices of older
 * events are recorded too, so that they never reset the usage later.
 */
function countInvoices(before: string[], { invoice }: ProcessorSnapshot, record: ResolvedSubscription | undefined) {
  const latest = record?.reported?.latestInvoice ?? null
  const own = invoice && invoice.subscriptionId === record?.id ? invoice : null
  const newestPaid = [latest, own].find((one) => one?.isPaid)
  const renewals = [latest, invoice].map((one) => (one?.isPaid && !one.isFirst ? one.id : null))
  const isProcessed = record?.reported !== null && record?.effectiveStatus !== 'undetermined'
  return {
    resetsUsage: isProcessed && newestPaid?.isFirst === false && !before.includes(newestPaid.id),
    counted: mergeIds(before, renewals).slice(-MAX_COUNTED_INVOICES),
  }
}

/** Returns true until the checkout has expired or its subscription has a definite state. */
function isPendingCheckout(checkout: ProcessorSnapshot['checkout'], running: ResolvedSubscription[]): boolean {
  if (!checkout || checkout.status === 'expired') return false
  if (checkout.status === 'open') return true
  return running.some(({ id, effectiveStatus }) => id === checkout.subscriptionId && effectiveStatus === 'undetermined')
}

function findEvents(before: Subscription, set: Partial<Subscription>): BillingEvent[] {
  const after = { ...before, ...set }
  const isPro = after.plan === 'pro'
  const kinds = {
    planChanged: set.plan !== undefined,
    paymentFailed: set.status === 'pastDue',
    paymentRecovered: isPro && before.status === 'pastDue' && set.status === 'active',
    planEnding: isPro && set.cancelAtPeriodEnd === true,
    planContinues: isPro && set.cancelAtPeriodEnd === false,
  }
  return (Object.keys(kinds) as (keyof typeof kinds)[]).filter((kind) => kinds[kind]).map((kind) => ({ kind }))
}

function findSecondSubscriptionEvents(secondSubscriptions: ResolvedSubscription[]): BillingEvent[] {
  return secondSubscriptions.flatMap(({ id, isFlagged }) =>
    isFlagged ? [] : [{ kind: 'secondSubscription' as const, subscriptionId: id }],
  )
}

/** Returns the subscription to store; empty when its customer is unknown. */
function toKnownSubscription(
  { id, customerId, createdAt, newestEvent, isFlagged }: ResolvedSubscription,
  isSecond: boolean,
): KnownSubscription[] {
  if (customerId === null) return []
  return [
    {
      id,
      customerId,
      createdAt,
      ...(newestEvent && { newestEvent }),
      ...((isFlagged || isSecond) && { isFlagged: true }),
    },
  ]
}

function mergeIds(ids: string[], more: (string | null)[]): string[] {
  return [...new Set([...ids, ...more.filter((id) => id !== null)])]
}

function isRecordSubscription(user: BillingRecord, id: string): boolean {
  return user.subscription.processorSubscriptionId === id
}

function findChanges(current: Subscription, wanted: Partial<Subscription>): Partial<Subscription> {
  const changed = Object.entries(wanted).filter(([name, value]) => !isSame(current[name as keyof Subscription], value))
  return Object.fromEntries(changed)
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
