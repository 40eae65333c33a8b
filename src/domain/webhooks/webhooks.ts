import type { EventType } from '../events/events.ts'
import { ServiceError } from '../shared/service-error.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../shared/times.ts'

export const MAX_WEBHOOKS = 10
export const MAX_URL_LENGTH = 2_048
export const MAX_DESCRIPTION_LENGTH = 200

/** The type of events that `POST /api/webhooks/{id}/test` sends. They are not in the feed. */
export const TEST_EVENT_TYPE = 'webhook.test'

export const SECRET_PREFIX = 'whsec_'
/** Standard Webhooks asks for 24 to 64 random bytes. */
export const SECRET_BYTES = 32
/** The form of a signing secret: its bytes in base64. */
export const SECRET_PATTERN = `${SECRET_PREFIX}[0-9A-Za-z+/]{43}=`
/** How long the secret before a rotation signs as well. */
export const OLD_SECRET_LIFE_MS = DAY

/** Why a webhook gets no events: its owner disabled it, its receiver responded with 410, or it failed for too long. */
export const DISABLED_REASONS = ['user', 'gone', 'failing'] as const
export type DisabledReason = (typeof DISABLED_REASONS)[number]

/** How the receiver has responded lately. */
export interface WebhookHealth {
  /** Failed attempts since the last success, over all events. */
  failures: number
  /** The first failure of an uninterrupted series; null after a success. */
  failingSince: Date | null
  lastFailureAt: Date | null
  lastSuccessAt: Date | null
  /** No attempt before this time; null when attempts may start. */
  pausedUntil: Date | null
}

/** A receiver of events, as stored. */
export interface Webhook {
  _id: string
  userId: string
  url: string
  description: string
  /** The types of events that it gets; empty for all types. */
  events: EventType[]
  /** The signing secret, encrypted. */
  sealedSecret: string
  /** The secret before the last rotation, encrypted. */
  oldSecret: { sealed: string; validUntil: Date } | null
  isEnabled: boolean
  /** Null for an enabled webhook. */
  disabled: { reason: DisabledReason; at: Date } | null
  /** The sequence up to which the events of the feed have become deliveries. */
  cursor: number
  health: WebhookHealth
  /** Incremented by every change of `url`, `description`, `events` and `isEnabled`. */
  revision: number
  /** When its workflow has work; null when it has none. The sweeper wakes workflows that miss this time. */
  wakeAt: Date | null
  createdAt: Date
}

export const HEALTHY: WebhookHealth = {
  failures: 0,
  failingSince: null,
  lastFailureAt: null,
  lastSuccessAt: null,
  pausedUntil: null,
}

export function isWanted({ events }: Pick<Webhook, 'events'>, type: EventType): boolean {
  return events.length === 0 || events.includes(type)
}

/** With this many failures in a row, attempts to the receiver become rare. */
const FAILURES_TO_PAUSE = 5
const FIRST_PAUSE_MS = 5 * SECOND
const LONGEST_PAUSE_MS = 10 * MINUTE
/** A longer wait that a receiver asks for is reduced to this. */
const LONGEST_STATED_WAIT_MS = DAY
/** A receiver that fails for this long without a success is disabled. */
const DISABLE_AFTER_MS = 5 * DAY
/** Longer than any wait between two attempts. Failures further apart are separate series. */
const SERIES_GAP_MS = 2 * DAY

/** Returns the health after a success. */
export function noteSuccess(health: WebhookHealth, now: Date): WebhookHealth {
  return { ...health, failures: 0, failingSince: null, pausedUntil: null, lastSuccessAt: now }
}

/**
 * Returns the health after a failed attempt. After five failures in a row, and when the receiver asks for it, attempts pause.
 * @param random from 0 to 1, the jitter
 * @param statedWaitMs the wait that the receiver asked for, such as with 429
 */
export function noteFailure(
  health: WebhookHealth,
  { now, random, statedWaitMs }: { now: Date; random: number; statedWaitMs?: number | undefined },
): WebhookHealth {
  const { lastFailureAt } = health
  const isSeries = lastFailureAt !== null && now.getTime() - lastFailureAt.getTime() <= SERIES_GAP_MS
  const failures = health.failures + 1
  const waitMs = Math.max(toPauseMs(failures, random), Math.min(statedWaitMs ?? 0, LONGEST_STATED_WAIT_MS))
  return {
    ...health,
    failures,
    failingSince: isSeries ? (health.failingSince ?? now) : now,
    lastFailureAt: now,
    pausedUntil: waitMs > 0 ? new Date(now.getTime() + waitMs) : health.pausedUntil,
  }
}

function toPauseMs(failures: number, random: number): number {
  if (failures < FAILURES_TO_PAUSE) return 0
  return jitter(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - FAILURES_TO_PAUSE)), random)
}

/** Returns a time from 80 to 120 percent of `ms`, so that retries of many events spread out. */
export function jitter(ms: number, random: number): number {
  return ms * (0.8 + 0.4 * random)
}

export function isPaused({ pausedUntil }: WebhookHealth, now: Date): boolean {
  return pausedUntil !== null && pausedUntil > now
}

/** Returns true while a single attempt at a time tests whether the receiver works again. */
export function isFailing({ failures }: WebhookHealth): boolean {
  return failures >= FAILURES_TO_PAUSE
}

export function hasFailedTooLong({ failingSince }: WebhookHealth, now: Date): boolean {
  return failingSince !== null && now.getTime() - failingSince.getTime() >= DISABLE_AFTER_MS
}

/** The time after which a webhook of a disabled account is checked again. */
export const DISABLED_ACCOUNT_PAUSE_MS = HOUR

export function webhookNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'Webhook not found')
}

export function webhookLimitReached(): ServiceError {
  const message = `You have ${MAX_WEBHOOKS} webhooks. Delete one that you no longer need.`
  return new ServiceError('WEBHOOK_LIMIT_REACHED', message, { details: { limit: MAX_WEBHOOKS } })
}

export function webhookDisabled(): ServiceError {
  return new ServiceError('WEBHOOK_DISABLED', 'The webhook is disabled. Enable it, then try again.')
}
