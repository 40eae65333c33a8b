import type { Context } from '../../src/context.ts'
import type { User } from '../../src/domain/users/user.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import type { Post } from '../../src/domain/posts/post.ts'
import type { StoredPost } from '../../src/store/posts/post-schema.ts'
import type { AccountStore, ConnectedAccount } from '../../src/store/accounts/accounts.ts'
import { createAccount } from './api.ts'
import { accountIdOf, publishedPost } from './published-post.ts'

export { accountIdOf, publishedPost }

/** As a connect of a frontend that knows one account per platform. */
export const CONNECT_OPTIONS = { replace: true, limit: 100 }

export async function storePosts({ database }: Context, posts: Post[]): Promise<void> {
  const records = posts.map((post) => ({ ...post, timeline: [], pendingEvents: [] }))
  if (records.length > 0) await database.connection.collection<StoredPost>('posts').insertMany(records)
}

/** Stores a user with an account on each of these platforms. No platform accepts their tokens. */
export async function connectedUser(context: Context, platforms: Platform[]): Promise<User> {
  const user = await createAccount(context)
  await connectAccounts(context, user._id, platforms)
  return user
}

/** Connects such accounts for an existing user. */
export async function connectAccounts(context: Context, userId: string, platforms: readonly Platform[]): Promise<void> {
  for (const platform of platforms) await connectAccount(context, userId, { platform }, CONNECT_OPTIONS)
}

/** Adds such an account beside those that the user has on the platform. */
export const addAccount = (context: Context, userId: string, account: { platform: Platform; platformId: string }) =>
  connectAccount(context, userId, account, { ...CONNECT_OPTIONS, replace: false })

/** Connects such an account in the place of the default one. */
export const replaceAccount = (context: Context, userId: string, account: { platform: Platform; platformId: string }) =>
  connectAccount(context, userId, account, CONNECT_OPTIONS)

async function connectAccount(
  { accounts, cipher }: Context,
  userId: string,
  { platform, platformId = accountIdOf(platform, userId) }: { platform: Platform; platformId?: string },
  options: typeof CONNECT_OPTIONS,
): Promise<ConnectedAccount> {
  const seal = (version: number) => ({
    platformId,
    handle: platform,
    server: null,
    profile: { displayName: platform, handle: platform, avatar: null },
    auth: {
      accessToken: cipher.seal('token', { userId, platform, version, field: 'accessToken' }),
      ...{ refreshToken: null, expiresAt: null, endsAt: null },
    },
  })
  const connected = await accounts.connect(userId, { platform, seal }, options)
  return connected.accounts[0]!
}

/** Disconnects the default account of a platform, if there is one. */
export async function disconnectDefault({ findDefault, disconnect }: AccountStore, userId: string, platform: Platform) {
  const account = await findDefault(userId, platform)
  return account ? disconnect(userId, [account._id]) : []
}
