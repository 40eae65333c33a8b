import { toLimitError } from '../../domain/billing/plans.ts'
import type { Post } from '../../domain/posts/post.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { busy as databaseBusy, TRANSACTION_DEADLINE_MS } from '../../store/shared/database.ts'
import { isDuplicateKey } from '../../store/mongo-errors.ts'
import { batcher, keyedBatcher } from '../../store/shared/batching.ts'
import type { NotificationStore } from '../../store/notifications/notifications.ts'
import type { EventRelay } from '../events/relay-events.ts'
import { buildCreatedNotifications } from './post-created.ts'
import type { Parts } from '../parts.ts'

/** A transaction has at most 50 posts, so that it stays short under many concurrent creates: five of each of ten users. */
const LARGEST_GROUP = 10
const LARGEST_SHARE = 5

type Session = Parameters<NotificationStore['insert']>[1]

/** Posts cannot be stored together. */
class GroupConflict extends Error {}

interface Waiting {
  post: Post
  /** When the wait for a turn ends, milliseconds since 1970. */
  waitsUntil: number
}

/** Per post, why it was not stored. */
type Results = (Error | undefined)[]

/**
 * Stores new posts, each with its notification and its use of the allowance, or not at all. Posts of several users that arrive
 * during a transaction share the next one, because most of a create's cost is the round trip and the commit. Posts of one user
 * never meet in two transactions of this process: each writes the user's record, and the one that loses often enough fails.
 * @throws ServiceError POST_LIMIT_REACHED, SERVICE_UNAVAILABLE; a duplicate key error when the idempotency key is taken
 */
export function createStorePost({
  database,
  eventRelay,
  posts,
  notifications,
  users,
}: Parts & { eventRelay: EventRelay }): StorePost {
  const storeOfUsers = batcher<Results, Post[]>(async (group, settle) => {
    if (group.length > 1 && (await storeTogether(group.flat(), { repeats: false }))) {
      group.forEach((ofUser, index) => settle(index, Array(ofUser.length)))
      return
    }
    await Promise.all(group.map(async (ofUser, index) => settle(index, await storeOfUser(ofUser))))
  }, LARGEST_GROUP)

  const storeQueued = keyedBatcher<void, Waiting>(async (_userId, share, settle) => {
    // A locked user record uses up one deadline, and not one for every share.
    const isLate = Date.now() >= share[0]!.waitsUntil
    const results = isLate ? share.map(() => databaseBusy()) : await storeOfUsers(share.map(({ post }) => post))
    share.forEach((_, index) => settle(index, results[index]))
  }, LARGEST_SHARE)

  return (post) => storeQueued(post.userId, { post, waitsUntil: Date.now() + TRANSACTION_DEADLINE_MS })

  async function storeOfUser(ofUser: Post[]): Promise<Results> {
    try {
      if (ofUser.length > 1 && (await storeTogether(ofUser, { repeats: true }))) return Array(ofUser.length)
    } catch (error) {
      return ofUser.map(() => error as Error)
    }
    const results: Results = []
    let busy: Error | undefined
    for (const post of ofUser) {
      const result = busy ?? (await storeAlone(post).catch((error: Error) => error)) ?? undefined
      results.push(result)
      if (result && !concernsOnePost(result)) busy = result
    }
    return results
  }

  /**
   * Returns false when nothing was stored because the posts cannot be stored together.
   * @param repeats after a write conflict, which otherwise means that they cannot
   */
  async function storeTogether(group: Post[], { repeats }: { repeats: boolean }): Promise<boolean> {
    let tries = 0
    const onlyUser = repeats ? group[0]!.userId : undefined
    try {
      await withNotifications(group, (insertNotifications) =>
        database.transaction(async (session) => {
          tries += 1
          if (tries > 1 && !repeats) throw new GroupConflict()
          await posts.insert(group, session)
          await insertNotifications(session)
          if (!(await users.takePostAllowances(countByUser(group), session))) throw new GroupConflict()
        }, onlyUser),
      )
      return true
    } catch (error) {
      if (error instanceof GroupConflict || isDuplicateKey(error)) return false
      throw error
    }
  }

  /** The user record is written last, because concurrent creates contend for it. */
  async function storeAlone(post: Post): Promise<void> {
    await withNotifications([post], (insertNotifications) =>
      database.transaction(async (session) => {
        await posts.insert([post], session)
        await insertNotifications(session)
        const { taken, ...allowance } = await users.takeAllowance('posts', post.userId, session)
        if (!taken) throw toLimitError('posts', allowance)
      }, post.userId),
    )
  }

  /** Finds the routes of the notifications while the transaction begins, and sends them after it. */
  async function withNotifications(
    group: Post[],
    store: (insertNotifications: (session: Session) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const records = buildCreatedNotifications({ users }, group).then(notifications.toRecords)
    records.catch(() => {})
    await store(async (session) => notifications.insert(await records, session))
    eventRelay.add(group)
    notifications.beginSending(await records)
  }
}

/** Returns whether an error concerns one post only, unlike a database outage or a locked record. */
function concernsOnePost(error: Error): boolean {
  return isDuplicateKey(error) || (error instanceof ServiceError && error.code === 'POST_LIMIT_REACHED')
}

export type StorePost = (post: Post) => Promise<void>

function countByUser(posts: Post[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { userId } of posts) counts.set(userId, (counts.get(userId) ?? 0) + 1)
  return counts
}
