import type { FailureCode } from './failure.ts'
import type { PlatformReason } from './platform-reason.ts'
import { findEntry } from './post-entries.ts'
import { toTarget } from './targets.ts'
import type { Platform } from '../shared/platforms.ts'
import type { PlatformStatus, Post, PostStatus } from './post.ts'

/** Maximal number of stored events of a post. The oldest are dropped. */
export const TIMELINE_LENGTH = 200

export const TIMELINE_TYPES = ['transition', 'edit', 'retry', 'wait', 'attempt', 'outcome', 'reconcile'] as const

/** Results of `outcome` and `reconcile` events. */
export const TIMELINE_RESULTS = ['accepted', 'refused', 'deferred', 'unknown', 'deleted', 'found', 'absent'] as const

/** An event of a post, shown to its owner and to support. Contains nothing of the post's content. */
export interface TimelineEvent {
  at: Date
  type: (typeof TIMELINE_TYPES)[number]
  /** The post's new status; only for a `transition`. */
  status?: PostStatus
  platform?: Platform
  /** The account of the entry, where it is known. */
  accountId?: string
  result?: (typeof TIMELINE_RESULTS)[number]
  code?: FailureCode
  /** The platform's own explanation of a refusal. */
  platformReason?: PlatformReason
  /** The user's retry and the claim that the event belongs to. */
  round?: number
  attempt?: number
  /** End of a `wait`, or the time of an open entry's next attempt. */
  until?: Date
  /** The workflow run whose activity caused the event; absent when a request did. */
  runId?: string
}

/** Returns the first event of a new post's timeline. */
export function createFirstEvent(post: Post): TimelineEvent {
  return { at: post.createdAt, type: 'transition', status: post.status }
}

/** Fields that only an edit changes. */
const EDITABLE = [
  'contentVersion',
  'scheduledAt',
  'selectedPlatforms',
  'selectedAccounts',
  'groups',
  'timezone',
] as const satisfies (keyof Post)[]

/** Derives the events of a move by comparing the post before and after, so that no move can omit an event. */
export function deriveEvents(before: Post, after: Post, at: Date): TimelineEvent[] {
  const events: TimelineEvent[] = EDITABLE.some((name) => after[name] !== before[name]) ? [{ at, type: 'edit' }] : []
  for (const entry of after.platformStatuses) {
    const old = findEntry(before, toTarget(entry))
    if (old && old !== entry) events.push(...deriveEntryEvents(old, entry, at))
  }
  if (after.status !== before.status) events.push({ at, type: 'transition', status: after.status })
  return events
}

/** Names the entry that an event is about. */
export function toEntryReference({
  platform,
  accountId,
}: PlatformStatus): Pick<TimelineEvent, 'platform' | 'accountId'> {
  return { platform, ...(accountId !== undefined && { accountId }) }
}

function deriveEntryEvents(before: PlatformStatus, after: PlatformStatus, at: Date): TimelineEvent[] {
  const { delivery } = after
  const about = { at, ...toEntryReference(after), round: delivery.round, attempt: delivery.attempt }
  const events: TimelineEvent[] = []
  if (delivery.round > before.delivery.round) events.push({ ...about, type: 'retry' })
  if (delivery.attempt > before.delivery.attempt) events.push({ ...about, type: 'attempt' })
  if (after.status !== before.status) {
    if (after.status === 'completed') events.push({ ...about, type: 'outcome', result: 'accepted' })
    if (after.status === 'deleted') events.push({ ...about, type: 'outcome', result: 'deleted' })
    if (after.status === 'failed') {
      const result = delivery.outcome === 'unknown' ? 'unknown' : 'refused'
      events.push({ ...about, type: 'outcome', result, ...toCause(after) })
    }
  }
  const until = delivery.nextAttemptAt
  // A long outage must not push out everything else.
  const isSameOutage = delivery.outage && before.delivery.outage?.server === delivery.outage.server
  if (until && !isSameOutage && until.getTime() !== before.delivery.nextAttemptAt?.getTime()) {
    const result = delivery.outcome === 'unknown' ? 'unknown' : 'deferred'
    events.push({ ...about, type: 'outcome', result, ...toCause(after), until })
  }
  return events
}

function toCause({ errorCode, platformReason }: PlatformStatus): Pick<TimelineEvent, 'code' | 'platformReason'> {
  return { ...(errorCode && { code: errorCode }), ...(platformReason && { platformReason }) }
}

/** Sorts events by time, oldest first and stable. Stored order differs, because a wait is stored with the move that ends it. */
export function sortByTime(events: readonly TimelineEvent[]): TimelineEvent[] {
  return events.toSorted((first, second) => Number(first.at) - Number(second.at))
}
