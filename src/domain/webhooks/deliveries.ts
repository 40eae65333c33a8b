import type { EventType } from '../events/events.ts'
import { DAY, HOUR, SECOND } from '../shared/times.ts'
import { jitter, type TEST_EVENT_TYPE } from './webhooks.ts'

export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** How long the log keeps a delivery. */
export const LOG_LIFE_MS = 30 * DAY
/** The log keeps this many attempts of a delivery, the latest ones. */
export const LOGGED_ATTEMPTS = 20
/** The part of a request or response that the log keeps. */
export const EXCERPT_BYTES = 1_024

/** An event as a webhook gets it. Test events have the sequence 0, because they are not in the feed. */
export interface DeliveredEvent {
  id: string
  sequence: number
  type: EventType | typeof TEST_EVENT_TYPE
  occurredAt: Date
  data: Record<string, unknown>
}

/** An attempt to deliver an event. */
export interface DeliveryAttempt {
  at: Date
  durationMs: number
  /** The HTTP status; null without a response. */
  status: number | null
  /** Completes a sentence about the receiver; null with a response. */
  error: string | null
  /** The beginning of the response body; null without a response. */
  response: string | null
}

/** The delivery of one event to one webhook, as stored. */
export interface WebhookDelivery {
  _id: string
  userId: string
  webhookId: string
  event: DeliveredEvent
  /** Deliveries with the same key are sent in the order of their sequences. */
  orderKey: string
  state: DeliveryState
  /** The number of attempts since the delivery was requested, also those that the log no longer holds. */
  attemptCount: number
  attempts: DeliveryAttempt[]
  /** Null before the first attempt. */
  firstAttemptAt: Date | null
  nextAttemptAt: Date
  createdAt: Date
  removeAt: Date
}

export type PendingDelivery = Pick<WebhookDelivery, '_id' | 'orderKey' | 'firstAttemptAt' | 'nextAttemptAt'>

/** Returns the key of events that are delivered in order: those of a post, else those of an account. Other events have no order. */
export function toOrderKey({ id, data }: Pick<DeliveredEvent, 'id' | 'data'>): string {
  const { postId, accountId } = data
  if (typeof postId === 'string') return `post ${postId}`
  return typeof accountId === 'string' ? `account ${accountId}` : id
}

const FIRST_RETRY_MS = 5 * SECOND
const RETRY_FACTOR = 3
const LONGEST_RETRY_MS = 12 * HOUR
/** An event that was not delivered by then counts as failed. */
const RETRY_FOR_MS = 3 * DAY
/** An event that fails for longer no longer delays later ones of its post. */
const HOLD_MS = HOUR

interface Failed {
  firstAttemptAt: Date
  /** Attempts so far, with the one that failed now. */
  attemptCount: number
  now: Date
  /** From 0 to 1, the jitter. */
  random: number
}

/** Returns the time of the next attempt: after 5 seconds, then three times as long each time. Returns null after three days. */
export function planRetry({ firstAttemptAt, attemptCount, now, random }: Failed): Date | null {
  const waitMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * RETRY_FACTOR ** (attemptCount - 1))
  const next = new Date(now.getTime() + jitter(waitMs, random))
  return next.getTime() - firstAttemptAt.getTime() <= RETRY_FOR_MS ? next : null
}

export interface Round<T> {
  /** Deliveries that are due. Those of a chain are sent one after the other; a failure ends the chain. */
  chains: T[][]
  /** When the next delivery that is not in a chain becomes due; null when there is none. */
  nextAt: Date | null
}

/**
 * Arranges the pending deliveries of a webhook. A delivery that waits for its retry holds back later ones of the same key for up to an hour.
 * @param pending in the order of their sequences
 */
export function planRound<T extends PendingDelivery>(pending: readonly T[], now: Date): Round<T> {
  const chains = new Map<string, T[]>()
  /** The keys whose next delivery has to wait, with the end of the wait. */
  const held = new Map<string, Date>()
  const waits: Date[] = []
  for (const delivery of pending) {
    const { orderKey, nextAttemptAt } = delivery
    const heldUntil = held.get(orderKey)
    if (heldUntil) waits.push(heldUntil)
    else if (nextAttemptAt > now) {
      waits.push(nextAttemptAt)
      const holdsUntil = toHoldEnd(delivery)
      if (holdsUntil > now) held.set(orderKey, earlier(nextAttemptAt, holdsUntil))
    } else {
      const chain = chains.get(orderKey)
      if (chain) chain.push(delivery)
      else chains.set(orderKey, [delivery])
    }
  }
  return { chains: [...chains.values()], nextAt: waits.length > 0 ? waits.reduce(earlier) : null }
}

function toHoldEnd({ firstAttemptAt, nextAttemptAt }: PendingDelivery): Date {
  return firstAttemptAt === null ? nextAttemptAt : new Date(firstAttemptAt.getTime() + HOLD_MS)
}

const earlier = (one: Date, other: Date): Date => (one <= other ? one : other)

export type Verdict = 'delivered' | 'gone' | 'failed'

/** Judges a response by its status. Redirects are failures, because they are not followed. */
export function judgeStatus(status: number | null): Verdict {
  if (status === null) return 'failed'
  if (status >= 200 && status < 300) return 'delivered'
  return status === 410 ? 'gone' : 'failed'
}
