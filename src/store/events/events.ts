import mongoose, { Schema, type ClientSession, type Connection } from 'mongoose'
import { EVENT_TYPES, type EventType, type NewEvent, type UserEvent } from '../../domain/events/events.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { isDuplicateKey } from '../mongo-errors.ts'
import { anyOf } from '../shared/batching.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { required, schemaOptions } from '../shared/schema.ts'

interface EventRecord extends Omit<UserEvent, 'id'> {
  _id: string
  /** When the event leaves the feed. Never earlier than that of the event before it. */
  expiresAt: Date
}

/**
 * The record with sequence 0: the last sequence of the user. It is in the collection of the events, and so on their shard, because a reader
 * that sees it has to see the events up to it.
 */
interface HeadRecord {
  _id: string
  userId: string
  sequence: 0
  latest: number
  lastExpiresAt: Date
}

export interface EventQuery {
  /** The sequence after which the page begins. */
  after: number
  /** All types by default. */
  types?: readonly EventType[] | undefined
  limit: number
}

export interface EventPage {
  events: UserEvent[]
  /** The sequence up to which the page is complete for these types. The next page begins after it. */
  examinedTo: number
  /** The last sequence of the user; 0 before the first event. */
  latest: number
}

const eventSchema = new Schema<EventRecord & HeadRecord>(
  {
    _id: required(String),
    userId: required(String),
    sequence: required(Number),
    type: { type: String, enum: EVENT_TYPES },
    occurredAt: Date,
    data: Schema.Types.Mixed,
    expiresAt: Date,
    latest: Number,
    lastExpiresAt: Date,
  },
  schemaOptions,
)

// guard: unique sequence
eventSchema.index({ userId: 1, sequence: 1 }, { unique: true })
eventSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })

const LIST_DEADLINE_MS = 5 * SECOND
/** Bounds the work of a page of rare types. */
const MAX_EXAMINED = 10_000

type AppendedListener = (userIds: readonly string[]) => void

/** Stores the events of users, each with the next sequence of its user. */
export function createEventStore(connection: Connection, now: () => Date, { retentionMs }: { retentionMs: number }) {
  connection.model('Event', eventSchema, 'events')
  const collection = nativeCollection<EventRecord>(connection, 'events')
  const heads = nativeCollection<HeadRecord>(connection, 'events')
  const listeners = new Set<AppendedListener>()

  /**
   * Appends events of several users in the caller's transaction, in order, without those that are stored already. Readers see a sequence
   * only together with all sequences before it.
   * @param options.areNew saves the search for stored events
   * @throws a duplicate key error when `areNew` and one is stored
   */
  async function appendAll(
    byUser: ReadonlyMap<string, readonly NewEvent[]>,
    session: ClientSession,
    { areNew = false } = {},
  ): Promise<void> {
    const missing = areNew ? byUser : await withoutStored(byUser, session)
    if (missing.size === 0) return
    const latest = await takeSequences(missing, session)
    const records = [...missing].flatMap(([userId, events]) => {
      const head = latest.get(userId)!
      const first = head.latest - events.length + 1
      return events.map(({ id, type, occurredAt, data }, index): EventRecord => {
        return { _id: id, userId, sequence: first + index, type, occurredAt, data, expiresAt: head.lastExpiresAt }
      })
    })
    await collection().insertMany(records, { session })
  }

  // guard: event stored once
  async function withoutStored(byUser: ReadonlyMap<string, readonly NewEvent[]>, session: ClientSession) {
    const ids = [...byUser.values()].flat().map(({ id }) => id)
    const filter = { userId: anyOf([...byUser.keys()]), _id: anyOf(ids) }
    const stored = await collection()
      .find(filter, { projection: { _id: 1 }, session })
      .toArray()
    const known = new Set(stored.map(({ _id }) => _id))
    const isMissing = ({ id }: NewEvent) => !known.has(id) && known.add(id)
    const missing = [...byUser].map(([userId, events]) => [userId, events.filter(isMissing)] as const)
    return new Map(missing.filter(([, events]) => events.length > 0))
  }

  /** Moves the heads of the users on, which makes concurrent appends for a user conflict. Returns the new heads. */
  async function takeSequences(byUser: ReadonlyMap<string, readonly NewEvent[]>, session: ClientSession) {
    const expiresAt = new Date(now().getTime() + retentionMs)
    const moves = [...byUser].map(([userId, { length }]) => ({
      updateOne: {
        filter: { _id: toHeadId(userId), userId },
        update: {
          $setOnInsert: { sequence: 0 as const },
          $inc: { latest: length },
          // Clocks of processes differ, and the retention may be reduced. Events still leave the feed in their order.
          $max: { lastExpiresAt: expiresAt },
        },
        upsert: true,
      },
    }))
    try {
      await heads().bulkWrite(moves, { session })
    } catch (error) {
      // Another transaction has created the head meanwhile, and the next try of this one finds it.
      if (isDuplicateKey(error) && error instanceof mongoose.mongo.MongoError) {
        error.addErrorLabel(mongoose.mongo.MongoErrorLabel.TransientTransactionError)
      }
      throw error
    }
    const ids = [...byUser.keys()].map(toHeadId)
    const moved = await heads()
      .find({ _id: anyOf(ids), userId: anyOf([...byUser.keys()]) }, { session })
      .toArray()
    return new Map(moved.map((head) => [head.userId, head]))
  }

  async function latestSequence(userId: string): Promise<number> {
    const head = await heads().findOne({ _id: toHeadId(userId), userId }, { maxTimeMS: LIST_DEADLINE_MS })
    return head?.latest ?? 0
  }

  async function page(userId: string, { after, types, limit }: EventQuery): Promise<EventPage> {
    // Read first: every event up to it is then visible.
    const latest = await latestSequence(userId)
    const until = Math.min(latest, after + MAX_EXAMINED)
    const records = await collection()
      .find(
        { ...toReadable(userId, { $gt: after, $lte: until }), ...(types && { type: { $in: [...types] } }) },
        { maxTimeMS: LIST_DEADLINE_MS },
      )
      .sort({ sequence: 1 })
      .limit(limit)
      .toArray()
    const events = records.map(toUserEvent)
    const examinedTo = events.length === limit ? events.at(-1)!.sequence : Math.max(after, until)
    return { events, examinedTo, latest }
  }

  /** Selects events that have not expired; the database removes the others up to a minute later. */
  const toReadable = (userId: string, sequence: { $gt: number; $lte?: number }) => ({
    userId,
    sequence,
    expiresAt: { $gt: now() },
  })

  return {
    /** Appends events of a user in the caller's transaction. Call `announce` once it is committed. */
    append: (userId: string, events: readonly NewEvent[], session: ClientSession): Promise<void> =>
      appendAll(new Map([[userId, events]]), session),

    appendAll,

    /** Informs this process that events of these users are stored. A process that ends before it informs no listener. */
    announce(userIds: readonly string[]): void {
      for (const listener of listeners) listener(userIds)
    },

    /** Calls the listener with the users whose events this process has stored. */
    onAppended(listener: AppendedListener): void {
      listeners.add(listener)
    },

    /** The events after a sequence, ascending, with how far the page goes. */
    page,

    /** The events after a sequence, ascending. */
    list: async (userId: string, query: EventQuery): Promise<UserEvent[]> => (await page(userId, query)).events,

    /** The last sequence of the user; 0 before the first event. */
    latestSequence,

    /** The last sequences of these users. Users without events are left out. */
    async latestSequences(userIds: readonly string[]): Promise<Map<string, number>> {
      if (userIds.length === 0) return new Map()
      const filter = { _id: anyOf(userIds.map(toHeadId)), userId: anyOf([...userIds]) }
      const found = await heads().find(filter).toArray()
      return new Map(found.map(({ userId, latest }) => [userId, latest]))
    },

    /** The sequence before the first event that occurred at an instant or later; the last sequence when there is none. */
    async sequenceBefore(userId: string, since: Date): Promise<number> {
      const latest = await latestSequence(userId)
      const first = await collection().findOne(
        { ...toReadable(userId, { $gt: 0 }), occurredAt: { $gte: since } },
        { projection: { sequence: 1 }, sort: { sequence: 1 }, maxTimeMS: LIST_DEADLINE_MS },
      )
      return first === null ? latest : first.sequence - 1
    },

    /** The first sequence that is still stored; null when none is. */
    async oldestSequence(userId: string): Promise<number | null> {
      const oldest = await collection().findOne(toReadable(userId, { $gt: 0 }), {
        projection: { sequence: 1 },
        sort: { sequence: 1 },
        maxTimeMS: LIST_DEADLINE_MS,
      })
      return oldest?.sequence ?? null
    },

    /** All events of the user, oldest first, as a stream. */
    async *allOf(userId: string): AsyncIterable<UserEvent> {
      const records = collection()
        .find(toReadable(userId, { $gt: 0 }))
        .sort({ sequence: 1 })
      for await (const record of records) yield toUserEvent(record)
    },

    async removeAllOf(userId: string): Promise<void> {
      await collection().deleteMany({ userId })
    },
  }
}

export type EventStore = ReturnType<typeof createEventStore>

const toHeadId = (userId: string): string => `head_${userId}`

function toUserEvent({ _id, userId, sequence, type, occurredAt, data }: EventRecord): UserEvent {
  return { id: _id, userId, sequence, type, occurredAt, data }
}
