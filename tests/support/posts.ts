import { claim } from '../../src/domain/posts/delivery-moves.ts'
import { findEntry } from '../../src/domain/posts/post-entries.ts'
import { newPost, type NewPost } from '../../src/domain/posts/post-moves.ts'
import type { Post } from '../../src/domain/posts/post.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { newId } from '../../src/store/shared/schema.ts'

/** A fixed "now" for tests of pure functions. */
export const T0 = new Date('2026-03-01T12:00:00.000Z')

export function after(instant: Date, ms: number): Date {
  return new Date(instant.getTime() + ms)
}

/** Builds a post as `POST /api/posts` creates it, with default values for all other fields. */
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
      metadata: { source: 'api', client: 'api' },
      draft: false,
      ...fields,
    },
    now,
  )
}

/** Returns the claim that an attempt makes at `now`. */
export function buildClaim(post: Post, platform: Platform, now: Date, leaseMs = 10_000) {
  return claim(platform, {
    round: findEntry(post, platform)?.delivery.round ?? 0,
    leaseUntil: after(now, leaseMs),
    accountId: 'did:plc:someone',
    contentVersion: post.contentVersion,
  })
}
