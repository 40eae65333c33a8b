import type { Context } from '../../src/context.ts'
import type { User } from '../../src/domain/user.ts'
import { publishedKey } from '../../src/domain/post-entries.ts'
import type { Platform } from '../../src/domain/platforms.ts'
import type { Post } from '../../src/domain/post.ts'
import { newId } from '../../src/store/schema-options.ts'
import { createAccount } from './api.ts'
import { buildPost } from './posts.ts'

interface Published {
  userId: string
  on?: Platform[]
  completedAt?: Date
  /** The account it went out on. */
  accountId?: string
  platformPostId?: string
}

/** A post as it is stored once it is out, without anybody having published it. */
export function publishedPost({ userId, on = ['bluesky'], completedAt = new Date(), ...of }: Published): Post {
  const post = buildPost({ userId, selectedPlatforms: on }, completedAt)
  const platformStatuses = post.platformStatuses.map((entry) => ({
    ...entry,
    status: 'completed' as const,
    platformPostId: of.platformPostId ?? `${entry.platform}-${newId()}`,
    platformPostUrl: 'https://example.test/post',
    completedAt,
    delivery: { ...entry.delivery, accountId: of.accountId ?? accountIdOf(entry.platform, userId) },
  }))
  const publishedKeys = platformStatuses.map(({ platform, platformPostId }) => publishedKey(platform, platformPostId))
  return { ...post, status: 'COMPLETED', platformStatuses, publishedKeys }
}

export async function storePosts({ database }: Context, posts: Post[]): Promise<void> {
  if (posts.length > 0) await database.connection.collection<Post>('posts').insertMany(posts)
}

/** The account that `connectedUser` has there. */
export const accountIdOf = (platform: Platform, userId: string): string => `${platform}-account-of-${userId}`

/** A user with an account on each of these platforms, whose tokens open nothing. */
export async function connectedUser(context: Context, platforms: Platform[]): Promise<User> {
  const user = await createAccount(context)
  const auth = { refreshToken: null, expiresAt: null, endsAt: null }
  for (const platform of platforms) {
    const seal = (version: number) => ({
      accountId: accountIdOf(platform, user._id),
      handle: platform,
      serviceUrl: null,
      profile: { displayName: platform, handle: platform, avatar: null },
      auth: {
        ...auth,
        accessToken: context.cipher.seal('token', { userId: user._id, platform, version, field: 'accessToken' }),
      },
    })
    await context.accounts.connect(user._id, { [platform]: seal })
  }
  return user
}
