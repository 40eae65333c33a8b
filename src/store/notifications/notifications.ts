import mongoose, { Schema, type ClientSession, type Connection } from 'mongoose'
import { NOTIFICATION_TYPES, type NewNotification } from '../../domain/notifications/notifications.ts'
import { PUSH_STATES, type PushState } from '../../domain/notifications/push.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { driverCollection } from '../shared/native-collection.ts'
import { createBatches } from '../shared/batching.ts'
import { newId, schemaOptions } from '../shared/schema.ts'

export interface Notification extends NewNotification {
  _id: string
  read: boolean
  createdAt: Date
  /** Decided when it is stored; missing on records of earlier versions. */
  push?: {
    state: PushState
    /** Devices that have it. */
    servedDevices?: string[]
    /** Why it failed, for operators. */
    reason?: string
  }
}

interface NotificationPage {
  notifications: Notification[]
  total: number
  unread: number
}

const notificationSchema = new Schema<Notification>(
  {
    _id: { type: String, required: true },
    userId: { type: String, required: true },
    dedupeKey: { type: String, required: true },
    message: { type: String, required: true },
    type: { type: String, enum: NOTIFICATION_TYPES, required: true },
    reference: {
      type: { type: String, required: true },
      id: { type: String, required: true },
      model: { type: String, required: true },
    },
    options: { image: String, link: String },
    read: { type: Boolean, required: true },
    createdAt: { type: Date, required: true },
    push: {
      state: { type: String, enum: PUSH_STATES },
      servedDevices: { type: [String], default: undefined },
      reason: String,
    },
  },
  { ...schemaOptions, timestamps: false },
)

// guard: unique notification
notificationSchema.index({ dedupeKey: 1 }, { unique: true })
notificationSchema.index({ userId: 1, createdAt: -1, _id: -1 })
// Only what is unread: counting it, and marking it as read, looks at nothing else.
notificationSchema.index({ userId: 1 }, { partialFilterExpression: { read: false } })
// Only of those that no workflow has taken up: for the sweeper, and next to nothing for everybody else.
notificationSchema.index(
  { 'push.state': 1, createdAt: 1 },
  { partialFilterExpression: { 'push.state': 'waiting' satisfies PushState } },
)

const DUPLICATE_KEY = 11_000
const LIST_DEADLINE_MS = 5 * SECOND

/** What has to be known and done of push messages where notifications are stored. */
interface Pushing {
  /** Which of these users have a device. */
  ownersAmong(userIds: string[]): Promise<Set<string>>
  /** Takes up the pushes of notifications that are stored now. Neither waits nor throws. */
  begin(notifications: Notification[]): void
}

const NO_PUSH: Pushing = { ownersAmong: async () => new Set(), begin: () => undefined }

/** The stored notification list. */
export function createNotificationStore(connection: Connection, now: () => Date, pushing: Pushing = NO_PUSH) {
  const model = connection.model<Notification>('Notification', notificationSchema, 'notifications')

  const collection = driverCollection<Notification>(connection, 'notifications')

  const insertBatch = createBatches<boolean, NewNotification>(async (notifications, settle) => {
    const records = await recordsOf(notifications)
    const refused = new Set<number>()
    try {
      await collection().insertMany(records, { ordered: false })
    } catch (error) {
      if (!(error instanceof mongoose.mongo.MongoBulkWriteError)) throw error
      for (const { index, code } of [error.writeErrors].flat()) {
        if (code !== DUPLICATE_KEY) throw error
        refused.add(index)
      }
    }
    records.forEach((_, index) => settle(index, !refused.has(index)))
    stored(records.filter((_, index) => !refused.has(index)))
  })

  /** One look for all of them at who has devices. */
  async function recordsOf(notifications: NewNotification[]): Promise<Notification[]> {
    if (notifications.length === 0) return []
    const owners = await pushing.ownersAmong([...new Set(notifications.map(({ userId }) => userId))])
    return notifications.map((notification) => ({
      ...notification,
      _id: newId(),
      read: false,
      createdAt: now(),
      push: { state: owners.has(notification.userId) ? 'waiting' : 'none' },
    }))
  }

  function stored(records: Notification[]): void {
    pushing.begin(records.filter(({ push }) => push?.state === 'waiting'))
  }

  return {
    /** What is to be stored of them, for `insert`. */
    recordsOf,

    /** Inside a transaction; a notification that is already stored fails it. `stored` is to be called after it. */
    async insert(records: Notification[], session: ClientSession): Promise<void> {
      if (records.length > 0) await collection().insertMany(records, { session })
    },

    /** Takes up the pushes of what a transaction has stored. */
    stored,

    /** Stores the notification unless its event already has one; tells whether it did. Those that meet are stored together. */
    insertOnce: (notification: NewNotification): Promise<boolean> => insertBatch(notification),

    /** Newest first. */
    listOf: (userId: string, limit: number): Promise<Notification[]> =>
      model.find({ userId }).sort({ createdAt: -1, _id: -1 }).limit(limit).lean<Notification[]>().exec(),

    /** One page, newest first, with how many there are in all and how many of those are unread. */
    async page(userId: string, { page, limit }: { page: number; limit: number }): Promise<NotificationPage> {
      const options = { maxTimeMS: LIST_DEADLINE_MS }
      const [notifications, total, unread] = await Promise.all([
        collection()
          .find({ userId }, options)
          .sort({ createdAt: -1, _id: -1 })
          .skip((page - 1) * limit)
          .limit(limit)
          .toArray(),
        collection().countDocuments({ userId }, options),
        collection().countDocuments({ userId, read: false }, options),
      ])
      return { notifications, total, unread }
    },

    /** The notification as it is now; null when the user has none of that id. */
    markRead: (userId: string, id: string): Promise<Notification | null> =>
      collection().findOneAndUpdate({ _id: id, userId }, { $set: { read: true } }, { returnDocument: 'after' }),

    /** Tells how many were unread. */
    async markAllRead(userId: string): Promise<number> {
      const { modifiedCount } = await collection().updateMany({ userId, read: false }, { $set: { read: true } })
      return modifiedCount
    },

    /** Newest first, without ever holding all of them. */
    allOf: (userId: string): AsyncIterable<Notification> =>
      collection().find({ userId }).sort({ createdAt: -1, _id: -1 }),

    async removeAllOf(userId: string): Promise<void> {
      await collection().deleteMany({ userId })
    },
  }
}

export type NotificationStore = ReturnType<typeof createNotificationStore>
