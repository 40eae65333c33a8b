import type { Notification } from '../../store/notifications/notifications.ts'
import type { NotificationView } from './schema.ts'

/** Converts a notification for its owner, for the list and for sockets. The event name stays internal. */
export function presentNotification(notification: Notification): NotificationView {
  const { _id, userId, message, type, reference, options, read, createdAt } = notification
  return {
    _id,
    userId,
    message,
    type,
    reference: { type: reference.type, id: reference.id, model: reference.model },
    options: {
      ...(options.image === undefined ? {} : { image: options.image }),
      ...(options.link === undefined ? {} : { link: options.link }),
    },
    read,
    createdAt: createdAt.toISOString(),
  }
}
