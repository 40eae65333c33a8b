import { toLimitError } from '../../domain/billing/plans.ts'
import type { Post } from '../../domain/posts/post.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { isDuplicateKey, type Database } from '../../store/shared/database.ts'
import { createBatches } from '../../store/shared/batching.ts'
import type { NotificationStore } from '../../store/notifications/notifications.ts'
import type { PostStore } from '../../store/posts/posts.ts'
import type { UserStore } from '../../store/users/users.ts'
import { createdNotifications } from './post-created.ts'

/** Keeps a transaction short, however many creates come at once. */
const LARGEST_GROUP = 50

interface StorePostDeps {
  database: Pick<Database, 'transaction'>
  posts: Pick<PostStore, 'insert'>
  notifications: Pick<NotificationStore, 'recordsOf' | 'insert' | 'stored'>
  users: Pick<UserStore, 'takeAllowance' | 'takePostAllowances' | 'findTimezones'>
}

type Session = Parameters<NotificationStore['insert']>[1]

/** One of a group stands in the way of the others, or another process does: each is to be stored alone. */
class NotTogether extends Error {}

/**
 * Stores new posts, each with its notification and its share of the allowance or not at all. Posts that come while others are
 * being stored share the next transaction: what creating costs the database is mostly the way there and the commit.
 * @throws ServiceError POST_LIMIT_REACHED, SERVICE_UNAVAILABLE; a duplicate key error when the idempotency key is taken
 */
export function createStorePost({ database, posts, notifications, users }: StorePostDeps): StorePost {
  return createBatches<void, Post>(async (group, settle) => {
    if (group.length > 1 && (await together(group))) {
      group.forEach((_, index) => settle(index, undefined))
      return
    }
    const byUser = Map.groupBy(group.keys(), (index) => group[index]!.userId)
    await Promise.all([...byUser.values()].map((indexes) => oneByOne(indexes)))

    /** Those of one user would only conflict with each other. */
    async function oneByOne(indexes: number[]): Promise<void> {
      let busy: Error | undefined
      for (const index of indexes) {
        const result = busy ?? (await alone(group[index]!).catch((error: Error) => error))
        settle(index, result)
        if (result instanceof Error && !isAboutOne(result)) busy = result
      }
    }
  }, LARGEST_GROUP)

  /** False when nothing was stored because they do not fit together. */
  async function together(group: Post[]): Promise<boolean> {
    let tries = 0
    try {
      await withNotifications(group, (insertNotifications) =>
        database.transaction(async (session) => {
          tries += 1
          if (tries > 1) throw new NotTogether()
          await posts.insert(group, session)
          await insertNotifications(session)
          if (!(await users.takePostAllowances(countByUser(group), session))) throw new NotTogether()
        }),
      )
      return true
    } catch (error) {
      if (error instanceof NotTogether || isDuplicateKey(error)) return false
      throw error
    }
  }

  /** The user record comes last: it is what concurrent creates contend for. */
  async function alone(post: Post): Promise<void> {
    await withNotifications([post], (insertNotifications) =>
      database.transaction(async (session) => {
        await posts.insert([post], session)
        await insertNotifications(session)
        const { taken, ...allowance } = await users.takeAllowance('posts', post.userId, session)
        if (!taken) throw toLimitError('posts', allowance)
      }),
    )
  }

  /** Who has devices is asked while the transaction begins, and the pushes are taken up when it is over. */
  async function withNotifications(
    group: Post[],
    store: (insertNotifications: (session: Session) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const asked = createdNotifications({ users }, group).then(notifications.recordsOf)
    asked.catch(() => {})
    await store(async (session) => notifications.insert(await asked, session))
    notifications.stored(await asked)
  }
}

/** Says nothing of the user's next post, unlike a database that is away or a record that stays locked. */
function isAboutOne(error: Error): boolean {
  return isDuplicateKey(error) || (error instanceof ServiceError && error.code === 'POST_LIMIT_REACHED')
}

export type StorePost = (post: Post) => Promise<void>

function countByUser(posts: Post[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { userId } of posts) counts.set(userId, (counts.get(userId) ?? 0) + 1)
  return counts
}
