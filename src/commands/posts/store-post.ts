import { toLimitError } from '../../domain/billing/plans.ts'
import type { Post } from '../../domain/posts/post.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { Database } from '../../store/shared/database.ts'
import { isDuplicateKey } from '../../store/mongo-errors.ts'
import { batcher } from '../../store/shared/batching.ts'
import type { NotificationStore } from '../../store/notifications/notifications.ts'
import type { PostStore } from '../../store/posts/posts.ts'
import type { UserStore } from '../../store/users/users.ts'
import { buildCreatedNotifications } from './post-created.ts'

/** Keeps a transaction short under many concurrent creates. */
const LARGEST_GROUP = 50

interface StorePostDeps {
  database: Pick<Database, 'transaction'>
  posts: Pick<PostStore, 'insert'>
  notifications: Pick<NotificationStore, 'toRecords' | 'insert' | 'startPushes'>
  users: Pick<UserStore, 'takeAllowance' | 'takePostAllowances' | 'findTimezones'>
}

type Session = Parameters<NotificationStore['insert']>[1]

/** The posts of a group cannot be stored together; each is then stored alone. */
class GroupConflict extends Error {}

/**
 * Stores new posts, each with its notification and its use of the allowance, or not at all. Posts that arrive during a
 * transaction share the next one, because most of a create's cost is the round trip and the commit.
 * @throws ServiceError POST_LIMIT_REACHED, SERVICE_UNAVAILABLE; a duplicate key error when the idempotency key is taken
 */
export function createStorePost({ database, posts, notifications, users }: StorePostDeps): StorePost {
  return batcher<void, Post>(async (group, settle) => {
    if (group.length > 1 && (await storeTogether(group))) {
      group.forEach((_, index) => settle(index, undefined))
      return
    }
    const byUser = Map.groupBy(group.keys(), (index) => group[index]!.userId)
    await Promise.all([...byUser.values()].map((indexes) => storeOneByOne(indexes)))

    /** Posts of one user are stored one by one, because they would conflict with each other. */
    async function storeOneByOne(indexes: number[]): Promise<void> {
      let busy: Error | undefined
      for (const index of indexes) {
        const result = busy ?? (await storeAlone(group[index]!).catch((error: Error) => error))
        settle(index, result)
        if (result instanceof Error && !concernsOnePost(result)) busy = result
      }
    }
  }, LARGEST_GROUP)

  /** Returns false when nothing was stored because the posts cannot be stored together. */
  async function storeTogether(group: Post[]): Promise<boolean> {
    let tries = 0
    try {
      await withNotifications(group, (insertNotifications) =>
        database.transaction(async (session) => {
          tries += 1
          if (tries > 1) throw new GroupConflict()
          await posts.insert(group, session)
          await insertNotifications(session)
          if (!(await users.takePostAllowances(countByUser(group), session))) throw new GroupConflict()
        }),
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
      }),
    )
  }

  /** Finds the users' devices while the transaction begins, and starts the pushes after it. */
  async function withNotifications(
    group: Post[],
    store: (insertNotifications: (session: Session) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const records = buildCreatedNotifications({ users }, group).then(notifications.toRecords)
    records.catch(() => {})
    await store(async (session) => notifications.insert(await records, session))
    notifications.startPushes(await records)
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
