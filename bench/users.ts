import { connectBluesky } from '../src/commands/connect-bluesky.ts'
import { sealSecrets } from '../src/commands/account-secrets.ts'
import type { Context } from '../src/context.ts'
import { newUser, type User } from '../src/domain/user.ts'
import { newId } from '../src/store/schema-options.ts'
import { INSTANT_PLATFORMS } from './platforms.ts'
import type { Bluesky } from '../sandbox/platforms/bluesky.ts'

/** Users with every instant platform connected, and no limit in their way. */
export function createUsers(context: Context, count: number): Promise<User[]> {
  return Promise.all(Array.from({ length: count }, () => createUser(context)))
}

async function createUser(context: Context): Promise<User> {
  const userId = newId()
  const user = newUser(
    {
      _id: userId,
      email: `${userId}@example.com`,
      name: 'Bench',
      passwordHash: null,
      limits: { maxPosts: 1_000_000_000, maxCaptionGenerations: 0 },
    },
    new Date(),
  )
  await context.users.insert(user)
  for (const platform of INSTANT_PLATFORMS) {
    const accountId = `${platform}-${userId}`
    await context.accounts.connect(userId, {
      [platform]: (version: number) => ({
        accountId,
        handle: accountId,
        serviceUrl: null,
        profile: { displayName: 'Bench', handle: accountId, avatar: null },
        auth: sealSecrets(
          context.cipher,
          { userId, platform, version },
          { accountId, handle: accountId, accessToken: 'bench' },
        ),
      }),
    })
  }
  return user
}

/** Connects a new account on the Bluesky server to the user, as the route does. */
export async function connectToBluesky(context: Context, bluesky: Bluesky, user: User): Promise<void> {
  const { handle, appPassword } = await bluesky.createAccount({ handle: `b${user._id.slice(-12)}.test` })
  await connectBluesky(context, { userId: user._id, identifier: handle, appPassword })
}
