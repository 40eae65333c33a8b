import { Type, type Static } from '@sinclair/typebox'
import { NOTIFICATION_TYPES } from '../../domain/notifications/notifications.ts'
import { Instant, stringEnum, pageFields } from '../shared/schemas/common.ts'

export const NotificationSchema = Type.Object(
  {
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
  },
  { title: 'Notification' },
)

export type NotificationView = Static<typeof NotificationSchema>

export const ListNotificationsQuery = Type.Object(pageFields)

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
