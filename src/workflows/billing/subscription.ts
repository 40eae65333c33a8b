import { condition, continueAsNew, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow'
import { DAY, HOUR, MINUTE } from '../../domain/shared/times.ts'
import { billing } from './billing-activities.ts'
import { paymentEventSignal, type PaymentEventRef, type SubscriptionState } from '../contract/billing.ts'

/** After this many calls to the processor the workflow continues as new, which keeps its hicallLog short. */
const MAX_CALLS_PER_RUN = 200
/** By this time after the end of a period the processor has mostly sent the event of the next one. */
const AFTER_PERIOD_MS = 5 * MINUTE
const MAX_LOG_LINES = 12

/** The state that a continued run starts with. */
interface Progress {
  queue: PaymentEventRef[]
  /** Null before the first call. */
  state: SubscriptionState | null
  /** The time of the last call in epoch milliseconds. */
  lastCallAt: number
  /** Calls in a row that did not report a period that ends in the future. */
  callsWithoutPeriod: number
  /** The last calls, for operators. */
  callLog: string[]
}

/**
 * Keeps the subscription of one user up to date. It applies events of the payment processor one at a time, in any order. When a period
 * ends without an event, it reads the subscription itself. It ends when there is no live subscription; the next event or the daily
 * reconcile starts it again.
 *
 * Cancelling the workflow in Temporal ends it without an effect on payments. The sweeper routes the stored events that it did not apply.
 */
export async function subscription(userId: string, previous?: Progress): Promise<void> {
  const progress: Progress = previous ?? { queue: [], state: null, lastCallAt: 0, callsWithoutPeriod: 0, callLog: [] }
  const { queue, callLog } = progress
  // Each webhook delivery of an event signals it, and so does the sweeper.
  const seenIds = new Set(queue.map(({ eventId }) => eventId))
  setHandler(paymentEventSignal, (event) => {
    if (seenIds.has(event.eventId)) return
    seenIds.add(event.eventId)
    queue.push(event)
  })

  if (progress.state) showDetails(progress.state)
  for (let calls = 0; ;) {
    // Nothing is awaited between reading the queue and the end. When a signal arrives meanwhile, Temporal rejects the end and runs
    // this again.
    if (calls >= MAX_CALLS_PER_RUN || workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof subscription>(userId, progress)
    }
    const event = queue.shift()
    const { state } = progress
    if (!event && state && !state.isLive) return
    if (event) {
      const summary = `${event.type} ${event.eventId}`
      recordCall(summary, await billing.applyPaymentEvent.executeWithOptions({ summary }, [userId, event.eventId]))
    } else {
      const waitMs = state ? computeNextCallAt(state, progress) - Date.now() : 0
      if (waitMs > 0 && (await waitForEvent(waitMs))) continue
      const summary = state ? 'Read the subscription, because its period ended' : 'Read the subscription'
      recordCall(summary, await billing.syncSubscription.executeWithOptions({ summary }, [userId]))
    }
    calls += 1
  }

  function waitForEvent(waitMs: number): Promise<boolean> {
    const until = new Date(Date.now() + waitMs).toISOString()
    return condition(() => queue.length > 0, waitMs, { summary: `Wait for events, or until ${until}` })
  }

  /** @param result null for an event that was applied before */
  function recordCall(call: string, result: SubscriptionState | null): void {
    if (!result) return
    const now = Date.now()
    const isAhead = result.periodEndsAt !== null && result.periodEndsAt + AFTER_PERIOD_MS > now
    progress.callsWithoutPeriod = isAhead ? 0 : progress.callsWithoutPeriod + 1
    progress.lastCallAt = now
    progress.state = result
    callLog.push(`- ${new Date(now).toISOString()} ${call}: ${result.change}`)
    callLog.splice(0, callLog.length - MAX_LOG_LINES)
    showDetails(result)
  }

  function showDetails(state: SubscriptionState): void {
    setCurrentDetails([formatTitle(state), ...callLog].join('\n'))
  }
}

/** Returns a time soon after the end of the period. While the processor reports no new period: an hour later, then daily. */
function computeNextCallAt(state: SubscriptionState, { lastCallAt, callsWithoutPeriod }: Progress): number {
  if (callsWithoutPeriod === 0) return state.periodEndsAt! + AFTER_PERIOD_MS
  return lastCallAt + (callsWithoutPeriod === 1 ? HOUR : DAY)
}

function formatTitle({ planAndStatus, isLive, periodEndsAt }: SubscriptionState): string {
  if (!isLive) return `${planAndStatus}, no live subscription`
  return periodEndsAt === null ? planAndStatus : `${planAndStatus}, period ends ${new Date(periodEndsAt).toISOString()}`
}
