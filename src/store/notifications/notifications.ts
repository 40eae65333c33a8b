import { Schema, type ClientSession, type Connection } from 'mongoose'
import {
  NOTIFICATION_TYPES,
  type NewNotification,
  type NotificationType,
} from '../../domain/notifications/notifications.ts'
import { NOTIFICATION_KINDS } from '../../domain/users/notification-preferences.ts'
import { PUSH_STATES, type PushState } from '../../domain/notifications/push.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { insertMissing } from '../shared/insert-missing.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { batcher } from '../shared/batching.ts'
import { newId, required, schemaOptions } from '../shared/schema.ts'
import type { Mail, MailStore } from './mails.ts'

export interface Notification extends NewNotification {
  _id: string
  /** False where the user has switched off the list: the record only prevents a second notification, and holds the push. */
  isListed: boolean
  read: boolean
  createdAt: Date
  push: {
    state: PushState
    /** Devices that received it. */
    servedDevices?: string[]
    /** The reason of a failure, for operators. */
    reason?: string
  }
  /** When the record expires; set when the notification is read. */
  removeAt?: Date
}

/** A notification to store, with the mail about it. */
export interface NotificationRecord {
  notification: Notification
  mail: Mail | null
}

/** The notifications of one post, or one other notification. */
export interface NotificationGroup {
  count: number
  unread: number
  types: NotificationType[]
  /** The newest 50 of them, newest first. */
  notifications: Notification[]
}

interface NotificationPage {
  notifications: Notification[]
  total: number
  unread: number
}

interface GroupPage {
  groups: NotificationGroup[]
  total: number
  unread: number
}

interface ListPage {
  page: number
  limit: number
  /** Only unread notifications. */
  isUnread: boolean
}

const notificationSchema = new Schema<Notification>(
  {
    _id: required(String),
    userId: required(String),
    dedupeKey: required(String),
    kind: { type: String, enum: NOTIFICATION_KINDS, required: true },
    message: required(String),
    type: { type: String, enum: NOTIFICATION_TYPES, required: true },
    reference: {
      type: required(String),
      id: required(String),
      model: required(String),
    },
    options: { image: String, link: String },
    isListed: required(Boolean),
    read: required(Boolean),
    createdAt: required(Date),
    push: {
      state: { type: String, enum: PUSH_STATES, required: true },
      servedDevices: { type: [String], default: undefined },
      reason: String,
    },
    removeAt: Date,
  },
  { ...schemaOptions, timestamps: false },
)

// guard: unique notification
notificationSchema.index({ userId: 1, dedupeKey: 1 }, { unique: true })
notificationSchema.index({ userId: 1, createdAt: -1, _id: -1, isListed: 1 })
// Only unread notifications: counting, listing and marking them reads nothing else. Those that are not listed count as read.
notificationSchema.index({ userId: 1, createdAt: -1, _id: -1 }, { partialFilterExpression: { read: false } })
// Only pushes that no workflow has started, for the sweeper.
notificationSchema.index(
  { 'push.state': 1, createdAt: 1 },
  { partialFilterExpression: { 'push.state': 'waiting' satisfies PushState } },
)
notificationSchema.index({ removeAt: 1 }, { expireAfterSeconds: 0 })

const LIST_DEADLINE_MS = 5 * SECOND
const NEWEST_FIRST = { createdAt: -1, _id: -1 } as const
/** A grouped list covers this many of the newest notifications, because groups are built by reading all of them. */
const GROUPED_NOTIFICATIONS = 2_000
const LISTED_PER_GROUP = 50

/** How a notification reaches its user. */
export interface Route {
  isListed: boolean
  isPushed: boolean
  mail: Mail | null
}

/** The functions with which the notification store reaches users. */
export interface Sending {
  /** Returns the routes of the notifications, in their order. */
  findRoutes(notifications: NewNotification[]): Promise<Route[]>
  mails: Pick<MailStore, 'insertMissing'>
  /** Starts the pushes and mails of stored notifications. Neither waits nor throws. */
  begin(records: NotificationRecord[]): void
}

const ONLY_LISTED: Sending = {
  findRoutes: async (notifications) => notifications.map(() => ({ isListed: true, isPushed: false, mail: null })),
  mails: { insertMissing: async () => undefined },
  begin: () => undefined,
}

interface NotificationStoreOptions {
  sending?: Sending
  /** How long notifications are stored after they were read; without it, forever. */
  readRetentionMs?: number
}

/** Stores notifications. */
export function createNotificationStore(
  connection: Connection,
  now: () => Date,
  { sending = ONLY_LISTED, readRetentionMs }: NotificationStoreOptions = {},
) {
  connection.model<Notification>('Notification', notificationSchema, 'notifications')

  const collection = nativeCollection<Notification>(connection, 'notifications')

  const insertBatch = batcher<boolean, NewNotification>(async (notifications, settle) => {
    const records = await toRecords(notifications)
    // The mails first: when the process dies in between, the repeated event stores the notification and no second mail.
    await sending.mails.insertMissing(toMails(records))
    const refused = await insertMissing(
      collection(),
      records.map(({ notification }) => notification),
    )
    records.forEach((_, index) => settle(index, !refused.has(index)))
    sending.begin(records.filter((_, index) => !refused.has(index)))
  })

  /** Builds records with one lookup of all users. */
  async function toRecords(notifications: NewNotification[]): Promise<NotificationRecord[]> {
    if (notifications.length === 0) return []
    const routes = await sending.findRoutes(notifications)
    return notifications.map((notification, index) => {
      const { isListed, isPushed, mail } = routes[index]!
      const state = isPushed ? 'waiting' : 'none'
      const stored = {
        ...notification,
        _id: newId(),
        isListed,
        read: false,
        createdAt: now(),
        push: { state } as const,
      }
      return { notification: isListed ? stored : { ...stored, ...toRead() }, mail }
    })
  }

  /** The fields of a notification that is read now. */
  const toRead = () => ({
    read: true,
    ...(readRetentionMs !== undefined && { removeAt: new Date(now().getTime() + readRetentionMs) }),
  })

  return {
    /** Builds the records for `insert`. */
    toRecords,

    /** Inserts in a transaction, which fails when a notification is already stored. Call `beginSending` after it. */
    async insert(records: NotificationRecord[], session: ClientSession): Promise<void> {
      if (records.length === 0) return
      await collection().insertMany(
        records.map(({ notification }) => notification),
        { session },
      )
      await sending.mails.insertMissing(toMails(records), session)
    },

    /** Starts the pushes and mails of records that a transaction stored. */
    beginSending: sending.begin,

    /**
     * Stores the notification unless its event already has one. Concurrent calls share a write.
     * @returns whether it was stored
     */
    insertOnce: (notification: NewNotification): Promise<boolean> => insertBatch(notification),

    /** The newest notifications of the user, newest first. */
    listOf: (userId: string, limit: number): Promise<Notification[]> =>
      collection().find({ userId, isListed: true }).sort(NEWEST_FIRST).limit(limit).toArray(),

    /** One page, newest first, with the total and the number of unread notifications. */
    async page(userId: string, { page, limit, isUnread }: ListPage): Promise<NotificationPage> {
      const options = { maxTimeMS: LIST_DEADLINE_MS }
      const [notifications, total, unread] = await Promise.all([
        collection()
          .find(toListFilter(userId, isUnread), options)
          .sort(NEWEST_FIRST)
          .skip((page - 1) * limit)
          .limit(limit)
          .toArray(),
        collection().countDocuments(toListFilter(userId, isUnread), options),
        collection().countDocuments(toListFilter(userId, true), options),
      ])
      return { notifications, total, unread }
    },

    /** One page of groups, ordered by their newest notifications. Covers the newest 2,000 notifications. */
    async pageOfGroups(userId: string, { page, limit, isUnread }: ListPage): Promise<GroupPage> {
      const options = { maxTimeMS: LIST_DEADLINE_MS }
      const [[found], unread] = await Promise.all([
        collection()
          .aggregate<{ groups: NotificationGroup[]; totals: { total: number }[] }>(
            [
              { $match: toListFilter(userId, isUnread) },
              { $sort: NEWEST_FIRST },
              { $limit: GROUPED_NOTIFICATIONS },
              {
                $group: {
                  _id: { $cond: [{ $eq: ['$reference.type', 'post'] }, { post: '$reference.id' }, '$_id'] },
                  newest: { $first: { at: '$createdAt', id: '$_id' } },
                  count: { $sum: 1 },
                  unread: { $sum: { $cond: ['$read', 0, 1] } },
                  types: { $addToSet: '$type' },
                  notifications: { $firstN: { n: LISTED_PER_GROUP, input: '$$ROOT' } },
                },
              },
              { $sort: { 'newest.at': -1, 'newest.id': -1 } },
              { $facet: { groups: [{ $skip: (page - 1) * limit }, { $limit: limit }], totals: [{ $count: 'total' }] } },
            ],
            options,
          )
          .toArray(),
        collection().countDocuments(toListFilter(userId, true), options),
      ])
      return { groups: found!.groups, total: found!.totals[0]?.total ?? 0, unread }
    },

    /**
     * Returns the notification, which is read now; null when the user has none with that id.
     * @param isGrouped also marks the others about the same post
     */
    async markRead(userId: string, id: string, { isGrouped = false } = {}): Promise<Notification | null> {
      const unread = { _id: id, userId, read: false }
      const updated = await collection().findOneAndUpdate(unread, { $set: toRead() }, { returnDocument: 'after' })
      const found = updated ?? (await collection().findOne({ _id: id, userId, isListed: true }))
      if (isGrouped && found?.reference.type === 'post') {
        const { type, id: postId } = found.reference
        const others = { userId, read: false, 'reference.type': type, 'reference.id': postId }
        await collection().updateMany(others, { $set: toRead() })
      }
      return found
    },

    /** Returns how many were unread. */
    async markAllRead(userId: string): Promise<number> {
      const { modifiedCount } = await collection().updateMany({ userId, read: false }, { $set: toRead() })
      return modifiedCount
    },

    /** All notifications, newest first, as a stream. */
    allOf: (userId: string): AsyncIterable<Notification> =>
      collection().find({ userId }).sort({ createdAt: -1, _id: -1 }),

    /** Removes notifications whose keys begin with a prefix, because their cause is gone. */
    async removeByKey(userId: string, prefix: string): Promise<void> {
      await collection().deleteMany({ userId, dedupeKey: { $gte: prefix, $lt: `${prefix}\uffff` } })
    },

    async removeAllOf(userId: string): Promise<void> {
      await collection().deleteMany({ userId })
    },
  }
}

function toListFilter(userId: string, isUnread: boolean) {
  return isUnread ? { userId, read: false } : { userId, isListed: true }
}

function toMails(records: NotificationRecord[]): Mail[] {
  return records.flatMap(({ mail }) => mail ?? [])
}

export type NotificationStore = ReturnType<typeof createNotificationStore>
