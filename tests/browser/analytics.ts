import { buildHistory, type PublishedOn } from '../../sandbox/demo/history.ts'
import { demoPosts } from '../../sandbox/demo/posts.ts'
import { storeDemo } from '../../sandbox/demo/seed.ts'
import { collectionSettings } from '../../src/config/analytics.ts'
import type { Context } from '../../src/context.ts'
import { PLATFORMS } from '../../src/domain/shared/platforms.ts'
import { openDatabase } from '../../src/store/shared/database.ts'
import { createUserStore } from '../../src/store/users/users.ts'
import { connectAccounts } from '../support/published.ts'

/** Gives a user the two weeks of sample data, without posts on the platforms. */
export async function giveDemo(context: Context, userId: string): Promise<void> {
  await connectAccounts(context, userId, PLATFORMS)
  const now = new Date()
  const posts = demoPosts(now, 'UTC')
  const published = posts.map(({ on }, index): PublishedOn => {
    const placeOf = (name: string) => ({
      platformPostId: `${name}-${userId}-${index}`,
      platformPostUrl: `https://${name}.example/${index}`,
    })
    return Object.fromEntries(on.map((platform) => [platform, placeOf(platform)]))
  })
  const picture = { storageKey: 'hello.jpg', storageUrl: 'https://files.example/hello.jpg', mimeType: 'image/jpeg' }
  const connected = await context.accounts.listConnected(userId)
  const accounts = Object.fromEntries(connected.map((account) => [account.platform, account]))
  const followed = connected.map(({ _id: accountId, platform }) => ({ platform, accountId }))
  const owner = { userId, timezone: 'UTC', accounts, followed, picture }
  const collecting = { now, ...collectionSettings(context.config) }
  const history = buildHistory(owner, posts, published, collecting)
  // A transaction belongs to one connection, and the service has its own.
  const database = await openDatabase(context.config.MONGODB_URL)
  try {
    await storeDemo(database, createUserStore(database.connection), userId, history)
  } finally {
    await database.close()
  }
}
