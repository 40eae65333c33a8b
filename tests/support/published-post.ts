import { toPublishedKey } from '../../src/domain/posts/post-entries.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import type { PlatformStatus, Post } from '../../src/domain/posts/post.ts'
import type { ConnectedAccount } from '../../src/store/accounts/accounts.ts'
import { newId } from '../../src/store/shared/schema.ts'
import { buildPost } from './posts.ts'

interface PublishedPostOptions {
  userId: string
  on?: Platform[]
  completedAt?: Date
  /** The account on which the post was published. */
  accountId?: string
  platformPostId?: string
}

/** Builds a stored post as it is after publishing, although nothing was published. */
export function publishedPost({
  userId,
  on = ['bluesky'],
  completedAt = new Date(),
  ...ids
}: PublishedPostOptions): Post {
  const post = buildPost({ userId, selectedPlatforms: on }, completedAt)
  const platformStatuses = post.platformStatuses.map((entry) => ({
    ...entry,
    status: 'completed' as const,
    platformPostId: ids.platformPostId ?? `${entry.platform}-${newId()}`,
    platformPostUrl: 'https://example.test/post',
    completedAt,
    metricsDueAt: completedAt,
    delivery: { ...entry.delivery, accountId: ids.accountId ?? accountIdOf(entry.platform, userId) },
  }))
  const publishedKeys = platformStatuses.map(({ platform, platformPostId }) => toPublishedKey(platform, platformPostId))
  return { ...post, status: 'COMPLETED', platformStatuses, publishedKeys }
}

/** Returns the id of the account that `connectedUser` connects on the platform. */
export const accountIdOf = (platform: Platform, userId: string): string => `${platform}-account-of-${userId}`

/** Adds an entry that was published on an account which the user chose for the post. */
export function alsoPublishedOn(post: Post, { _id, platform, platformId }: ConnectedAccount): Post {
  const [first] = post.platformStatuses as [PlatformStatus]
  const platformPostId = `${platform}-${newId()}`
  const delivery = { ...first.delivery, accountId: platformId }
  const entry = { ...first, platform, target: _id, accountId: _id, platformPostId, delivery }
  return {
    ...post,
    selectedAccounts: [...(post.selectedAccounts ?? []), _id],
    platformStatuses: [...post.platformStatuses, entry],
    publishedKeys: [...(post.publishedKeys ?? []), toPublishedKey(platform, platformPostId)],
  }
}
