import { Schema, type ClientSession, type Connection } from 'mongoose'
import { NOTIFICATION_TYPES, type NewNotification } from '../../domain/notifications/notifications.ts'
import { PUSH_STATES, type PushState } from '../../domain/notifications/push.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { insertMissing } from '../shared/insert-missing.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { batcher } from '../shared/batching.ts'
import { newId, required, schemaOptions } from '../shared/schema.ts'

export interface Notification extends NewNotification {
  _id: string
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

interface NotificationPage {
  notifications: Notification[]
  total: number
  unread: number
}

const notificationSchema = new Schema<Notification>(
  {
    _id: required(String),
    userId: required(String),
    dedupeKey: required(String),
    message: required(String),
    type: { type: String, enum: NOTIFICATION_TYPES, required: true },
    reference: {
      type: required(String),
      id: required(String),
      model: required(String),
    },
    options: { image: String, link: String },
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
notificationSchema.index({ userId: 1, createdAt: -1, _id: -1 })
// Only unread notifications: counting and marking them reads nothing else.
notificationSchema.index({ userId: 1 }, { partialFilterExpression: { read: false } })
// Only pushes that no workflow has started, for the sweeper.
notificationSchema.index(
  { 'push.state': 1, createdAt: 1 },
  { partialFilterExpression: { 'push.state': 'waiting' satisfies PushState } },
)
notificationSchema.index({ removeAt: 1 }, { expireAfterSeconds: 0 })

const LIST_DEADLINE_MS = 5 * SECOND

/** The push functions that the notification store needs. */
interface Pushing {
  /** Returns which of these users have a device. */
  findDeviceOwners(userIds: string[]): Promise<Set<string>>
  /** Starts the pushes of stored notifications. Neither waits nor throws. */
  begin(notifications: Notification[]): void
}

const NO_PUSH: Pushing = { findDeviceOwners: async () => new Set(), begin: () => undefined }

interface NotificationStoreOptions {
  pushing?: Pushing
  /** How long notifications are stored after they were read; without it, forever. */
  readRetentionMs?: number
}

/** Stores notifications. */
export function createNotificationStore(
  connection: Connection,
  now: () => Date,
  { pushing = NO_PUSH, readRetentionMs }: NotificationStoreOptions = {},
) {
  const model = connection.model<Notification>('Notification', notificationSchema, 'notifications')

  const collection = nativeCollection<Notification>(connection, 'notifications')

  const insertBatch = batcher<boolean, NewNotification>(async (notifications, settle) => {
    const records = await toRecords(notifications)
    const refused = await insertMissing(collection(), records)
    records.forEach((_, index) => settle(index, !refused.has(index)))
    startPushes(records.filter((_, index) => !refused.has(index)))
  })

  /** Builds records with one lookup of all users' devices. */
  async function toRecords(notifications: NewNotification[]): Promise<Notification[]> {
    if (notifications.length === 0) return []
    const owners = await pushing.findDeviceOwners([...new Set(notifications.map(({ userId }) => userId))])
    return notifications.map((notification) => ({
      ...notification,
      _id: newId(),
      read: false,
      createdAt: now(),
      push: { state: owners.has(notification.userId) ? 'waiting' : 'none' },
    }))
  }

  function startPushes(records: Notification[]): void {
    pushing.begin(records.filter(({ push }) => push.state === 'waiting'))
  }

  /** The fields of a notification that is read now. */
  const toRead = () => ({
    read: true,
    ...(readRetentionMs !== undefined && { removeAt: new Date(now().getTime() + readRetentionMs) }),
  })

  return {
    /** Builds the records for `insert`. */
    toRecords,

    /** Inserts in a transaction, which fails when a notification is already stored. Call `startPushes` after it. */
    async insert(records: Notification[], session: ClientSession): Promise<void> {
      if (records.length > 0) await collection().insertMany(records, { session })
    },

    /** Starts the pushes of records that a transaction stored. */
    startPushes,

    /**
     * Stores the notification unless its event already has one. Concurrent calls share a write.
     * @returns whether it was stored
     */
    insertOnce: (notification: NewNotification): Promise<boolean> => insertBatch(notification),

    /** The newest notifications of the user, newest first. */
    listOf: (userId: string, limit: number): Promise<Notification[]> =>
      model.find({ userId }).sort({ createdAt: -1, _id: -1 }).limit(limit).lean<Notification[]>().exec(),

    /** One page, newest first, with the total and the number of unread notifications. */
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

    /** Returns the notification, which is read now; null when the user has none with that id. */
    async markRead(userId: string, id: string): Promise<Notification | null> {
      const unread = { _id: id, userId, read: false }
      const updated = await collection().findOneAndUpdate(unread, { $set: toRead() }, { returnDocument: 'after' })
      return updated ?? collection().findOne({ _id: id, userId })
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

export type NotificationStore = ReturnType<typeof createNotificationStore>
