import type { FailureCode } from './failure.ts'
import type { PlatformReason } from './platform-reason.ts'
import { resolveContent } from './content.ts'
import { toPartIndex, toParts } from './parts.ts'
import { findEntry } from './post-entries.ts'
import { toTarget } from './targets.ts'
import type { Platform } from '../shared/platforms.ts'
import type { Cause, PlatformStatus, Post, PostStatus, Revision } from './post.ts'

/** Maximal number of stored events of a post. The oldest are dropped. */
export const TIMELINE_LENGTH = 200

export const TIMELINE_TYPES = ['transition', 'edit', 'retry', 'wait', 'attempt', 'outcome', 'reconcile'] as const

/** Results of `outcome` and `reconcile` events. */
export const TIMELINE_RESULTS = [
  'accepted',
  'refused',
  'deferred',
  'unknown',
  'deleted',
  'edited',
  'found',
  'absent',
] as const

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
  /** The part of a post with several that the event is about, from 1. */
  part?: number
  /** End of a `wait` or of the hold of an immediate post, or the time of an open entry's next attempt. */
  until?: Date
  /** The workflow run whose activity caused the event; absent when a request did. */
  runId?: string
}

/** Returns the first event of a new post's timeline. */
export function createFirstEvent(post: Post): TimelineEvent {
  return { at: post.createdAt, type: 'transition', status: post.status, ...toHoldEnd(post, post.createdAt) }
}

/** Names the end of the hold of an immediate post; empty for other posts and after it. */
function toHoldEnd({ status, dueAt }: Post, at: Date): Pick<TimelineEvent, 'until'> {
  return status === 'PENDING' && dueAt !== null && dueAt > at ? { until: dueAt } : {}
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
  const isNew = after.status !== before.status
  const isHeldAnew = after.status === 'PENDING' && !isNew && after.dueAt !== before.dueAt
  const isEdited = EDITABLE.some((name) => after[name] !== before[name]) || isHeldAnew
  const events: TimelineEvent[] = isEdited ? [{ at, type: 'edit', ...(isHeldAnew && toHoldEnd(after, at)) }] : []
  for (const entry of after.platformStatuses) {
    const old = findEntry(before, toTarget(entry))
    if (old && old !== entry) events.push(...deriveEntryEvents(old, entry, { at, ...nameNextPart(after, old) }))
  }
  if (isNew) events.push({ at, type: 'transition', status: after.status, ...toHoldEnd(after, at) })
  return events
}

/** Names the entry that an event is about. */
export function toEntryReference({
  platform,
  accountId,
}: PlatformStatus): Pick<TimelineEvent, 'platform' | 'accountId'> {
  return { platform, ...(accountId !== undefined && { accountId }) }
}

/** Names the part that the next call of an entry publishes; empty for a post of one part. */
function nameNextPart(post: Post, entry: PlatformStatus): Pick<TimelineEvent, 'part'> {
  const parts = toParts(entry.platform, resolveContent(post, entry))
  return parts.length > 1 ? { part: toPartIndex(entry) + 1 } : {}
}

/** @param common the instant, and the part that the delivery was about before */
function deriveEntryEvents(
  before: PlatformStatus,
  after: PlatformStatus,
  { at, ...ofPart }: Pick<TimelineEvent, 'at' | 'part'>,
): TimelineEvent[] {
  const { delivery } = after
  const entry = { at, ...toEntryReference(after), round: delivery.round }
  const about = { ...entry, attempt: delivery.attempt }
  const events: TimelineEvent[] = []
  if (delivery.round > before.delivery.round) events.push({ ...about, type: 'retry' })
  if (delivery.attempt > before.delivery.attempt) events.push({ ...about, ...ofPart, type: 'attempt' })
  if (isAccepted(before, after)) {
    // Once a part is published, the delivery is about the next one, which has no attempt yet.
    events.push({ ...entry, attempt: before.delivery.attempt, ...ofPart, type: 'outcome', result: 'accepted' })
  }
  const cause = findNewFailure(before, after)
  if (cause) {
    const result = delivery.outcome === 'unknown' ? 'unknown' : 'refused'
    events.push({ ...about, ...ofPart, type: 'outcome', result, ...toCause(cause) })
  }
  if (isRemoved(before, after)) {
    events.push({ ...about, type: 'outcome', result: 'deleted' })
  }
  for (const _ of listNewEdits(before, after)) events.push({ ...about, type: 'outcome', result: 'edited' })
  const until = delivery.nextAttemptAt
  // A long outage must not push out everything else.
  const isSameOutage = delivery.outage && before.delivery.outage?.server === delivery.outage.server
  if (until && !isSameOutage && until.getTime() !== before.delivery.nextAttemptAt?.getTime()) {
    const result = delivery.outcome === 'unknown' ? 'unknown' : 'deferred'
    events.push({ ...about, ...ofPart, type: 'outcome', result, ...toCause(after), until })
  }
  return events
}

/** Returns whether a part was published: one of several, the comment, or the post as a whole. */
function isAccepted(before: PlatformStatus, after: PlatformStatus): boolean {
  if (toPartIndex(after) > toPartIndex(before)) return true
  if (after.comment) return after.comment.status === 'completed' && before.comment?.status !== 'completed'
  return after.status === 'completed' && before.status !== 'completed'
}

/** Returns whether the published post was found to be gone, or was removed on request: also what is published of a failed thread. */
function isRemoved(before: PlatformStatus, after: PlatformStatus): boolean {
  if (after.status === 'deleted') return before.status !== 'deleted'
  return after.removal?.status === 'completed' && before.removal?.status === 'pending'
}

/** Returns the indices of the edits that the platform has made since. */
export function listNewEdits(before: PlatformStatus, { revisions = [] }: PlatformStatus): number[] {
  const isMade = (revision?: Revision) => revision?.status === 'completed'
  return revisions.flatMap((one, index) => (isMade(one) && !isMade(before.revisions?.[index]) ? [index] : []))
}

/** Returns why the delivery, or that of the comment, has failed since; null when it has not. */
function findNewFailure(before: PlatformStatus, after: PlatformStatus): Cause | null {
  const { comment } = after
  if (comment?.status === 'failed' && before.comment?.status !== 'failed') return comment
  return after.status === 'failed' && before.status !== 'failed' ? after : null
}

function toCause({ errorCode, platformReason }: Cause): Pick<TimelineEvent, 'code' | 'platformReason'> {
  return { ...(errorCode && { code: errorCode }), ...(platformReason && { platformReason }) }
}

/** Sorts events by time, oldest first and stable. Stored order differs, because a wait is stored with the move that ends it. */
export function sortByTime(events: readonly TimelineEvent[]): TimelineEvent[] {
  return events.toSorted((first, second) => Number(first.at) - Number(second.at))
}
