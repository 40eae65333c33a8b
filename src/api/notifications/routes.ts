import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Context } from '../../context.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { operation } from '../openapi/operation.ts'
import { IdParam, toPage } from '../shared/schemas/common.ts'
import { errorResponses, ok, success } from '../shared/schemas/envelope.ts'
import { presentNotification } from './present.ts'
import { ListNotificationsQuery, NotificationList, ReadNotification, ReadNotifications } from './schema.ts'
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
      const { notifications: found, total, unread } = await notifications.page(user.userId, page)
      const data = { notifications: presentAll(found, presentNotification, log), total, ...page, unread }
      return ok('Notifications fetched successfully', data)
    },
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
        response: { 200: success(ReadNotification), ...errorResponses },
      },
    },
    async ({ params, user }) => {
      const notification = await notifications.markRead(user.userId, params.id)
      if (!notification) throw new ServiceError('NOT_FOUND', 'Notification not found')
      return ok('Notification marked as read', { notification: presentNotification(notification) })
    },
  )
}
