import type { Context } from '../../src/context.ts'
import type { NewNotification } from '../../src/domain/notifications/notifications.ts'
import type { Notification } from '../../src/store/notifications/notifications.ts'
import { unique } from './servers.ts'

/** Returns a notification as the worker creates it, with a unique event. */
export function newNotification(userId: string, changes: Partial<NewNotification> = {}): NewNotification {
  return {
    userId,
    dedupeKey: unique('event'),
    kind: 'postPublished',
    message: 'Successfully posted on bluesky',
    type: 'success',
    reference: { type: 'post', id: unique('post'), model: 'Post' },
    options: {},
    ...changes,
  }
}

/** Stores `count` notifications one after the other and returns them, newest first. */
export async function storeNotifications(
  { notifications }: Pick<Context, 'notifications'>,
  userId: string,
  count: number,
): Promise<Notification[]> {
  for (let stored = 0; stored < count; stored++) await notifications.insertOnce(newNotification(userId))
  return notifications.listOf(userId, count)
}
