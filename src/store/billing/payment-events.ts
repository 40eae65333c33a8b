import { Schema, type ClientSession, type Connection } from 'mongoose'
import { PROCESSOR_STATES, type ProcessorInvoice, type ProcessorSubscription } from '../../domain/billing/billing.ts'
import type { PaymentEvent } from '../../domain/billing/payment-events.ts'
import { DAY, SECOND } from '../../domain/shared/times.ts'
import { isDuplicateKey } from '../mongo-errors.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { nullable, required, schemaOptions, subdocumentOptions } from '../shared/schema.ts'

/** Longer than the period in which the processor resends an event, by itself or on request. */
const RETENTION_MS = 90 * DAY

/** A stored payment event. It is done when its state is no longer `waiting`. */
export interface StoredPaymentEvent extends Omit<PaymentEvent, 'id'> {
  _id: string
  receivedAt: Date
  state: 'waiting' | 'applied' | 'ignored'
  processedAt: Date | null
  /** The workflow's lease ends then; null when no workflow of its own was started. */
  leasedUntil: Date | null
}

const invoiceSchema = new Schema<ProcessorInvoice>(
  {
    id: required(String),
    subscriptionId: nullable(String),
    customerId: nullable(String),
    isFirst: required(Boolean),
    isPaid: required(Boolean),
  },
  subdocumentOptions,
)

const subscriptionSchema = new Schema<ProcessorSubscription>(
  {
    id: required(String),
    customerId: required(String),
    userId: nullable(String),
    state: { type: String, enum: PROCESSOR_STATES, required: true },
    createdAt: required(Date),
    currentPeriodStart: nullable(Date),
    currentPeriodEnd: nullable(Date),
    cancelAtPeriodEnd: nullable(Boolean),
    latestInvoice: nullable(invoiceSchema),
  },
  subdocumentOptions,
)

const paymentEventSchema = new Schema<StoredPaymentEvent>(
  {
    _id: required(String),
    type: required(String),
    createdAt: required(Date),
    userId: nullable(String),
    customerId: nullable(String),
    subscriptionId: nullable(String),
    invoiceId: nullable(String),
    payloadSubscription: nullable(subscriptionSchema),
    payloadInvoice: nullable(invoiceSchema),
    receivedAt: required(Date),
    state: { type: String, enum: ['waiting', 'applied', 'ignored'], required: true },
    processedAt: nullable(Date),
    leasedUntil: nullable(Date),
  },
  schemaOptions,
)

paymentEventSchema.index({ receivedAt: 1 }, { expireAfterSeconds: RETENTION_MS / SECOND })
paymentEventSchema.index({ receivedAt: 1, _id: 1 }, { partialFilterExpression: { state: 'waiting' } })
paymentEventSchema.index({ userId: 1, createdAt: 1 })

export function createPaymentEventStore(connection: Connection) {
  connection.model<StoredPaymentEvent>('PaymentEvent', paymentEventSchema, 'paymentEvents')

  const collection = nativeCollection<StoredPaymentEvent>(connection, 'paymentEvents')

  return {
    /** Stores a new event, and returns the state of the stored one. */
    async insertOrRead({ id, ...event }: PaymentEvent, receivedAt: Date): Promise<StoredPaymentEvent['state']> {
      try {
        const waiting = { state: 'waiting', processedAt: null, leasedUntil: null } as const
        await collection().insertOne({ ...event, _id: id, receivedAt, ...waiting })
      } catch (error) {
        if (!isDuplicateKey(error)) throw error
      }
      const stored = await collection().findOne({ _id: id }, { projection: { state: 1 } })
      return stored?.state ?? 'waiting'
    },

    find: (id: string): Promise<StoredPaymentEvent | null> => collection().findOne({ _id: id }),

    /** Returns the event if it still waits, leased until then. */
    lease: (id: string, leasedUntil: Date): Promise<StoredPaymentEvent | null> =>
      collection().findOneAndUpdate(
        { _id: id, state: 'waiting' },
        { $set: { leasedUntil } },
        { returnDocument: 'after' },
      ),

    /** Sets the user of a waiting event. */
    async setUser(id: string, userId: string): Promise<void> {
      await collection().updateOne({ _id: id, state: 'waiting' }, { $set: { userId } })
    },

    /** Marks the event processed and deletes its payload. An ignored event also loses its user. */
    async markProcessed(id: string, state: 'applied' | 'ignored', at: Date, session?: ClientSession): Promise<void> {
      const forgotten = {
        payloadSubscription: null,
        payloadInvoice: null,
        ...(state === 'ignored' && { userId: null }),
      }
      await collection().updateOne(
        { _id: id, state: 'waiting' },
        { $set: { state, processedAt: at, ...forgotten } },
        { ...(session && { session }) },
      )
    },

    /** Waiting events without a lease, oldest first, for the sweeper. The event id replaces an unknown user id. */
    async listUnapplied(before: Date, limit: number): Promise<{ id: string; userId: string }[]> {
      const waiting = await collection()
        .find(
          { state: 'waiting', receivedAt: { $lte: before }, leasedUntil: { $not: { $gt: before } } },
          { projection: { userId: 1 } },
        )
        .sort({ receivedAt: 1, _id: 1 })
        .limit(limit)
        .toArray()
      return waiting.map(({ _id, userId }) => ({ id: _id, userId: userId ?? _id }))
    },

    /** All events of the user, oldest first, as a stream. */
    allOf: (userId: string): AsyncIterable<StoredPaymentEvent> =>
      collection().find({ userId }, { sort: { createdAt: 1 } }),

    async removeAllOf(userId: string): Promise<void> {
      await collection().deleteMany({ userId })
    },
  }
}

export type PaymentEventStore = ReturnType<typeof createPaymentEventStore>
