import { splitIntoChunks } from '../../domain/shared/lists.ts'
import type { NewEvent } from '../../domain/events/events.ts'
import { isDuplicateKey } from '../../store/mongo-errors.ts'
import type { PostRef } from '../../store/posts/pending-events.ts'
import type { Parts } from '../parts.ts'

/** Posts per transaction. */
const BATCH = 200
/** Queued posts of a user. The sweeper relays what does not fit. */
const MAX_QUEUED = 2_000

/**
 * Moves events from the posts whose change stored them to the feeds of their users, and stores their notifications. A change of a post
 * costs no transaction this way, and many posts of one user do not contend for the user's sequence: a process relays one batch at a time. The sweeper relays what a crash or an
 * outage left behind.
 */
export function createEventRelay({ database, posts, events, notifications, logger }: Parts) {
  /** The posts of each user, by id. The user who is first has the next turn. */
  const queued = new Map<string, Map<string, PostRef>>()
  let running: Promise<void> | null = null
  let isClosed = false

  async function drain(): Promise<void> {
    // Changes of the same event loop tick share the first batch.
    await new Promise(setImmediate)
    while (queued.size > 0 && !isClosed) {
      await relayBatch(takeBatch())
    }
    running = null
  }

  /** Takes a post of each user in turn, so that a user with thousands of changed posts delays the events of another by a batch at most. */
  function takeBatch(): PostRef[] {
    const batch: PostRef[] = []
    for (const [userId, own] of queued) {
      const [postId, post] = own.entries().next().value!
      batch.push(post)
      own.delete(postId)
      // The user's next turn comes after those of all others.
      queued.delete(userId)
      if (own.size > 0) queued.set(userId, own)
      if (batch.length === BATCH) break
    }
    return batch
  }

  function enqueue({ _id, userId }: PostRef): void {
    const own = queued.get(userId) ?? new Map<string, PostRef>()
    if (own.size < MAX_QUEUED) own.set(_id, { _id, userId })
    queued.set(userId, own)
  }

  /**
   * Appends first and removes afterwards: a relay that dies in between is repeated, and the feed refuses events that it has. Events are read
   * from the posts, so that they reach the feed in the order of the changes, whichever process made them.
   */
  async function relay(batch: readonly PostRef[]): Promise<void> {
    const pending = await posts.listPendingEvents(batch)
    if (pending.length === 0) return
    const byUser = new Map<string, NewEvent[]>()
    for (const { userId, pendingEvents } of pending) {
      const own = byUser.get(userId)
      if (own) own.push(...pendingEvents)
      else byUser.set(userId, [...pendingEvents])
    }
    const news = pending.flatMap(({ pendingEvents }) => pendingEvents.flatMap(({ notification }) => notification ?? []))
    await Promise.all([append(byUser), ...news.map(notifications.insertOnce)])
    events.announce([...byUser.keys()])
    await posts.removePendingEvents(
      pending,
      pending.flatMap(({ pendingEvents }) => pendingEvents.map(({ id }) => id)),
    )
  }

  /** Events are stored already only where a relay has died before it removed them from their post. */
  async function append(byUser: ReadonlyMap<string, readonly NewEvent[]>): Promise<void> {
    try {
      await database.transaction((session) => events.appendAll(byUser, session, { areNew: true }))
    } catch (error) {
      if (!isDuplicateKey(error)) throw error
      await database.transaction((session) => events.appendAll(byUser, session))
    }
  }

  /** Relays together what it can. A user whose feed is blocked does not block the others. */
  async function relayBatch(batch: readonly PostRef[]): Promise<void> {
    try {
      await relay(batch)
    } catch {
      for (const ofUser of Map.groupBy(batch, ({ userId }) => userId).values()) {
        await relay(ofUser).catch((err: unknown) =>
          logger.warn({ err, userId: ofUser[0]!.userId, posts: ofUser.length }, 'events not relayed'),
        )
      }
    }
  }

  return {
    /** Relays the events of these posts in the background. Never fails. */
    add(changed: readonly PostRef[]): void {
      for (const post of changed) enqueue(post)
      if (!isClosed) running ??= drain()
    },

    /**
     * Relays events from before an instant, for the sweeper.
     * @returns the number of posts whose events were relayed
     */
    async relayLeftOver(before: Date, limit: number): Promise<number> {
      const left = await posts.listUnrelayed(before, limit)
      for (const batch of splitIntoChunks(left, BATCH)) await relayBatch(batch)
      return left.length
    },

    /** Resolves when every event that was queued is relayed, or left to the sweeper. */
    async idle(): Promise<void> {
      while (running) await running
    },

    /** Ends after the current batch. The sweeper relays the rest. */
    async close(): Promise<void> {
      isClosed = true
      await running
    },
  }
}

export type EventRelay = ReturnType<typeof createEventRelay>
