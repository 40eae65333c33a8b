import { createHash } from 'node:crypto'
import { notificationMail } from '../../domain/notifications/mail-texts.ts'
import { MAIL_LIFE_MS } from '../../domain/notifications/mails.ts'
import { toMailKey, type NewNotification } from '../../domain/notifications/notifications.ts'
import { resolveChannels } from '../../domain/users/notification-preferences.ts'
import type { User } from '../../domain/users/user.ts'
import type { Mail } from '../../store/notifications/mails.ts'
import type { Route } from '../../store/notifications/notifications.ts'
import type { RateLimit } from '../../store/shared/rate-limits.ts'
import type { Parts } from '../parts.ts'
import { newMail } from './queue-mail.ts'

interface RoutingDeps extends Pick<Parts, 'users' | 'pushTokens' | 'push' | 'mails' | 'cipher' | 'clock'> {
  /** Notification mails per user, counted for each kind. */
  limit: RateLimit
  /** The address of the frontend, for links; null without a mail server, when no mails are written. */
  mailLinks: string | null
}

/** Creates the function that decides how notifications reach their users: by the preferences of the user, devices, and the limit of mails. */
export function createFindRoutes(deps: RoutingDeps) {
  const { users, pushTokens, push, mails, cipher, clock, limit, mailLinks } = deps

  /** Returns null for a mail that is stored already, of a user who is gone or disabled, or beyond the limit. */
  async function writeMail(
    notification: NewNotification,
    user: User | undefined,
    written: Set<string>,
  ): Promise<Mail | null> {
    if (mailLinks === null || !user || user.isDisabled) return null
    const _id = toMailId(notification)
    if (written.has(_id)) return null
    written.add(_id)
    if (!(await limit.tryTake(user._id, notification.kind))) return null
    const content = { to: user.email, ...notificationMail(mailLinks, notification) }
    return newMail({ cipher, clock }, { _id, kind: 'notification', userId: user._id, lifeMs: MAIL_LIFE_MS, ...content })
  }

  return async function findRoutes(notifications: NewNotification[]): Promise<Route[]> {
    const userIds = [...new Set(notifications.map(({ userId }) => userId))]
    const [owners, found] = await Promise.all([
      push ? pushTokens.findDeviceOwners(userIds) : new Set<string>(),
      Promise.all(userIds.map((userId) => users.findById(userId))),
    ])
    const byId = new Map(found.flatMap((user) => (user ? [[user._id, user]] : [])))
    const channels = notifications.map(({ kind, userId }) =>
      resolveChannels(kind, byId.get(userId)?.notificationPreferences),
    )
    const mailed = mailLinks === null ? [] : notifications.filter((_, index) => channels[index]!.mail)
    const written = await mails.findStored(mailed.map(toMailId))
    return Promise.all(
      notifications.map(async (notification, index) => ({
        isListed: channels[index]!.list,
        isPushed: channels[index]!.push && owners.has(notification.userId),
        mail: channels[index]!.mail ? await writeMail(notification, byId.get(notification.userId), written) : null,
      })),
    )
  }
}

/** Equal for mails that are sent once. */
function toMailId(notification: NewNotification): string {
  return createHash('sha256')
    .update(JSON.stringify([notification.userId, toMailKey(notification)]))
    .digest('base64url')
}
