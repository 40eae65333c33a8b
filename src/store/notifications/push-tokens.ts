import { Schema, type Connection } from 'mongoose'
import { PUSH_PLATFORMS, type PushPlatform } from '../../domain/notifications/push.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { anyOf } from '../shared/batching.ts'
import { required, schemaOptions } from '../shared/schema.ts'

/** Maximum number of devices per user. Registering another one removes the device that was unused for the longest time. */
const MAX_DEVICES = 20

/** A device that gets push messages. */
export interface PushDevice {
  /** Hash of the token: a token is stored once and found without being stored in plain text. */
  _id: string
  userId: string
  platform: PushPlatform
  /** The token, sealed for this user. */
  sealedToken: string
  createdAt: Date
  /** When its owner last registered it. */
  lastSeen: Date
}

const pushDeviceSchema = new Schema<PushDevice>(
  {
    _id: required(String),
    userId: required(String),
    platform: { type: String, enum: PUSH_PLATFORMS, required: true },
    sealedToken: required(String),
    createdAt: required(Date),
    lastSeen: required(Date),
  },
  schemaOptions,
)

// Covers the lookup of users with devices.
pushDeviceSchema.index({ userId: 1, lastSeen: -1 })

/** Stores which devices belong to which user. */
export function createPushTokenStore(connection: Connection, now: () => Date) {
  connection.model<PushDevice>('PushDevice', pushDeviceSchema, 'pushDevices')
  const collection = nativeCollection<PushDevice>(connection, 'pushDevices')

  const listOf = (userId: string): Promise<PushDevice[]> =>
    collection().find({ userId }).sort({ lastSeen: -1, _id: 1 }).toArray()

  return {
    listOf,

    /** Registers the device for this user, also when it belonged to another one. */
    async register(device: Pick<PushDevice, '_id' | 'userId' | 'platform' | 'sealedToken'>): Promise<void> {
      const { _id, ...owned } = device
      const at = now()
      const createdAt = { $cond: [{ $eq: ['$userId', owned.userId] }, '$createdAt', at] }
      await collection().updateOne({ _id }, [{ $set: { ...owned, lastSeen: at, createdAt } }], { upsert: true })
      const surplus = (await listOf(owned.userId)).slice(MAX_DEVICES).map((old) => old._id)
      if (surplus.length > 0) await collection().deleteMany({ _id: { $in: surplus }, userId: owned.userId })
    },

    /** Returns false when this user has no such device. */
    async remove(userId: string, id: string): Promise<boolean> {
      const { deletedCount } = await collection().deleteOne({ _id: id, userId })
      return deletedCount === 1
    },

    /** Removes a dead device, unless it was registered again meanwhile. */
    async removeUnlessRenewed({ _id, userId, lastSeen }: PushDevice): Promise<void> {
      await collection().deleteOne({ _id, userId, lastSeen })
    },

    /** Returns which of these users have a device, from the index alone. */
    async findDeviceOwners(userIds: string[]): Promise<Set<string>> {
      return new Set(await collection().distinct('userId', { userId: anyOf(userIds) }))
    },

    async removeAllOf(userId: string): Promise<void> {
      await collection().deleteMany({ userId })
    },
  }
}

export type PushTokenStore = ReturnType<typeof createPushTokenStore>
