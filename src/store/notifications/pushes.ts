import type { Connection } from 'mongoose'
import type { PushState } from '../../domain/notifications/push.ts'
import { ALL_SHARDS } from '../shared/all-shards.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { anyOf, batcher } from '../shared/batching.ts'
import type { Notification } from './notifications.ts'

type PushedNotification = Pick<Notification, '_id' | 'userId'>

/** Stores the progress of pushes on their notifications. */
export function createPushStore(connection: Connection) {
  const collection = nativeCollection<Notification>(connection, 'notifications')

  return {
    find: (notificationId: string, userId: string): Promise<Notification | null> =>
      collection().findOne({ _id: notificationId, userId }),

    /** Records that a workflow has started. */
    acknowledge: batcher<void, PushedNotification>(async (pushed, settle) => {
      await collection().updateMany(
        {
          _id: { $in: pushed.map(({ _id }) => _id) },
          userId: anyOf(pushed.map(({ userId }) => userId)),
          'push.state': 'waiting',
        },
        { $set: { 'push.state': 'started' satisfies PushState } },
      )
      pushed.forEach((_, index) => settle(index, undefined))
    }),

    /** Records a delivered device, so that no later attempt sends there again. */
    async addServedDevice({ _id, userId }: PushedNotification, deviceId: string): Promise<void> {
      await collection().updateOne({ _id, userId }, { $addToSet: { 'push.servedDevices': deviceId } })
    },

    /** Records the final state. `reason` is for operators. */
    async finish({ _id, userId }: PushedNotification, state: PushState, reason?: string): Promise<void> {
      await collection().updateOne(
        { _id, userId },
        { $set: { 'push.state': state, ...(reason !== undefined && { 'push.reason': reason }) } },
      )
    },

    /** Pushes that no workflow has started, oldest first, for the sweeper. */
    async listUnstarted(before: Date, limit: number): Promise<{ id: string; userId: string }[]> {
      const waiting = await collection()
        .find({ 'push.state': 'waiting', createdAt: { $lte: before } }, { projection: { userId: 1 }, ...ALL_SHARDS })
        .sort({ createdAt: 1 })
        .limit(limit)
        .toArray()
      return waiting.map(({ _id, userId }) => ({ id: _id, userId }))
    },
  }
}

export type PushStore = ReturnType<typeof createPushStore>
