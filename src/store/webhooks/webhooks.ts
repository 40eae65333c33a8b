import { Schema, type ClientSession, type Connection } from 'mongoose'
import { EVENT_TYPES } from '../../domain/events/events.ts'
import {
  DISABLED_REASONS,
  HEALTHY,
  MAX_WEBHOOKS,
  type DisabledReason,
  type Webhook,
  type WebhookHealth,
} from '../../domain/webhooks/webhooks.ts'
import { ALL_SHARDS } from '../shared/all-shards.ts'
import { anyOf } from '../shared/batching.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { nullable, required, schemaOptions, subdocumentOptions } from '../shared/schema.ts'

const WEBHOOKS = 'webhooks'

const healthSchema = new Schema<WebhookHealth>(
  {
    failures: required(Number),
    failingSince: nullable(Date),
    lastFailureAt: nullable(Date),
    lastSuccessAt: nullable(Date),
    pausedUntil: nullable(Date),
  },
  subdocumentOptions,
)

const webhookSchema = new Schema<Webhook>(
  {
    _id: required(String),
    userId: required(String),
    url: required(String),
    description: { type: String, default: '' },
    events: { type: [{ type: String, enum: EVENT_TYPES }], required: true },
    sealedSecret: required(String),
    oldSecret: nullable(new Schema({ sealed: required(String), validUntil: required(Date) }, subdocumentOptions)),
    isEnabled: required(Boolean),
    disabled: nullable(
      new Schema({ reason: { type: String, enum: DISABLED_REASONS }, at: required(Date) }, subdocumentOptions),
    ),
    cursor: required(Number),
    health: { type: healthSchema, required: true },
    wakeAt: nullable(Date),
    revision: required(Number),
    createdAt: required(Date),
  },
  schemaOptions,
)

webhookSchema.index({ userId: 1, createdAt: 1 })
// Only webhooks with work, for the sweeper.
webhookSchema.index({ wakeAt: 1 }, { partialFilterExpression: { wakeAt: { $type: 'date' } } })

/** The fields that their owner changes. */
export type WebhookChange = Partial<Pick<Webhook, 'url' | 'events' | 'description'>>

/** A webhook and its user. */
export interface WebhookRef {
  _id: string
  userId: string
}

/** A webhook whose workflow may have to be woken. */
export type WebhookPosition = Pick<Webhook, '_id' | 'userId' | 'cursor' | 'health'>

/** Stores the receivers of events. */
export function createWebhookStore(connection: Connection) {
  connection.model<Webhook>('Webhook', webhookSchema, WEBHOOKS)

  const collection = nativeCollection<Webhook>(connection, WEBHOOKS)

  return {
    /** Returns false when the user has the largest number of webhooks. Callers lock the user, so that concurrent calls are counted. */
    async insert(webhook: Webhook, session: ClientSession): Promise<boolean> {
      const count = await collection().countDocuments({ userId: webhook.userId }, { session })
      if (count >= MAX_WEBHOOKS) return false
      await collection().insertOne(webhook, { session })
      return true
    },

    find: (userId: string, id: string): Promise<Webhook | null> => collection().findOne({ _id: id, userId }),

    /** The webhooks of the user, oldest first. */
    listOf: (userId: string): Promise<Webhook[]> =>
      collection().find({ userId }).sort({ createdAt: 1, _id: 1 }).toArray(),

    /**
     * Changes the webhook. A changed URL starts with a clean health, because it is another receiver.
     * @param revisions the revisions to which the change applies; undefined for any
     * @returns null without such a webhook
     */
    change: (
      { _id, userId }: WebhookRef,
      change: WebhookChange,
      revisions: readonly number[] | undefined,
    ): Promise<Webhook | null> =>
      collection().findOneAndUpdate(
        { _id, userId, ...(revisions && { revision: { $in: [...revisions] } }) },
        { $set: { ...change, ...(change.url !== undefined && { health: HEALTHY }) }, $inc: { revision: 1 } },
        { returnDocument: 'after' },
      ),

    /** Enables a disabled webhook. It gets the events after `cursor`. */
    async enable({ _id, userId }: WebhookRef, cursor: number): Promise<void> {
      await collection().updateOne(
        { _id, userId, isEnabled: false },
        { $set: { isEnabled: true, disabled: null, cursor, health: HEALTHY }, $inc: { revision: 1 } },
      )
    },

    /** Returns false when the webhook is disabled already, or gone. */
    async disable({ _id, userId }: WebhookRef, reason: DisabledReason, at: Date, session: ClientSession) {
      const { matchedCount } = await collection().updateOne(
        { _id, userId, isEnabled: true },
        { $set: { isEnabled: false, disabled: { reason, at }, wakeAt: null }, $inc: { revision: 1 } },
        { session },
      )
      return matchedCount === 1
    },

    /** Replaces the signing secret, unless another rotation did so after it was read. */
    rotate: (
      { _id, userId, sealedSecret }: Pick<Webhook, '_id' | 'userId' | 'sealedSecret'>,
      next: Pick<Webhook, 'sealedSecret' | 'oldSecret'>,
    ): Promise<Webhook | null> =>
      collection().findOneAndUpdate({ _id, userId, sealedSecret }, { $set: next }, { returnDocument: 'after' }),

    /** Moves the cursor forward in the caller's transaction, unless it was moved, or the webhook disabled, since it was read. */
    async advance({ _id, userId, cursor }: WebhookPosition, to: number, session: ClientSession): Promise<boolean> {
      const { matchedCount } = await collection().updateOne(
        { _id, userId, cursor, isEnabled: true },
        { $set: { cursor: to } },
        { session },
      )
      return matchedCount === 1
    },

    /** Moves the cursor back to a sequence, so that the events after it are delivered again. Returns false for a disabled webhook. */
    async rewind({ _id, userId }: WebhookRef, to: number, wakeAt: Date): Promise<boolean> {
      const { matchedCount } = await collection().updateOne(
        { _id, userId, isEnabled: true },
        { $min: { cursor: to }, $set: { wakeAt } },
      )
      return matchedCount === 1
    },

    async setHealth({ _id, userId }: WebhookRef, health: WebhookHealth): Promise<void> {
      await collection().updateOne({ _id, userId, isEnabled: true }, { $set: { health } })
    },

    /** Sets when the workflow has work. With `expected`, only if no other request has set it meanwhile. */
    async setWakeAt({ _id, userId }: WebhookRef, wakeAt: Date | null, expected?: Date): Promise<void> {
      const filter = { _id, userId, isEnabled: true, ...(expected && { wakeAt: expected }) }
      await collection().updateOne(filter, { $set: { wakeAt } })
    },

    /** The enabled webhooks of these users. */
    listEnabledOf: (userIds: readonly string[]): Promise<WebhookRef[]> =>
      collection()
        .find({ userId: anyOf([...userIds]), isEnabled: true }, { projection: { userId: 1 } })
        .toArray(),

    /** Webhooks whose work was due before this time, the oldest first, for the sweeper. */
    listOverdue: (before: Date, limit: number): Promise<WebhookRef[]> =>
      collection()
        .find({ wakeAt: { $lte: before } }, { projection: { userId: 1 }, ...ALL_SHARDS })
        .sort({ wakeAt: 1 })
        .limit(limit)
        .toArray(),

    /** A page of enabled webhooks in the order of their ids, for the sweeper. */
    listPositions: (afterId: string, limit: number): Promise<WebhookPosition[]> =>
      collection()
        .find(
          { _id: { $gt: afterId }, isEnabled: true },
          { projection: { userId: 1, cursor: 1, health: 1 }, ...ALL_SHARDS },
        )
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),

    /** Returns false when the user has no such webhook. */
    async remove(userId: string, id: string): Promise<boolean> {
      const { deletedCount } = await collection().deleteOne({ _id: id, userId })
      return deletedCount === 1
    },

    async removeAllOf(userId: string): Promise<void> {
      await collection().deleteMany({ userId })
    },
  }
}
