import mongoose, { Schema, type ClientSession, type Connection } from 'mongoose'
import type { NewNotification } from '../domain/notifications.ts'
import { driverCollection } from './driver.ts'
import { createBatches } from './line.ts'
import { newId, schemaOptions } from './schema-options.ts'

export interface Notification extends NewNotification {
  _id: string
  read: boolean
  createdAt: Date
}

const notificationSchema = new Schema<Notification>(
  {
    _id: { type: String, required: true },
    userId: { type: String, required: true },
    dedupeKey: { type: String, required: true },
    message: { type: String, required: true },
    type: { type: String, enum: ['success', 'error', 'info', 'warning'], required: true },
    reference: {
      type: { type: String, required: true },
      id: { type: String, required: true },
      model: { type: String, required: true },
    },
    options: { image: String, link: String },
    read: { type: Boolean, required: true },
    createdAt: { type: Date, required: true },
  },
  { ...schemaOptions, timestamps: false },
)

notificationSchema.index({ dedupeKey: 1 }, { unique: true })
notificationSchema.index({ userId: 1, createdAt: -1, _id: -1 })

const DUPLICATE_KEY = 11_000

/** The stored notification list. */
export function createNotificationStore(connection: Connection, now: () => Date) {
  const model = connection.model<Notification>('Notification', notificationSchema, 'notifications')

  const collection = driverCollection<Notification>(connection, 'notifications')

  const insertBatch = createBatches<boolean, NewNotification>(async (notifications, settle) => {
    const records = notifications.map((notification) => record(notification, now()))
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
  })

  return {
    /** Inside a transaction; a notification that is already stored fails it. */
    async insert(notifications: NewNotification[], session: ClientSession): Promise<void> {
      if (notifications.length === 0) return
      const records = notifications.map((notification) => record(notification, now()))
      await collection().insertMany(records, { session })
    },

    /** Stores the notification unless its event already has one; tells whether it did. Those that meet are stored together. */
    insertOnce: (notification: NewNotification): Promise<boolean> => insertBatch(notification),

    /** Newest first. */
    listOf: (userId: string, limit: number): Promise<Notification[]> =>
      model.find({ userId }).sort({ createdAt: -1, _id: -1 }).limit(limit).lean<Notification[]>().exec(),
  }
}

export type NotificationStore = ReturnType<typeof createNotificationStore>

function record(notification: NewNotification, createdAt: Date): Notification {
  return { ...notification, _id: newId(), read: false, createdAt }
}
