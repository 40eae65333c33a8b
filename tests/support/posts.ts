import { claim } from '../../src/domain/posts/delivery-moves.ts'
import { findEntry } from '../../src/domain/posts/post-entries.ts'
import { newPost, type NewPost } from '../../src/domain/posts/post-moves.ts'
import type { Post } from '../../src/domain/posts/post.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { newId } from '../../src/store/shared/schema.ts'

/** An instant to count from in tests of pure rules. */
export const T0 = new Date('2026-03-01T12:00:00.000Z')

export function after(instant: Date, ms: number): Date {
  return new Date(instant.getTime() + ms)
}

/** A post as `POST /api/posts` makes it; a test names only what matters to it. */
export function buildPost(fields: Partial<NewPost> = {}, now: Date = T0): Post {
  return newPost(
    {
      _id: newId(),
      userId: newId(),
      content: { text: 'Hello', mediaItems: [] },
      platformSpecificContent: {},
      selectedPlatforms: ['bluesky'],
      scheduledAt: null,
      timezone: 'UTC',
      correlationId: null,
      requestHash: null,
      metadata: { source: 'api' },
      draft: false,
      ...fields,
    },
    now,
  )
}

/** The claim an attempt would ask for at `now`. */
export function claimOf(post: Post, platform: Platform, now: Date, leaseMs = 10_000) {
  return claim(platform, {
    round: findEntry(post, platform)?.delivery.round ?? 0,
    key: `key-${newId()}`,
    leaseUntil: after(now, leaseMs),
    accountId: 'did:plc:someone',
    contentVersion: post.contentVersion,
  })
}
