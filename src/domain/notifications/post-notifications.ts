import type { NewEvent } from '../events/events.ts'
import type { PostEvent } from '../events/post-events.ts'
import { findEntry, toFailure } from '../posts/post-entries.ts'
import type { PlatformStatus, Post } from '../posts/post.ts'
import { commentFailed, postFailed, postPublished, type NewNotification } from './notifications.ts'

/** An event, with the notification of its owner if there is one. */
export interface NotifiedEvent extends NewEvent {
  notification?: NewNotification
}

/** Adds to the events of a change the notifications of the deliveries that ended with it. The end of the whole post has none. */
export function addNotifications(events: readonly PostEvent[], post: Post): NotifiedEvent[] {
  return events.map(({ target, ...event }) => {
    const notification = target === undefined ? null : deliveryEnded(post, findEntry(post, target)!)
    return notification ? { ...event, notification } : event
  })
}

/** Returns null for a delivery that the user has cancelled. */
function deliveryEnded(post: Post, entry: PlatformStatus): NewNotification | null {
  if (entry.errorCode === 'CANCELLED') return null
  if (entry.status !== 'completed') return postFailed(post, entry, toFailure(entry)!)
  const { comment } = entry
  return comment?.status === 'failed' && comment.errorCode !== 'CANCELLED'
    ? commentFailed(post, entry, toFailure(comment)!)
    : postPublished(post, entry, entry.platformPostUrl!)
}
