import { condition, continueAsNew, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow'
import { DAY, HOUR, MINUTE } from '../../domain/shared/times.ts'
import { billing } from './billing-activities.ts'
import { paymentEventSignal, type PaymentEventRef, type SubscriptionState } from '../messages/billing.ts'

/** A run asks the processor so often, and goes on as a new one: its history stays short. */
const LONGEST_RUN = 200
/** So much later than the period's end the processor has mostly told of the next one by itself. */
const AFTER_PERIOD_MS = 5 * MINUTE
const STORY_LINES = 12

interface Progress {
  queue: PaymentEventRef[]
  /** Null before the first look. */
  state: SubscriptionState | null
  /** When the processor was asked last, epoch milliseconds. */
  lookedAt: number
  /** How often it was asked in a row without showing a period that lies ahead. */
  vainLooks: number
  /** The last things that happened, for operators. */
  story: string[]
}

/**
 * Watches over the subscription of one user: acts on the processor's events one at a time, in whatever order they come, and asks by
 * itself when a period ended and none came. Ends when there is nothing to watch; the next event, or the daily reconcile, begins again.
 *
 * Temporal's own cancel ends the watching and touches nobody's money. Nothing is lost by it: events that were not acted on are on
 * record, and the sweeper hands them over again.
 */
export async function subscription(userId: string, carried?: Progress): Promise<void> {
  const progress: Progress = carried ?? { queue: [], state: null, lookedAt: 0, vainLooks: 0, story: [] }
  const { queue, story } = progress
  // An event is told of more than once: by each delivery of it, and by the sweeper.
  const seenIds = new Set(queue.map(({ eventId }) => eventId))
  setHandler(paymentEventSignal, (news) => {
    if (seenIds.has(news.eventId)) return
    seenIds.add(news.eventId)
    queue.push(news)
  })

  if (progress.state) tell(progress.state)
  for (let looks = 0; ;) {
    // No step lies between looking into the queue and ending: a signal that comes meanwhile makes Temporal refuse the end and run
    // this again.
    if (looks >= LONGEST_RUN || workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof subscription>(userId, progress)
    }
    const news = queue.shift()
    const { state } = progress
    if (!news && state && !state.isLive) return
    if (news) {
      const summary = `${news.type} ${news.eventId}`
      note(summary, await billing.applyPaymentEvent.executeWithOptions({ summary }, [userId, news.eventId]))
    } else {
      const waitMs = state ? nextLookAt(state, progress) - Date.now() : 0
      if (waitMs > 0 && (await newsWithin(waitMs))) continue
      const summary = state ? 'Look at it, since its period ended' : 'Look at it'
      note(summary, await billing.lookAtSubscription.executeWithOptions({ summary }, [userId]))
    }
    looks += 1
  }

  function newsWithin(waitMs: number): Promise<boolean> {
    const until = new Date(Date.now() + waitMs).toISOString()
    return condition(() => queue.length > 0, waitMs, { summary: `Wait for events, or until ${until}` })
  }

  /** `seen` is null for an event that had been acted on before. */
  function note(what: string, seen: SubscriptionState | null): void {
    if (!seen) return
    const now = Date.now()
    const isAhead = seen.periodEndsAt !== null && seen.periodEndsAt + AFTER_PERIOD_MS > now
    progress.vainLooks = isAhead ? 0 : progress.vainLooks + 1
    progress.lookedAt = now
    progress.state = seen
    story.push(`- ${new Date(now).toISOString()} ${what}: ${seen.change}`)
    story.splice(0, story.length - STORY_LINES)
    tell(seen)
  }

  function tell(state: SubscriptionState): void {
    setCurrentDetails([storyTitle(state), ...story].join('\n'))
  }
}

/** Soon after the period's end; where the processor has nothing new to say then, an hour later, and daily from then on. */
function nextLookAt(state: SubscriptionState, { lookedAt, vainLooks }: Progress): number {
  if (vainLooks === 0) return state.periodEndsAt! + AFTER_PERIOD_MS
  return lookedAt + (vainLooks === 1 ? HOUR : DAY)
}

function storyTitle({ standing, isLive, periodEndsAt }: SubscriptionState): string {
  if (!isLive) return `${standing}, no subscription to watch`
  return periodEndsAt === null ? standing : `${standing}, period ends ${new Date(periodEndsAt).toISOString()}`
}
