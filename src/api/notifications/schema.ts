import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { NOTIFICATION_TYPES } from '../../domain/notifications/notifications.ts'
import {
  NOTIFICATION_CHANNELS,
  NOTIFICATION_KINDS,
  type NotificationChannel,
  type NotificationKind,
} from '../../domain/users/notification-preferences.ts'
import { Instant, stringEnum, pageFields } from '../shared/schemas/common.ts'

const notificationFields = {
  _id: Type.String(),
  userId: Type.String(),
  message: Type.String(),
  type: stringEnum(NOTIFICATION_TYPES),
  reference: Type.Object(
    { type: Type.String(), id: Type.String(), model: Type.String() },
    { description: 'The record that the notification refers to' },
  ),
  options: Type.Object({ image: Type.Optional(Type.String()), link: Type.Optional(Type.String()) }),
  read: Type.Boolean(),
  createdAt: Instant,
}

const NotificationGroup = Type.Object(
  {
    count: Type.Integer(),
    unread: Type.Integer(),
    type: stringEnum(NOTIFICATION_TYPES, { description: 'The most serious type' }),
    others: Type.Array(Type.Object(notificationFields), { description: 'The newest 49 others, newest first' }),
  },
  { title: 'NotificationGroup', description: 'Only with `grouped=true`: all notifications of the same post' },
)

export const NotificationSchema = Type.Object(
  { ...notificationFields, group: Type.Optional(NotificationGroup) },
  { title: 'Notification' },
)

export type NotificationView = Static<typeof NotificationSchema>

const flag = (description: string) => Type.Boolean({ default: false, description })

export const ListNotificationsQuery = Type.Object({
  ...pageFields,
  unread: flag('Only unread notifications'),
  grouped: flag('One entry per post: its newest notification, with `group`. Covers the newest 2,000 notifications.'),
})

export const ReadQuery = Type.Object({ grouped: flag('Also the others of the same post') })

const Channels = Type.Object({ list: Type.Boolean(), push: Type.Boolean(), mail: Type.Boolean() })

const byKind = <T extends TSchema>(value: T) =>
  Object.fromEntries(NOTIFICATION_KINDS.map((kind) => [kind, value])) as Record<NotificationKind, T>

export const Preferences = Type.Object(
  {
    preferences: Type.Object(byKind(Channels)),
    required: Type.Partial(Type.Object(byKind(Type.Array(stringEnum<NotificationChannel>(NOTIFICATION_CHANNELS)))), {
      description: 'Channels that cannot be switched off',
    }),
  },
  { title: 'NotificationPreferences' },
)

export type PreferencesView = Static<typeof Preferences>

export const ChangePreferences = Type.Partial(Type.Object(byKind(Type.Partial(Channels))), {
  title: 'ChangeNotificationPreferences',
  examples: [{ postCreated: { push: false }, postFailed: { mail: true } }],
})

export const NotificationList = Type.Object(
  {
    notifications: Type.Array(NotificationSchema),
    total: Type.Integer(),
    page: Type.Integer(),
    limit: Type.Integer(),
    unread: Type.Integer({ description: 'Unread notifications on all pages' }),
  },
  { title: 'NotificationList' },
)

export const ReadNotification = Type.Object({ notification: NotificationSchema })

export const ReadNotifications = Type.Object({
  updated: Type.Integer({ description: 'Number of notifications that were unread' }),
})
