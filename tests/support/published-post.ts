import { toPublishedKey } from '../../src/domain/posts/post-entries.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import type { Post } from '../../src/domain/posts/post.ts'
import { newId } from '../../src/store/shared/schema.ts'
import { buildPost } from './posts.ts'

interface Published {
  userId: string
  on?: Platform[]
  completedAt?: Date
  /** The account it went out on. */
  accountId?: string
  platformPostId?: string
}

/** A post in its stored form after publishing, without a publication. */
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
  const publishedKeys = platformStatuses.map(({ platform, platformPostId }) => toPublishedKey(platform, platformPostId))
  return { ...post, status: 'COMPLETED', platformStatuses, publishedKeys }
}

/** The account that `connectedUser` has there. */
export const accountIdOf = (platform: Platform, userId: string): string => `${platform}-account-of-${userId}`
