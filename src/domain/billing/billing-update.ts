import type { Billing, KnownSubscription } from './billing.ts'
import {
  getBilling,
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

/** What follows from a look. It names only what is to be set, so that whatever else changes meanwhile stays. */
export interface BillingUpdate {
  subscription: Partial<Subscription>
  /** Those of the plan where the plan changes; a plan that stays keeps the limits it was given. */
  limits: Limits | null
  resetsUsage: boolean
  billing: Omit<Billing, 'revision'>
  news: BillingEvent[]
  isChanged: boolean
}

type Move = Pick<BillingUpdate, 'subscription'> & { applied: Billing['applied'] }

const UNKNOWN_PERIOD = { currentPeriodStart: null, currentPeriodEnd: null, cancelAtPeriodEnd: false }
const KEPT_ENDED = 20
const KEPT_INVOICES = 40

/**
 * What the record of a user has to say by what the processor says now. The truth is taken as a whole and no event for an order:
 * whoever looks later, for whatever reason, comes to the same.
 */
export function decideBillingUpdate(
  user: BillingRecord,
  look: ProcessorSnapshot,
  planLimits: Record<SubscriptionPlan, Limits>,
): BillingUpdate {
  const { revision: _, ...before } = getBilling(user)
  const found = [...look.subscriptions.keys()].map((id) => resolveSubscription(id, user, look)).toSorted(compareByAge)
  const ended = found.filter(({ standing }) => standing === 'cancelled')
  const running = found.filter(({ standing }) => standing !== 'cancelled')
  const record = running.find(({ id, standing }) => standing !== 'unsettled' || isRecordSubscription(user, id))
  const customerIds = found.map(({ customerId }) => customerId)
  const seconds = running.filter((one) => one !== record && one.standing !== 'unsettled')

  // One that was never paid for has given nothing to take back.
  const over = ended.filter(({ id, state }) => isRecordSubscription(user, id) || state !== 'incomplete_expired')
  const move = record ? applyRecordState(user, before.applied, record) : downgradeToFree(user, before.applied, over)
  const subscription = findChanges(user.subscription, move.subscription)
  const renewal = countInvoices(before.countedInvoiceIds, look, record)
  // Counting begins anew after each that was the record's, be it only for as long as nobody looked.
  const resetsUsage = renewal.resetsUsage || over.some((one) => !record || compareByAge(one, record) < 0)
  const billing = {
    subscriptions: running.flatMap((one) => toKnownSubscription(one, seconds.includes(one))),
    applied: move.applied,
    endedIds: [...before.endedIds, ...ended.map(({ id }) => id)].slice(-KEPT_ENDED),
    countedInvoiceIds: renewal.counted,
    customerIds: mergeIds(before.customerIds, customerIds),
    checkoutId: isPendingCheckout(look.checkout, running) ? before.checkoutId : null,
  }
  return {
    subscription,
    limits: subscription.plan ? planLimits[subscription.plan] : null,
    resetsUsage,
    billing,
    news: [...findEvents(user.subscription, subscription), ...findSecondSubscriptionEvents(seconds)],
    isChanged: Object.keys(subscription).length > 0 || resetsUsage || !isSame(before, billing),
  }
}

/** For operators: what a step changes, without anything personal. */
export function describeBillingUpdate(user: BillingRecord, { subscription, resetsUsage, news }: BillingUpdate): string {
  const { plan, status, currentPeriodEnd, cancelAtPeriodEnd } = { ...user.subscription, ...subscription }
  const until = currentPeriodEnd ? ` until ${formatIsoDate(currentPeriodEnd)}` : ''
  const parts = [
    Object.keys(subscription).length > 0 ? `${plan}/${status}${until}${cancelAtPeriodEnd ? ', then free' : ''}` : '',
    resetsUsage ? 'usage reset' : '',
    news.some(({ kind }) => kind === 'secondSubscription') ? 'second subscription flagged' : '',
  ]
  return parts.filter((part) => part !== '').join(', ') || 'nothing'
}

/** Plan and status are set by a state that differs from the one last applied: what an admin set since then stands until then. */
function applyRecordState(user: BillingRecord, applied: Billing['applied'], record: ResolvedSubscription): Move {
  const { id, state, standing, said } = record
  if (!said || standing === 'unsettled') return { subscription: {}, applied }
  // What a payload is silent about stays as it was.
  const before = isRecordSubscription(user, id) ? user.subscription : UNKNOWN_PERIOD
  const subscription = {
    processorCustomerId: said.customerId,
    processorSubscriptionId: id,
    currentPeriodStart: said.currentPeriodStart ?? before.currentPeriodStart,
    currentPeriodEnd: said.currentPeriodEnd ?? before.currentPeriodEnd,
    cancelAtPeriodEnd: said.cancelAtPeriodEnd ?? before.cancelAtPeriodEnd,
  }
  if (applied?.subscriptionId === id && applied.state === state) return { subscription, applied }
  return {
    subscription: { ...subscription, plan: 'pro', status: standing },
    applied: { subscriptionId: id, state },
  }
}

/** Once for each subscription that ends with no other one running: what an admin gives afterwards is not taken. */
function downgradeToFree(user: BillingRecord, applied: Billing['applied'], over: ResolvedSubscription[]): Move {
  const last = over.find(({ id }) => isRecordSubscription(user, id)) ?? over.at(-1)
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
 * The usage is reset once for the newest paid invoice of the record's subscription, unless that is the one it began with. Those of
 * events that are older are noted as well, so that they never do it later.
 */
function countInvoices(before: string[], { invoice }: ProcessorSnapshot, record: ResolvedSubscription | undefined) {
  const latest = record?.said?.latestInvoice ?? null
  const own = invoice && invoice.subscriptionId === record?.id ? invoice : null
  const newestPaid = [latest, own].find((one) => one?.isPaid)
  const renewals = [latest, invoice].map((one) => (one?.isPaid && !one.isFirst ? one.id : null))
  const isSettled = record?.said !== null && record?.standing !== 'unsettled'
  return {
    resetsUsage: isSettled && newestPaid?.isFirst === false && !before.includes(newestPaid.id),
    counted: mergeIds(before, renewals).slice(-KEPT_INVOICES),
  }
}

/** A checkout is followed until what was bought is known and stands for something. */
function isPendingCheckout(checkout: ProcessorSnapshot['checkout'], running: ResolvedSubscription[]): boolean {
  if (!checkout || checkout.status === 'expired') return false
  if (checkout.status === 'open') return true
  return running.some(({ id, standing }) => id === checkout.subscriptionId && standing === 'unsettled')
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

function findSecondSubscriptionEvents(seconds: ResolvedSubscription[]): BillingEvent[] {
  return seconds.flatMap(({ id, isFlagged }) =>
    isFlagged ? [] : [{ kind: 'secondSubscription' as const, subscriptionId: id }],
  )
}

/** Of one that nobody said anything of, there is nothing to know. */
function toKnownSubscription(
  { id, customerId, createdAt, heard, isFlagged }: ResolvedSubscription,
  isSecond: boolean,
): KnownSubscription[] {
  if (customerId === null) return []
  return [{ id, customerId, createdAt, ...(heard && { heard }), ...((isFlagged || isSecond) && { isFlagged: true }) }]
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
