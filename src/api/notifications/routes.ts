import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { changePreferences } from '../../commands/notifications/change-preferences.ts'
import type { Context } from '../../context.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { operation } from '../openapi/operation.ts'
import { IdParam, toPage } from '../shared/schemas/common.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { presentGroup, presentNotification, presentPreferences } from './present.ts'
import {
  ChangePreferences,
  ListNotificationsQuery,
  NotificationList,
  Preferences,
  ReadNotification,
  ReadNotifications,
  ReadQuery,
} from './schema.ts'
import { presentAll } from '../shared/odd-records.ts'

/** Notification center of the signed-in user. */
export const notificationRoutes: FastifyPluginAsyncTypebox<{ context: Context }> = async (app, { context }) => {
  const { notifications } = context

  app.get(
    '/',
    {
      schema: {
        ...operation('notifications', 'listNotifications', 'List notifications, newest first', {
          keyScope: 'notifications:read',
        }),
        querystring: ListNotificationsQuery,
        response: { 200: success(NotificationList), ...errorResponses },
      },
    },
    async ({ query, user, log }) => {
      const page = toPage(query)
      const filter = { ...page, isUnread: query.unread }
      if (query.grouped) {
        const { groups, ...counts } = await notifications.pageOfGroups(user.userId, filter)
        const data = { notifications: presentAll(groups, presentGroup, log), ...counts, ...page }
        return ok('Notifications fetched successfully', data)
      }
      const { notifications: found, total, unread } = await notifications.page(user.userId, filter)
      const data = { notifications: presentAll(found, presentNotification, log), total, ...page, unread }
      return ok('Notifications fetched successfully', data)
    },
  )

  app.get(
    '/preferences',
    {
      schema: {
        ...operation('notifications', 'getNotificationPreferences', 'Get which notifications go where', {
          keyScope: 'notifications:read',
        }),
        response: { 200: success(Preferences), ...errorResponses },
      },
    },
    async ({ user }) => {
      const found = await context.users.findById(user.userId)
      return ok('Notification preferences found', presentPreferences(found?.notificationPreferences))
    },
  )

  app.patch(
    '/preferences',
    {
      schema: {
        ...operation('notifications', 'changeNotificationPreferences', 'Switch channels of notifications on or off', {
          keyScope: 'notifications:write',
          description: 'Channels that are left out stay as they are.',
        }),
        body: ChangePreferences,
        response: { 200: success(Preferences), ...errorResponses },
      },
    },
    async ({ user, body }) =>
      ok('Notification preferences changed', presentPreferences(await changePreferences(context, user.userId, body))),
  )

  app.patch(
    '/read-all',
    {
      schema: {
        ...operation('notifications', 'markAllNotificationsRead', 'Mark all notifications as read', {
          keyScope: 'notifications:write',
        }),
        response: { 200: success(ReadNotifications), ...errorResponses },
      },
    },
    async ({ user }) =>
      ok('All notifications marked as read', { updated: await notifications.markAllRead(user.userId) }),
  )

  app.patch(
    '/:id/read',
    {
      schema: {
        ...operation('notifications', 'markNotificationRead', 'Mark a notification as read', {
          keyScope: 'notifications:write',
        }),
        params: IdParam('id'),
        querystring: ReadQuery,
        response: { 200: success(ReadNotification), ...errorResponses },
      },
    },
    async ({ params, query, user }) => {
      const notification = await notifications.markRead(user.userId, params.id, { isGrouped: query.grouped })
      if (!notification) throw new ServiceError('NOT_FOUND', 'Notification not found')
      return ok('Notification marked as read', { notification: presentNotification(notification) })
    },
  )
}
