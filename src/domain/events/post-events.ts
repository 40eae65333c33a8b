import { findEntry } from '../posts/post-entries.ts'
import type { CommentStatus, PlatformStatus, Post, PostStatus, Published } from '../posts/post.ts'
import { toTarget, type Target } from '../posts/targets.ts'
import { listNewEdits } from '../posts/timeline.ts'
import { toEventId, type EventType, type NewEvent } from './events.ts'

/** An event of a post. `target`: the delivery that has ended with it. */
export interface PostEvent extends NewEvent {
  target?: Target
}

/** The statuses whose beginning is an event. */
const STATUS_EVENTS: Partial<Record<PostStatus, EventType>> = {
  COMPLETED: 'post.published',
  PARTIAL_SUCCESS: 'post.partial',
  FAILED: 'post.failed',
  CANCELLED: 'post.cancelled',
}

/**
 * Derives the events of a change by comparing the post before and after, so that no move can omit one.
 * @param before null for a new post
 * @param offset the number of events that the same write already has, because their ids share its revision
 */
export function derivePostEvents(before: Post | null, after: Post, at: Date, offset = 0): PostEvent[] {
  const ends = after.platformStatuses.flatMap((entry) => deriveDeliveryEvents(before, after, entry, at))
  const types = listPostTypes(before, after)
  const events = types.map((type, index): NewEvent => {
    const id = toEventId(after._id, after.revision, offset + ends.length + index)
    return { id, type, occurredAt: at, data: describePost(after, type) }
  })
  return [...ends, ...events]
}

/** Returns the event of a deletion. The post has no events after it but acceptances that were already on their way. */
export function postDeleted(post: Post, at: Date): NewEvent {
  const id = toEventId(post._id, 'deleted')
  return { id, type: 'post.deleted', occurredAt: at, data: describePost(post, 'post.deleted') }
}

/** Returns the event of a delivery that a platform accepted. A target is accepted once, so a repeated record has the same id. */
export function deliveryAccepted(post: Pick<Post, '_id'>, entry: PlatformStatus, at: Date): NewEvent {
  const id = toEventId(post._id, toTarget(entry), 'accepted')
  return { id, type: 'delivery.accepted', occurredAt: at, data: { postId: post._id, ...describeDelivery(entry) } }
}

function listPostTypes(before: Post | null, after: Post): EventType[] {
  const isMoved = before?.status !== 'SCHEDULED' || before.scheduledAt?.getTime() !== after.scheduledAt?.getTime()
  const ending = STATUS_EVENTS[after.status]
  const isNew = before?.status !== after.status && !(before && hasOnlyCommentsLeft(before))
  return [
    ...(before === null ? (['post.created'] as const) : []),
    ...(after.status === 'SCHEDULED' && isMoved ? (['post.scheduled'] as const) : []),
    ...(ending && isNew ? [ending] : []),
  ]
}

/** Returns whether every account had the post before the last retry, which then is about first comments only. */
function hasOnlyCommentsLeft({ dueAt, platformStatuses }: Post): boolean {
  return platformStatuses.every(({ completedAt }) => completedAt !== null && dueAt !== null && completedAt < dueAt)
}

function deriveDeliveryEvents(before: Post | null, after: Post, entry: PlatformStatus, at: Date): PostEvent[] {
  const target = toTarget(entry)
  const old = before && findEntry(before, target)
  if (!old) return []
  const data = { postId: after._id, ...describeDelivery(entry) }
  const edits = listNewEdits(old, entry).map((index): PostEvent => {
    const id = toEventId(after._id, target, 'edited', index)
    return { id, type: 'delivery.edited', occurredAt: at, data }
  })
  return [...edits, ...deriveEnd(old, after, entry, { data, at })]
}

function deriveEnd(
  old: PlatformStatus,
  after: Post,
  entry: PlatformStatus,
  { data, at }: { data: NewEvent['data']; at: Date },
): PostEvent[] {
  if (old.status === entry.status) return []
  const target = toTarget(entry)
  if (entry.status === 'deleted') {
    return [{ id: toEventId(after._id, target, 'deleted'), type: 'delivery.deleted', occurredAt: at, data }]
  }
  // The retry of a comment is no news of the post.
  if (old.completedAt !== null) return []
  if (entry.status === 'completed') return [{ ...deliveryAccepted(after, entry, at), target }]
  if (entry.status !== 'failed') return []
  const type = entry.delivery.outcome === 'unknown' ? 'delivery.unknown' : 'delivery.failed'
  const id = toEventId(after._id, target, entry.delivery.round, 'failed')
  return [{ id, type, occurredAt: at, data, target }]
}

function describePost({ _id, status, scheduledAt, platformStatuses }: Post, type: EventType) {
  const about = { postId: _id, status, scheduledAt: scheduledAt?.toISOString() ?? null }
  return { ...about, deliveries: platformStatuses.map(type === 'post.created' ? describeTarget : describeDelivery) }
}

function describeTarget({ platform, accountId, accountName }: PlatformStatus) {
  return { platform, accountId: accountId ?? null, accountName: accountName ?? null }
}

/** Leaves out the platform's own explanation, which may quote the post. */
function describeDelivery(entry: PlatformStatus) {
  const { status, platformPostId, platformPostUrl: url, errorCode, error, parts, comment } = entry
  return {
    ...{ ...describeTarget(entry), status, platformPostId, url, errorCode, error },
    ...(parts && { parts: parts.map(describePublished) }),
    ...(comment && { comment: describeComment(comment) }),
  }
}

function describePublished({ platformPostId, platformPostUrl: url }: Published) {
  return { platformPostId, url }
}

function describeComment(comment: CommentStatus) {
  const published = comment.status === 'completed' ? describePublished(comment) : { platformPostId: null, url: null }
  const { errorCode, error } = comment.status === 'failed' ? comment : { errorCode: null, error: null }
  return { status: comment.status, ...published, errorCode, error }
}
