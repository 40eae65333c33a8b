import { findMostSerious } from '../../domain/notifications/notifications.ts'
import {
  REQUIRED_CHANNELS,
  resolveAllChannels,
  type NotificationPreferences,
} from '../../domain/users/notification-preferences.ts'
import type { Notification, NotificationGroup } from '../../store/notifications/notifications.ts'
import type { NotificationView, PreferencesView } from './schema.ts'

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

/** Converts a group to its newest notification, with the others beside it. */
export function presentGroup({ count, unread, types, notifications }: NotificationGroup): NotificationView {
  const [newest, ...others] = notifications.map(presentNotification)
  return { ...newest!, group: { count, unread, type: findMostSerious(types), others } }
}

export function presentPreferences(preferences?: NotificationPreferences): PreferencesView {
  return { preferences: resolveAllChannels(preferences), required: REQUIRED_CHANNELS }
}
