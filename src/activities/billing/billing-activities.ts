import { activityInfo, ApplicationFailure, log } from '@temporalio/activity'
import type { Context } from '../../context.ts'
import { endSubscriptions } from '../../commands/billing/end-payments.ts'
import { requirePayments } from '../../commands/billing/payment-calls.ts'
import { findPaymentOwner } from '../../commands/billing/payment-owner.ts'
import type { BillingState, ProcessorSubscription } from '../../domain/billing/billing.ts'
import { PaymentsError } from '../../domain/billing/payments-error.ts'
import { HOUR } from '../../domain/shared/times.ts'
import type { StoredPaymentEvent } from '../../store/billing/payment-events.ts'
import { backgroundWorkflowId } from '../../workflows/contract/background-work.ts'
import { SUBSCRIPTION_SUMMARY, type BilledCursor, type SubscriptionState } from '../../workflows/contract/billing.ts'
import { withHeartbeat } from '../shared/heartbeat.ts'

const PAGE = 50
const CONCURRENT_USERS = 5
/** Tries of a page while the processor is down. With the workflow's retry policy they take an hour and a half. */
const MAX_PAGE_TRIES = 10
/** Longer than the workflow ever waits before it checks the event again. */
const LEASE_MS = 2 * HOUR
const NEXT_LIST: Record<BilledCursor['by'], BilledCursor | null> = {
  subscription: { by: 'checkout', after: '' },
  checkout: null,
}
const NO_ACCOUNT: SubscriptionState = {
  isLive: false,
  periodEndsAt: null,
  planAndStatus: 'no account',
  change: 'nothing',
}

/** The result of a page. `next` is the cursor of the next page; null on the last page. */
interface ReconciledPage {
  next: BilledCursor | null
  /** The number of users on the page. */
  checked: number
  failed: number
}

/** Every activity may be killed at any point and repeated: it stores the current state at the payment processor in one write. */
export function createBillingActivities(deps: Context) {
  const { clock, erasures, orchestrator, paymentEvents, syncSubscription, users } = deps

  return {
    /** Returns null for an event that was applied before. */
    applyPaymentEvent: (userId: string, eventId: string): Promise<SubscriptionState | null> =>
      runActivity(async () => {
        const event = await paymentEvents.find(eventId)
        if (event?.state !== 'waiting') return null
        if (await erasures.find(userId)) {
          await endOrphanedSubscription(userId, event)
          await paymentEvents.markProcessed(eventId, 'ignored', clock.now())
          return NO_ACCOUNT
        }
        return toSubscriptionState(await syncSubscription(userId, { ...event, id: eventId }))
      }),

    syncSubscription: (userId: string): Promise<SubscriptionState> =>
      runActivity(async () => toSubscriptionState(await syncSubscription(userId))),

    /** Finds the user of an event and signals the workflow of that user, which applies it. */
    routePaymentEvent: (eventId: string): Promise<{ isProcessed: boolean }> =>
      runActivity(async () => {
        const event = await paymentEvents.lease(eventId, new Date(clock.now().getTime() + LEASE_MS))
        if (!event) return { isProcessed: true }
        const { type } = event
        const userId = (await findPaymentOwner(deps, event)) ?? (await readOwner(event))
        if (userId === null) {
          log.warn('payment event without user', { eventId, type, subscriptionId: event.subscriptionId })
          await paymentEvents.markProcessed(eventId, 'ignored', clock.now())
          return { isProcessed: true }
        }
        await paymentEvents.setUser(eventId, userId)
        await orchestrator.terminateStuck(backgroundWorkflowId('subscription', userId))
        if (!(await orchestrator.notifySubscription(userId, { eventId, type }))) {
          throw new Error('Temporal did not accept the signal')
        }
        return { isProcessed: false }
      }),

    /** Reconciles one page of users who pay or may have paid. A failure for one user is retried the next day. */
    reconcileBilled: ({ by, after }: BilledCursor): Promise<ReconciledPage> =>
      runActivity(async () => {
        const page = await users.listBilled(by, { after, limit: PAGE })
        const unanswered: PaymentsError[] = []
        let failed = 0
        for (let first = 0; first < page.length; first += CONCURRENT_USERS) {
          const errors = await Promise.all(
            page.slice(first, first + CONCURRENT_USERS).map(({ userId }) => reconcile(userId)),
          )
          for (const error of errors) {
            if (error !== null) failed += 1
            if (error instanceof PaymentsError && !error.isRefused) unanswered.push(error)
          }
        }
        // Every call failed, so the processor is down. The page is retried, for a limited number of tries.
        const isDown = unanswered.length === page.length && activityInfo().attempt < MAX_PAGE_TRIES
        if (unanswered[0] && isDown) throw unanswered[0]
        const next = page.length < PAGE ? NEXT_LIST[by] : { by, after: page.at(-1)!.key }
        return { next, checked: page.length, failed }
      }),
  }

  /** Returns the error; null after success. */
  async function reconcile(userId: string): Promise<unknown> {
    try {
      const state = await syncSubscription(userId)
      if (state?.isLive) {
        await orchestrator.terminateStuck(backgroundWorkflowId('subscription', userId))
        await orchestrator.startWork('subscription', userId, { summary: SUBSCRIPTION_SUMMARY, fairnessKey: userId })
      }
      return null
    } catch (error) {
      log.warn('subscription reconcile failed', { userId, err: error })
      return error
    }
  }

  /** Ends the subscription of an account that is erased, or about to be: no user can use it. */
  async function endOrphanedSubscription(userId: string, event: StoredPaymentEvent): Promise<void> {
    const subscription = await readSubscription(event)
    await endSubscriptions(requirePayments(deps.payments), subscription ? [subscription] : [], [event.customerId])
    log.warn('subscription of erased account ended', { userId, subscriptionId: subscription?.id })
  }

  async function readOwner(event: StoredPaymentEvent): Promise<string | null> {
    const subscription = await readSubscription(event)
    return subscription && findPaymentOwner(deps, subscription)
  }

  async function readSubscription(event: StoredPaymentEvent): Promise<ProcessorSubscription | null> {
    const payments = requirePayments(deps.payments)
    const { invoiceId } = event
    const invoice = event.subscriptionId === null && invoiceId !== null ? await payments.readInvoice(invoiceId) : null
    const id = event.subscriptionId ?? invoice?.subscriptionId ?? null
    return id === null ? null : payments.readSubscription(id)
  }
}

/** Heartbeats while `work` runs, and removes the cause of a payments error: a history must not hold what it contains. */
async function runActivity<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await withHeartbeat(null, work)
  } catch (error) {
    if (error instanceof PaymentsError) throw ApplicationFailure.create({ type: error.name, message: error.message })
    throw error
  }
}

function toSubscriptionState(state: BillingState | null): SubscriptionState {
  if (!state) return NO_ACCOUNT
  const { isLive, currentPeriodEnd, plan, status, change } = state
  return { isLive, periodEndsAt: currentPeriodEnd?.getTime() ?? null, planAndStatus: `${plan}/${status}`, change }
}
