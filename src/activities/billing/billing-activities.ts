import { activityInfo, ApplicationFailure, log } from '@temporalio/activity'
import type { Context } from '../../context.ts'
import { endSubscriptions } from '../../commands/billing/end-payments.ts'
import { requirePayments } from '../../commands/billing/payment-calls.ts'
import { findPaymentOwner } from '../../commands/billing/payment-owner.ts'
import type { BillingState, ProcessorSubscription } from '../../domain/billing/billing.ts'
import { PaymentsError } from '../../domain/billing/payments-error.ts'
import { HOUR } from '../../domain/shared/times.ts'
import type { StoredPaymentEvent } from '../../store/billing/payment-events.ts'
import {
  backgroundWorkflowId,
  SUBSCRIPTION_SUMMARY,
  type BilledPlace,
  type SubscriptionState,
} from '../../workflows/messages.ts'
import { keepAlive } from '../shared/heartbeat.ts'

const PAGE = 50
const AT_ONCE = 5
/** By the workflow's rule they take an hour and a half. */
const TRIES_OF_A_PAGE = 10
/** Longer than its workflow ever waits before it looks again. */
const TENDED_MS = 2 * HOUR
const LIST_AFTER: Record<BilledPlace['by'], BilledPlace | null> = {
  subscription: { by: 'checkout', after: '' },
  checkout: null,
}
const NO_ACCOUNT: SubscriptionState = { isLive: false, periodEndsAt: null, standing: 'no account', change: 'nothing' }

export type BillingDeps = Pick<
  Context,
  'clock' | 'erasures' | 'orchestrator' | 'paymentEvents' | 'payments' | 'syncSubscription' | 'users'
>

/** What a page came to; `next` says where the next one begins, null when there is none. */
interface ReconciledPage {
  next: BilledPlace | null
  looked: number
  failed: number
}

/** Each may be killed anywhere and repeated: what counts is the processor's truth of the moment, which is written in one go. */
export function createBillingActivities(deps: BillingDeps) {
  const { clock, erasures, orchestrator, paymentEvents, syncSubscription, users } = deps

  return {
    /** Null for an event that was acted on before. */
    applyPaymentEvent: (userId: string, eventId: string): Promise<SubscriptionState | null> =>
      attempt(async () => {
        const event = await paymentEvents.find(eventId)
        if (event?.state !== 'waiting') return null
        const isErased = (await erasures.find(userId)) !== null
        if (isErased) await endUnusable(userId, event)
        const state = isErased ? null : await syncSubscription(userId, { ...event, id: eventId })
        await paymentEvents.markProcessed(eventId, state ? 'applied' : 'ignored', clock.now())
        return present(state)
      }),

    lookAtSubscription: (userId: string): Promise<SubscriptionState> =>
      attempt(async () => present(await syncSubscription(userId))),

    /** Finds out whose event it is and tells the workflow of that user, which settles it. */
    routePaymentEvent: (eventId: string): Promise<{ isSettled: boolean }> =>
      attempt(async () => {
        const event = await paymentEvents.lease(eventId, new Date(clock.now().getTime() + TENDED_MS))
        if (!event) return { isSettled: true }
        const { type } = event
        const userId = (await findPaymentOwner(deps, event)) ?? (await askOwner(event))
        if (userId === null) {
          log.warn("A payment event is nobody's", { eventId, type, subscriptionId: event.subscriptionId })
          await paymentEvents.markProcessed(eventId, 'ignored', clock.now())
          return { isSettled: true }
        }
        await paymentEvents.setUser(eventId, userId)
        await orchestrator.terminateStuck(backgroundWorkflowId('subscription', userId))
        if (!(await orchestrator.notifySubscription(userId, { eventId, type }))) {
          throw new Error('Temporal did not take the signal')
        }
        return { isSettled: false }
      }),

    /** One page of those who pay, and of those whose checkout may have been paid. What goes wrong for one is tried again tomorrow. */
    reconcileBilled: ({ by, after }: BilledPlace): Promise<ReconciledPage> =>
      attempt(async () => {
        const page = await users.listBilled(by, { after, limit: PAGE })
        const unanswered: PaymentsError[] = []
        let failed = 0
        for (let first = 0; first < page.length; first += AT_ONCE) {
          const errors = await Promise.all(page.slice(first, first + AT_ONCE).map(({ userId }) => reconcile(userId)))
          for (const error of errors) {
            if (error !== null) failed += 1
            if (error instanceof PaymentsError && !error.isRefused) unanswered.push(error)
          }
        }
        // Not about any of them: the processor is away, and the page is asked for again, but not for ever.
        const isAway = unanswered.length === page.length && activityInfo().attempt < TRIES_OF_A_PAGE
        if (unanswered[0] && isAway) throw unanswered[0]
        const next = page.length < PAGE ? LIST_AFTER[by] : { by, after: page.at(-1)!.key }
        return { next, looked: page.length, failed }
      }),
  }

  /** Answers what went wrong. */
  async function reconcile(userId: string): Promise<unknown> {
    try {
      const state = await syncSubscription(userId)
      if (state?.isLive) {
        await orchestrator.terminateStuck(backgroundWorkflowId('subscription', userId))
        await orchestrator.startWork('subscription', userId, { summary: SUBSCRIPTION_SUMMARY, fairnessKey: userId })
      }
      return null
    } catch (error) {
      log.warn('A subscription could not be compared with the processor', { userId, err: error })
      return error
    }
  }

  /** Nobody can use what an account that is erased, or about to be, pays for. */
  async function endUnusable(userId: string, event: StoredPaymentEvent): Promise<void> {
    const subscription = await readSubscriptionOf(event)
    await endSubscriptions(requirePayments(deps.payments), subscription ? [subscription] : [], [event.customerId])
    log.warn('Ended what an account pays for that is erased', { userId, subscriptionId: subscription?.id })
  }

  async function askOwner(event: StoredPaymentEvent): Promise<string | null> {
    const subscription = await readSubscriptionOf(event)
    return subscription && findPaymentOwner(deps, subscription)
  }

  async function readSubscriptionOf(event: StoredPaymentEvent): Promise<ProcessorSubscription | null> {
    const payments = requirePayments(deps.payments)
    const { invoiceId } = event
    const invoice = event.subscriptionId === null && invoiceId !== null ? await payments.readInvoice(invoiceId) : null
    const id = event.subscriptionId ?? invoice?.subscriptionId ?? null
    return id === null ? null : payments.readSubscription(id)
  }
}

async function attempt<T>(work: () => Promise<T>): Promise<T> {
  const beat = keepAlive(null)
  try {
    return await work()
  } catch (error) {
    // Without its cause, which may have more to tell than a history should hold.
    if (error instanceof PaymentsError) throw ApplicationFailure.create({ type: error.name, message: error.message })
    throw error
  } finally {
    beat.stop()
  }
}

function present(state: BillingState | null): SubscriptionState {
  if (!state) return NO_ACCOUNT
  const { isLive, currentPeriodEnd, plan, status, change } = state
  return { isLive, periodEndsAt: currentPeriodEnd?.getTime() ?? null, standing: `${plan}/${status}`, change }
}
