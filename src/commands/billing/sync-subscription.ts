import type { BillingState, ProcessorInvoice } from '../../domain/billing/billing.ts'
import { listSubscriptionIds, type ProcessorSnapshot } from '../../domain/billing/processor-snapshot.ts'
import { describeBillingUpdate, decideBillingUpdate, type BillingUpdate } from '../../domain/billing/billing-update.ts'
import { planChanged } from '../../domain/events/user-events.ts'
import { billingChanged, secondSubscription } from '../../domain/notifications/notifications.ts'
import type { NewEvent } from '../../domain/events/events.ts'
import type { PaymentEvent } from '../../domain/billing/payment-events.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { Limits, SubscriptionPlan } from '../../domain/billing/subscription.ts'
import type { User } from '../../domain/users/user.ts'
import type { Payments } from '../../integrations/payments/payments.ts'
import { isProcessorIdTaken, type BillingChange } from '../../store/users/users.ts'
import { requirePayments } from './payment-calls.ts'
import type { Parts } from '../parts.ts'

/** Far above real contention: one workflow processes the events in turn, and only routes and the daily sync write besides it. */
const MAX_RELOADS = 20

interface SyncParts extends Parts {
  planLimits: Record<SubscriptionPlan, Limits>
}

/** Resolves to null when there is no such user. With an event, the event is marked processed together with its effects. */
export type SyncSubscription = (userId: string, event?: PaymentEvent) => Promise<BillingState | null>

/**
 * Copies the processor's state of a user to the user's record. The record is read first and the processor after it, and the
 * write is conditional on the record's revision, which every event raises. So no writer stores a state older than an event
 * processed before, even after a pause between read and write.
 * @throws PaymentsError when the processor does not answer; then nothing has changed
 */
export function createSyncSubscription(deps: SyncParts): SyncSubscription {
  return async (userId, event) => {
    const payments = requirePayments(deps.payments)
    for (let reloads = 0; reloads < MAX_RELOADS; reloads += 1) {
      const user = await deps.users.findById(userId)
      if (!user) {
        if (event) await deps.paymentEvents.markProcessed(event.id, 'ignored', deps.clock.now())
        return null
      }
      const state = await readProcessor(payments, user, event ?? null)
      for (const [subscriptionId, subscription] of state.subscriptions) {
        if (subscription) continue
        deps.logger.warn({ userId, subscriptionId }, 'subscription unknown to processor')
      }
      const step = decideBillingUpdate(user, state, deps.planLimits)
      if (!event && !step.isChanged) return toBillingState(user, step)
      try {
        if (await writeStep(deps, user, step, event)) return toBillingState(user, step)
      } catch (error) {
        if (!isProcessorIdTaken(error)) throw error
        return await ignoreForeignPayment(deps, user, event)
      }
    }
    throw new ServiceError('SERVICE_UNAVAILABLE', 'The subscription is being changed. Try again in a moment.', {
      retryAfterSeconds: 2,
    })
  }
}

/** The processor's ids belong to the record of another user; a retry cannot fix that. */
async function ignoreForeignPayment(deps: SyncParts, user: User, event?: PaymentEvent): Promise<BillingState> {
  deps.logger.error({ userId: user._id, eventId: event?.id }, 'payment belongs to another user')
  if (event) await deps.paymentEvents.markProcessed(event.id, 'ignored', deps.clock.now())
  return toBillingState(user, null)
}

async function readProcessor(payments: Payments, user: User, event: PaymentEvent | null): Promise<ProcessorSnapshot> {
  const { checkoutId, endedIds } = user.billing
  const checkout = checkoutId === null ? null : await payments.readCheckout(checkoutId)
  const ids = listSubscriptionIds(user, event, checkout?.subscriptionId ?? null)
  const subscriptions = new Map(
    await Promise.all(ids.map(async (id) => [id, await payments.readSubscription(id)] as const)),
  )
  const invoice = await findInvoice(payments, event, subscriptions, endedIds)
  return { subscriptions, event, invoice, checkout }
}

/** Returns the event's invoice; null when its subscription has ended, because then it has no effect. */
async function findInvoice(
  payments: Payments,
  event: PaymentEvent | null,
  subscriptions: ProcessorSnapshot['subscriptions'],
  endedIds: string[],
): Promise<ProcessorInvoice | null> {
  if (!event?.invoiceId || endedIds.includes(event.subscriptionId ?? '')) return null
  const latest = [...subscriptions.values()].map((one) => one?.latestInvoice)
  return (
    latest.find((one) => one?.id === event.invoiceId) ??
    (await payments.readInvoice(event.invoiceId)) ??
    event.payloadInvoice
  )
}

/** Returns false, without a change, when the record changed since it was read. */
async function writeStep(
  deps: SyncParts,
  user: User,
  step: BillingUpdate,
  event: PaymentEvent | undefined,
): Promise<boolean> {
  const { revision } = user.billing
  const records = await deps.notifications.toRecords(await toNotifications(deps, user, step))
  const events = toEvents(user, step, deps.clock.now())
  const isWritten = await deps.database.transaction(async (session) => {
    if (!(await deps.users.changeBilling(user._id, revision, toBillingChange(step), session))) return false
    await deps.notifications.insert(records, session)
    if (events.length > 0) await deps.events.append(user._id, events, session)
    if (event) await deps.paymentEvents.markProcessed(event.id, 'applied', deps.clock.now(), session)
    return true
  }, user._id)
  if (!isWritten) return false
  deps.notifications.beginSending(records)
  if (events.length > 0) deps.events.announce([user._id])
  logStep(deps, user, step, event)
  return true
}

function toEvents(user: User, { subscription }: BillingUpdate, at: Date): NewEvent[] {
  const plans = { before: user.subscription.plan, after: subscription?.plan ?? user.subscription.plan }
  return plans.before === plans.after ? [] : [planChanged(plans, toChangeId(user), at)]
}

/** Names the change that the revision of the user's record makes unique. */
const toChangeId = (user: User): string => `${user._id}:${user.billing.revision + 1}`

function toBillingChange({ subscription, limits, resetsUsage, billing }: BillingUpdate): BillingChange {
  return {
    ...prefixFields('subscription', subscription),
    ...(limits && { limits }),
    ...(resetsUsage && { usage: { postsCreated: 0, captionGenerations: 0 } }),
    ...prefixFields('billing', billing),
  }
}

function prefixFields(key: string, fields: object): BillingChange {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [`${key}.${name}`, value]))
}

async function toNotifications({ users }: SyncParts, user: User, { events, ...step }: BillingUpdate) {
  if (events.length === 0) return []
  const changed = {
    _id: user._id,
    timezone: user.timezone,
    subscription: { ...user.subscription, ...step.subscription },
    limits: step.limits ?? user.limits,
  }
  const changeId = toChangeId(user)
  const first = changed.subscription.processorSubscriptionId
  const admins = events.some(({ kind }) => kind === 'secondSubscription') ? await users.listAdmins() : []
  return events.flatMap((one) =>
    one.kind === 'secondSubscription'
      ? secondSubscription(user._id, { first, second: one.subscriptionId }, admins)
      : billingChanged(one.kind, changed, changeId),
  )
}

function logStep({ logger }: SyncParts, user: User, step: BillingUpdate, event?: PaymentEvent): void {
  const about = { userId: user._id, ...(event && { eventId: event.id, type: event.type }) }
  for (const one of step.events) {
    if (one.kind !== 'secondSubscription') continue
    logger.warn({ ...about, subscriptionId: one.subscriptionId }, 'second subscription found')
  }
  logger.info({ ...about, change: describeBillingUpdate(user, step) }, 'subscription synced')
}

function toBillingState(user: User, step: BillingUpdate | null): BillingState {
  const { plan, status, processorSubscriptionId, currentPeriodEnd } = { ...user.subscription, ...step?.subscription }
  return {
    plan,
    status,
    isLive: processorSubscriptionId !== null,
    currentPeriodEnd,
    change: step ? describeBillingUpdate(user, step) : 'nothing',
  }
}
