import { Schema, type ClientSession, type Connection } from 'mongoose'
import {
  DELIVERY_STATES,
  LOG_LIFE_MS,
  LOGGED_ATTEMPTS,
  toOrderKey,
  type DeliveredEvent,
  type DeliveryAttempt,
  type DeliveryState,
  type PendingDelivery,
  type WebhookDelivery,
} from '../../domain/webhooks/deliveries.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { newId, nullable, required, schemaOptions, subdocumentOptions } from '../shared/schema.ts'
import type { WebhookRef } from './webhooks.ts'

export const WEBHOOK_DELIVERIES = 'webhookDeliveries'

const eventSchema = new Schema<DeliveredEvent>(
  {
    id: required(String),
    sequence: required(Number),
    type: required(String),
    occurredAt: required(Date),
    data: required(Schema.Types.Mixed),
  },
  subdocumentOptions,
)

const attemptSchema = new Schema<DeliveryAttempt>(
  {
    at: required(Date),
    durationMs: required(Number),
    status: nullable(Number),
    error: nullable(String),
    response: nullable(String),
  },
  subdocumentOptions,
)

const deliverySchema = new Schema<WebhookDelivery>(
  {
    _id: required(String),
    userId: required(String),
    webhookId: required(String),
    event: { type: eventSchema, required: true },
    orderKey: required(String),
    state: { type: String, enum: DELIVERY_STATES, required: true },
    attemptCount: required(Number),
    attempts: { type: [attemptSchema], required: true },
    firstAttemptAt: nullable(Date),
    nextAttemptAt: required(Date),
    createdAt: required(Date),
    removeAt: required(Date),
  },
  schemaOptions,
)

// An event has one delivery per webhook, so that it arrives with one id.
deliverySchema.index({ userId: 1, webhookId: 1, 'event.id': 1 }, { unique: true })
deliverySchema.index({ userId: 1, webhookId: 1, createdAt: -1, _id: -1 })
deliverySchema.index(
  { userId: 1, webhookId: 1, 'event.sequence': 1 },
  { partialFilterExpression: { state: 'pending' satisfies DeliveryState } },
)
deliverySchema.index({ removeAt: 1 }, { expireAfterSeconds: 0 })

const LIST_DEADLINE_MS = 5 * SECOND

interface ListQuery {
  page: number
  limit: number
  state?: DeliveryState | undefined
}

/** The result of an attempt. */
export interface AttemptResult {
  attempt: DeliveryAttempt
  state: DeliveryState
  firstAttemptAt: Date
  nextAttemptAt: Date
}

/** Stores the deliveries of events to webhooks. They are the queue of a webhook's workflow, and the log that its owner reads. */
export function createWebhookDeliveryStore(connection: Connection) {
  connection.model<WebhookDelivery>('WebhookDelivery', deliverySchema, WEBHOOK_DELIVERIES)

  const collection = nativeCollection<WebhookDelivery>(connection, WEBHOOK_DELIVERIES)

  /** The fields of a delivery that is requested now, for the first time or again. */
  const toPending = (now: Date) => ({
    state: 'pending' as const,
    attemptCount: 0,
    firstAttemptAt: null,
    nextAttemptAt: now,
    removeAt: new Date(now.getTime() + LOG_LIFE_MS),
  })

  return {
    /** Requests the delivery of events in the caller's transaction. Events that were delivered before are delivered again. */
    async request(
      { _id: webhookId, userId }: WebhookRef,
      events: readonly DeliveredEvent[],
      now: Date,
      session?: ClientSession,
    ): Promise<void> {
      if (events.length === 0) return
      const writes = events.map((event) => ({
        updateOne: {
          filter: { userId, webhookId, 'event.id': event.id },
          update: {
            $setOnInsert: {
              _id: newId(),
              'event.sequence': event.sequence,
              'event.type': event.type,
              'event.occurredAt': event.occurredAt,
              'event.data': event.data,
              orderKey: toOrderKey(event),
              attempts: [],
              createdAt: now,
            },
            $set: toPending(now),
          },
          upsert: true,
        },
      }))
      await collection().bulkWrite(writes, { ...(session && { session }) })
    },

    /** Requests a delivery again. Returns null when the webhook has no such delivery. */
    requestAgain: ({ _id: webhookId, userId }: WebhookRef, id: string, now: Date): Promise<WebhookDelivery | null> =>
      collection().findOneAndUpdate(
        { _id: id, userId, webhookId },
        { $set: toPending(now) },
        { returnDocument: 'after' },
      ),

    find: ({ _id: webhookId, userId }: WebhookRef, id: string): Promise<WebhookDelivery | null> =>
      collection().findOne({ _id: id, userId, webhookId }),

    findByEvent: ({ _id: webhookId, userId }: WebhookRef, eventId: string): Promise<WebhookDelivery | null> =>
      collection().findOne({ userId, webhookId, 'event.id': eventId }),

    /** The pending deliveries of a webhook in the order of their events. */
    listPending: ({ _id: webhookId, userId }: WebhookRef): Promise<PendingDelivery[]> =>
      collection()
        .find(
          { userId, webhookId, state: 'pending' },
          { projection: { orderKey: 1, firstAttemptAt: 1, nextAttemptAt: 1 } },
        )
        .sort({ 'event.sequence': 1 })
        .toArray(),

    /** Records an attempt. A success is a fact; a failure changes only a delivery that is still pending. */
    async recordAttempt(
      { _id, userId }: Pick<WebhookDelivery, '_id' | 'userId'>,
      { attempt, ...fields }: AttemptResult,
    ): Promise<void> {
      const isDelivered = fields.state === 'delivered'
      await collection().updateOne(
        { _id, userId, ...(!isDelivered && { state: 'pending' as const }) },
        {
          $set: fields,
          $inc: { attemptCount: 1 },
          $push: { attempts: { $each: [attempt], $slice: -LOGGED_ATTEMPTS } },
        },
      )
    },

    /** Ends the pending deliveries of a webhook, because it was disabled. */
    async failPending({ _id: webhookId, userId }: WebhookRef, session: ClientSession): Promise<void> {
      await collection().updateMany({ userId, webhookId, state: 'pending' }, { $set: { state: 'failed' } }, { session })
    },

    /** One page of the log, newest first, with the total. */
    async page({ _id: webhookId, userId }: WebhookRef, { page, limit, state }: ListQuery) {
      const filter = { userId, webhookId, ...(state && { state }) }
      const options = { maxTimeMS: LIST_DEADLINE_MS }
      const [deliveries, total] = await Promise.all([
        collection()
          .find(filter, options)
          .sort({ createdAt: -1, _id: -1 })
          .skip((page - 1) * limit)
          .limit(limit)
          .toArray(),
        collection().countDocuments(filter, options),
      ])
      return { deliveries, total }
    },

    /** All deliveries of the user, as a stream. */
    allOf: (userId: string): AsyncIterable<WebhookDelivery> => collection().find({ userId }),

    async removeOf({ _id: webhookId, userId }: WebhookRef): Promise<void> {
      await collection().deleteMany({ userId, webhookId })
    },

    async removeAllOf(userId: string): Promise<void> {
      await collection().deleteMany({ userId })
    },
  }
}
