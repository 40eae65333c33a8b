import { Schema, type ClientSession, type Connection } from 'mongoose'
import type { NewNotification } from '../domain/notifications.ts'
import { isDuplicateKey } from './database.ts'
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

/** The stored notification list. */
export function createNotificationStore(connection: Connection, now: () => Date) {
  const model = connection.model<Notification>('Notification', notificationSchema, 'notifications')

  return {
    /** Inside a transaction; a notification that is already stored fails it. */
    async insert(notification: NewNotification, session: ClientSession): Promise<void> {
      await model.insertMany([record(notification, now())], { session, lean: true })
    },

    /** Stores the notification unless its event already has one; tells whether it did. */
    async insertOnce(notification: NewNotification): Promise<boolean> {
      try {
        await model.insertMany([record(notification, now())], { lean: true })
        return true
      } catch (error) {
        if (isDuplicateKey(error)) return false
        throw error
      }
    },

    /** Newest first. */
    listOf: (userId: string, limit: number): Promise<Notification[]> =>
      model.find({ userId }).sort({ createdAt: -1, _id: -1 }).limit(limit).lean<Notification[]>().exec(),
  }
}

export type NotificationStore = ReturnType<typeof createNotificationStore>

function record(notification: NewNotification, createdAt: Date): Notification {
  return { ...notification, _id: newId(), read: false, createdAt }
}
