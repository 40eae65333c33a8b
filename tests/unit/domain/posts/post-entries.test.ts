import { describe, expect, it } from 'vitest'
import { findOpenEntry, hasReachedAnyPlatform } from '../../../../src/domain/posts/post-entries.ts'
import type { Delivery, PlatformStatus, Post } from '../../../../src/domain/posts/post.ts'
import { T0, buildPost } from '../../../support/posts.ts'

/** A post for two platforms whose second entry has these fields. */
function postWith(entry: Partial<Omit<PlatformStatus, 'delivery'>> & { delivery?: Partial<Delivery> }): Post {
  const post = buildPost({ selectedPlatforms: ['bluesky', 'mastodon'] })
  const [first, second] = post.platformStatuses
  const { delivery, ...fields } = entry
  const changed = { ...second!, ...fields, delivery: { ...second!.delivery, ...delivery } }
  return { ...post, platformStatuses: [first!, changed] }
}

describe('hasReachedAnyPlatform', () => {
  it.each([{ status: 'pending' }, { status: 'failed' }] as const)(
    'a post with the entry %j has reached no platform',
    (entry) => {
      expect(hasReachedAnyPlatform(postWith(entry))).toBe(false)
    },
  )

  it.each([
    { status: 'processing' },
    { status: 'completed' },
    { status: 'deleted' },
    { status: 'failed', delivery: { leaseUntil: T0 } },
    { status: 'failed', delivery: { outcome: 'unknown' } },
    { status: 'failed', delivery: { hadUnknownOutcome: true } },
  ] as const)('a post with the entry %j may have reached a platform', (entry) => {
    expect(hasReachedAnyPlatform(postWith(entry))).toBe(true)
  })

  it('a post with a published key has reached a platform, whatever its entries are', () => {
    const post: Post = { ...postWith({ status: 'failed' }), publishedKeys: ['mastodon:1'] }
    expect(hasReachedAnyPlatform(post)).toBe(true)
  })
})

describe('findOpenEntry', () => {
  const open = postWith({ status: 'processing', delivery: { round: 2 } })

  it.each(['PENDING', 'SCHEDULED', 'PROCESSING'] as const)('findOpenEntry finds an entry of a %s post', (status) => {
    expect(findOpenEntry({ ...open, status }, 'mastodon', 2)).toMatchObject({ platform: 'mastodon' })
  })

  it.each(['DRAFT', 'COMPLETED', 'FAILED', 'CANCELLED'] as const)('findOpenEntry finds none in a %s post', (status) => {
    expect(findOpenEntry({ ...open, status }, 'mastodon', 2)).toBeNull()
  })

  it('findOpenEntry finds none of another round or platform', () => {
    const post: Post = { ...open, status: 'PROCESSING' }
    expect(findOpenEntry(post, 'mastodon', 1)).toBeNull()
    expect(findOpenEntry(post, 'tumblr', 0)).toBeNull()
  })

  it.each(['completed', 'failed', 'deleted'] as const)('findOpenEntry finds no %s entry', (status) => {
    const post: Post = { ...postWith({ status }), status: 'PROCESSING' }
    expect(findOpenEntry(post, 'mastodon', 0)).toBeNull()
  })
})
