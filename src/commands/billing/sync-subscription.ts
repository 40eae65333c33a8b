import type { Clock } from '../../clock.ts'
import type { BillingState, ProcessorInvoice } from '../../domain/billing/billing.ts'
import { getBilling, listSubscriptionIds, type ProcessorSnapshot } from '../../domain/billing/processor-snapshot.ts'
import { describeBillingUpdate, decideBillingUpdate, type BillingUpdate } from '../../domain/billing/billing-update.ts'
import { billingChanged, secondSubscription } from '../../domain/notifications/notifications.ts'
import type { PaymentEvent } from '../../domain/billing/payment-events.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { Limits, SubscriptionPlan } from '../../domain/billing/subscription.ts'
import type { User } from '../../domain/users/user.ts'
import type { Payments } from '../../integrations/payments/payments.ts'
import type { Logger } from '../../logger.ts'
import type { Database } from '../../store/shared/database.ts'
import type { NotificationStore } from '../../store/notifications/notifications.ts'
import type { PaymentEventStore } from '../../store/billing/payment-events.ts'
import { isTaken, type BillingChange, type UserStore } from '../../store/users/users.ts'
import { setUp } from './payment-calls.ts'

interface SyncSubscriptionDeps {
  database: Pick<Database, 'transaction'>
  users: Pick<UserStore, 'findById' | 'changeBilling' | 'listAdmins'>
  /** Null where payments are not set up. */
  payments: Pick<Payments, 'readSubscription' | 'readInvoice' | 'readCheckout'> | null
  paymentEvents: Pick<PaymentEventStore, 'settle'>
  notifications: Pick<NotificationStore, 'recordsOf' | 'insert' | 'stored'>
  planLimits: Record<SubscriptionPlan, Limits>
  clock: Pick<Clock, 'now'>
  logger: Pick<Logger, 'info' | 'warn' | 'error'>
}

/** More than ever race for one user: the workflow takes one event at a time, beside it only routes and the daily look. */
const MOST_LOOKS = 20

/** Null: there is no such user. With an event, that is settled together with what follows from it. */
export type SyncSubscription = (userId: string, event?: PaymentEvent) => Promise<BillingState | null>

/**
 * Makes the record of a user say what the processor says. The record is read first and the processor after it; the write is
 * conditional on the record's revision, and whatever an event brought raises that. So who writes has seen a truth that is not older
 * than any event settled before, also when it was stopped for an hour between the two: its revision is gone then, and it looks afresh.
 * @throws PaymentsError when the processor does not answer: then nothing has happened
 */
export function createSyncSubscription(deps: SyncSubscriptionDeps): SyncSubscription {
  return async (userId, event) => {
    const payments = setUp(deps.payments)
    for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
      const user = await deps.users.findById(userId)
      if (!user) {
        if (event) await deps.paymentEvents.settle(event.id, 'ignored', deps.clock.now())
        return null
      }
      const look = await lookAt(payments, user, event ?? null)
      for (const [subscriptionId, said] of look.subscriptions) {
        if (said) continue
        deps.logger.warn({ userId, subscriptionId }, 'the processor does not know a subscription: is this its account?')
      }
      const step = decideBillingUpdate(user, look, deps.planLimits)
      if (!event && !step.isChanged) return stateOf(user, step)
      try {
        if (await write(deps, user, step, event)) return stateOf(user, step)
      } catch (error) {
        if (!isTaken(error)) throw error
        return await leaveToOthers(deps, user, event)
      }
    }
    throw new ServiceError('SERVICE_UNAVAILABLE', 'The subscription is being changed, try again', {
      retryAfterSeconds: 2,
    })
  }
}

/** What the processor says is on the record of somebody else: no repetition mends that. */
async function leaveToOthers(deps: SyncSubscriptionDeps, user: User, event?: PaymentEvent): Promise<BillingState> {
  deps.logger.error({ userId: user._id, eventId: event?.id }, 'a payment of this user is on the record of another one')
  if (event) await deps.paymentEvents.settle(event.id, 'ignored', deps.clock.now())
  return stateOf(user, null)
}

async function lookAt(
  payments: NonNullable<SyncSubscriptionDeps['payments']>,
  user: User,
  event: PaymentEvent | null,
): Promise<ProcessorSnapshot> {
  const { checkoutId, endedIds } = getBilling(user)
  const checkout = checkoutId === null ? null : await payments.readCheckout(checkoutId)
  const ids = listSubscriptionIds(user, event, checkout?.subscriptionId ?? null)
  const subscriptions = new Map(
    await Promise.all(ids.map(async (id) => [id, await payments.readSubscription(id)] as const)),
  )
  const invoice = await invoiceOf(payments, event, subscriptions, endedIds)
  return { subscriptions, event, invoice, checkout }
}

/** What it was for ended: then it means nothing any more. */
async function invoiceOf(
  payments: NonNullable<SyncSubscriptionDeps['payments']>,
  event: PaymentEvent | null,
  subscriptions: ProcessorSnapshot['subscriptions'],
  endedIds: string[],
): Promise<ProcessorInvoice | null> {
  if (!event?.invoiceId || endedIds.includes(event.subscriptionId ?? '')) return null
  const latest = [...subscriptions.values()].map((one) => one?.latestInvoice)
  return (
    latest.find((one) => one?.id === event.invoiceId) ??
    (await payments.readInvoice(event.invoiceId)) ??
    event.toldInvoice
  )
}

/** False, and nothing done, when the record moved on since it was read. */
async function write(
  deps: SyncSubscriptionDeps,
  user: User,
  step: BillingUpdate,
  event: PaymentEvent | undefined,
): Promise<boolean> {
  const { revision } = getBilling(user)
  const news = await newsOf(deps, user, step)
  const told = await deps.notifications.recordsOf(news)
  const isWritten = await deps.database.transaction(async (session) => {
    if (!(await deps.users.changeBilling(user._id, revision, changeOf(step), session))) return false
    await deps.notifications.insert(told, session)
    if (event) await deps.paymentEvents.settle(event.id, 'applied', deps.clock.now(), session)
    return true
  })
  if (!isWritten) return false
  deps.notifications.stored(told)
  logWhatHappened(deps, user, step, event)
  return true
}

function changeOf({ subscription, limits, resetsUsage, billing }: BillingUpdate): BillingChange {
  return {
    ...underKey('subscription', subscription),
    ...(limits && { limits }),
    ...(resetsUsage && { usage: { postsCreated: 0, captionGenerations: 0 } }),
    ...underKey('billing', billing),
  }
}

function underKey(key: string, fields: object): BillingChange {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [`${key}.${name}`, value]))
}

async function newsOf({ users }: SyncSubscriptionDeps, user: User, { news, ...step }: BillingUpdate) {
  if (news.length === 0) return []
  const changed = {
    _id: user._id,
    timezone: user.timezone,
    subscription: { ...user.subscription, ...step.subscription },
    limits: step.limits ?? user.limits,
  }
  const changeId = `${user._id}:${getBilling(user).revision + 1}`
  const first = changed.subscription.processorSubscriptionId
  const admins = news.some(({ kind }) => kind === 'secondSubscription') ? await users.listAdmins() : []
  return news.flatMap((one) =>
    one.kind === 'secondSubscription'
      ? secondSubscription(user._id, { first, second: one.subscriptionId }, admins)
      : billingChanged(one.kind, changed, changeId),
  )
}

function logWhatHappened(
  { logger }: SyncSubscriptionDeps,
  user: User,
  step: BillingUpdate,
  event?: PaymentEvent,
): void {
  const about = { userId: user._id, ...(event && { eventId: event.id, type: event.type }) }
  for (const one of step.news) {
    if (one.kind !== 'secondSubscription') continue
    logger.warn({ ...about, subscriptionId: one.subscriptionId }, 'a second subscription is paid for the same user')
  }
  logger.info({ ...about, change: describeBillingUpdate(user, step) }, 'looked at the subscription')
}

function stateOf(user: User, step: BillingUpdate | null): BillingState {
  const { plan, status, processorSubscriptionId, currentPeriodEnd } = { ...user.subscription, ...step?.subscription }
  return {
    plan,
    status,
    isLive: processorSubscriptionId !== null,
    currentPeriodEnd,
    change: step ? describeBillingUpdate(user, step) : 'nothing',
  }
}
