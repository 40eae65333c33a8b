import type { MediaItem, Published } from '../../src/domain/posts/post.ts'
import { PLATFORMS, type Platform } from '../../src/domain/shared/platforms.ts'
import { openDatabase, type Database } from '../../src/store/shared/database.ts'
import { nativeCollection } from '../../src/store/shared/native-collection.ts'
import { createAccountStore, findDefault } from '../../src/store/accounts/accounts.ts'
import { createPostStore } from '../../src/store/posts/posts.ts'
import { ACCOUNT_SNAPSHOTS, POST_SNAPSHOTS } from '../../src/store/analytics/collections.ts'
import { createUserStore, type UserStore } from '../../src/store/users/users.ts'
import type { PublishedElsewhere } from '../platforms/proxied-platform.ts'
import type { Front } from '../platforms/shared/simulator.ts'
import {
  demoCorrelationId,
  buildHistory,
  type Collecting,
  type DemoAccounts,
  type DemoHistory,
  type PublishedOn,
} from './history.ts'
import { demoPosts, type DemoPost } from './posts.ts'

type Fronts = [Platform, Pick<Front, 'control'>][]

/**
 * Adds two weeks of sample posts, to the database and to the platforms, which continue counting. It bypasses the API,
 * which cannot publish in the past. Existing posts stay unchanged.
 */
export async function seedDemo(
  { mongoUrl, fronts }: { mongoUrl: string; fronts: Fronts },
  email: string,
  picture: MediaItem,
  collecting: Collecting,
): Promise<void> {
  const database = await openDatabase(mongoUrl)
  try {
    const now = () => collecting.now
    const users = createUserStore(database.connection)
    const user = await users.findByEmail(email)
    if (user === null) throw new Error(`There is no user ${email}`)
    const { _id: userId, timezone } = user
    const first = await createPostStore(database.connection, now).findByCorrelationId(userId, demoCorrelationId(0))
    if (first !== null) return
    const connected = await createAccountStore({ database, now }).listConnected(userId)
    const accounts: DemoAccounts = Object.fromEntries(
      PLATFORMS.flatMap((platform) => {
        const account = findDefault(connected, platform)
        return account ? [[platform, account]] : []
      }),
    )
    const posts = demoPosts(collecting.now, timezone)
    const published = await publishAll(posts, accounts, fronts)
    const followed = connected.map(({ _id: accountId, platform }) => ({ platform, accountId }))
    const owner = { userId, timezone, accounts, followed, picture }
    const history = buildHistory(owner, posts, published, collecting)
    await storeDemo(database, users, userId, history)
  } finally {
    await database.close()
  }
}

/** Stores everything in one transaction, so that a killed start leaves nothing incomplete. */
export async function storeDemo(
  database: Pick<Database, 'connection' | 'transaction'>,
  users: Pick<UserStore, 'raiseAnalyticsVersion'>,
  userId: string,
  { posts, postSnapshots, accountSnapshots }: DemoHistory,
): Promise<void> {
  await database.transaction(async (session) => {
    const insert = async <T extends { _id: string }>(name: string, records: T[]) => {
      if (records.length > 0)
        await nativeCollection<{ _id: string }>(database.connection, name)().insertMany(records, { session })
    }
    await insert('posts', posts)
    await insert(POST_SNAPSHOTS, postSnapshots)
    // The service counts the followers of a new connection itself, and already has today's snapshot.
    const ofUser = nativeCollection<{ userId: string }>(database.connection, ACCOUNT_SNAPSHOTS)()
    await ofUser.deleteMany({ userId }, { session })
    await insert(ACCOUNT_SNAPSHOTS, accountSnapshots)
    await users.raiseAnalyticsVersion(userId, session)
  })
}

/** Publishes on all platforms concurrently, and on each in order. */
async function publishAll(posts: DemoPost[], accounts: DemoAccounts, fronts: Fronts): Promise<PublishedOn[]> {
  const published: PublishedOn[] = posts.map(() => ({}))
  await Promise.all(
    fronts.map(async ([platform, { control }]) => {
      const account = accounts[platform]
      if (account === undefined) return
      for (const [index, post] of posts.entries()) {
        const exception = post.exceptions[platform]
        if (!post.on.includes(platform) || (exception && exception !== 'deleted')) continue
        const took = await publish(control, account.platformId, post)
        if (exception === 'deleted') await order(control, `/posts/${encodeURIComponent(took.platformPostId)}/delete`)
        published[index]![platform] = took
      }
    }),
  )
  return published
}

async function publish(control: string, accountId: string, { text, at }: DemoPost): Promise<Published> {
  const path = `/accounts/${encodeURIComponent(accountId)}/posts`
  const { id, url } = (await order(control, path, { text, createdAt: at })) as PublishedElsewhere
  return { platformPostId: id, platformPostUrl: url }
}

async function order(control: string, path: string, body: object = {}): Promise<unknown> {
  const answer = await fetch(`${control}${path}`, { method: 'POST', body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${path} failed with status ${answer.status}: ${await answer.text()}`)
  return answer.json()
}
