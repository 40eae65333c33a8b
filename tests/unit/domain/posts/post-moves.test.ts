import { describe, expect, it } from 'vitest'
import { failure } from '../../../../src/domain/posts/failure.ts'
import {
  accept,
  claim,
  ClaimRefused,
  defer,
  giveUp,
  markAbsent,
  markDeleted,
  markUnknown,
  MAX_TRIES,
  RECONCILE_WAITS_MS,
  refuse,
  saveCheckpoint,
} from '../../../../src/domain/posts/delivery-moves.ts'
import { findEntry, selectHandles, rollUp } from '../../../../src/domain/posts/post-entries.ts'
import { cancel, edit, retry } from '../../../../src/domain/posts/post-moves.ts'
import type { AttemptRef, Move, Post } from '../../../../src/domain/posts/post.ts'
import type { Platform } from '../../../../src/domain/shared/platforms.ts'
import { after, buildPost, claimOf, T0 } from '../../../support/posts.ts'

const published = {
  platformPostId: 'at://did:plc:someone/app.bsky.feed.post/3k',
  platformPostUrl: 'https://bsky.app/x',
}
const rejected = failure('validation', 'The platform refused the text')
const busy = failure('transient', 'The platform is busy')

function apply(post: Post, ...moves: Move[]): Post {
  return moves.reduce((current, move) => move(current, T0), post)
}

function claimed(post: Post, platform: Platform = 'bluesky', now = T0): { post: Post; from: AttemptRef } {
  const next = claimOf(post, platform, now)(post, now)
  const { round, attempt } = findEntry(next, platform)!.delivery
  return { post: next, from: { round, attempt } }
}

function failedPost(platforms: Platform[] = ['bluesky']): Post {
  return platforms.reduce(
    (post, platform) => {
      const { post: next, from } = claimed(post, platform)
      return apply(next, refuse(platform, rejected, from))
    },
    buildPost({ selectedPlatforms: platforms }),
  )
}

describe('a new post (spec section 3, first three rows)', () => {
  it('is DRAFT when saved as a draft, and is never due', () => {
    expect(buildPost({ draft: true, scheduledAt: after(T0, 60_000) })).toMatchObject({ status: 'DRAFT', dueAt: null })
  })

  it('is PENDING and due at once without a time', () => {
    expect(buildPost()).toMatchObject({ status: 'PENDING', dueAt: T0, scheduledAt: null })
  })

  it('is SCHEDULED for a time ahead, and owes Temporal a start', () => {
    const scheduledAt = after(T0, 60_000)
    expect(buildPost({ scheduledAt })).toMatchObject({ status: 'SCHEDULED', dueAt: scheduledAt, startPending: true })
  })

  it('takes a past time as now, and stores it as null', () => {
    expect(buildPost({ scheduledAt: after(T0, -1) })).toMatchObject({ status: 'PENDING', dueAt: T0, scheduledAt: null })
  })
})

describe('edit', () => {
  it('leaves a draft a draft', () => {
    const draft = buildPost({ draft: true })
    expect(edit({ timezone: 'Europe/Vienna' })(draft, T0)).toMatchObject({ status: 'DRAFT', timezone: 'Europe/Vienna' })
  })

  it.each([
    ['PENDING', undefined, 'PENDING'],
    ['SCHEDULED', after(T0, 90_000), 'SCHEDULED'],
    ['PENDING', after(T0, 90_000), 'SCHEDULED'],
    ['SCHEDULED', after(T0, -90_000), 'PENDING'],
  ] as const)('publishes a draft with status %s by its time, and resets createdAt', (status, scheduledAt, expected) => {
    const draft = buildPost({ draft: true }, after(T0, -3_600_000))
    const post = edit({ status, ...(scheduledAt ? { scheduledAt } : {}) })(draft, T0)
    expect(post).toMatchObject({ status: expected, createdAt: T0 })
  })

  it('keeps the time of a scheduled post that gets other words, and counts the content version up', () => {
    const post = buildPost({ scheduledAt: after(T0, 60_000) })
    const edited = edit({ content: { text: 'Other', mediaItems: [] } })(post, T0)
    expect(edited).toMatchObject({
      status: 'SCHEDULED',
      dueAt: post.dueAt,
      contentVersion: 1,
      createdAt: post.createdAt,
    })
  })

  it('takes null as "now" for a scheduled post', () => {
    const post = buildPost({ scheduledAt: after(T0, 60_000) })
    expect(edit({ scheduledAt: null })(post, T0)).toMatchObject({ status: 'PENDING', dueAt: T0, scheduledAt: null })
  })

  it('gives added platforms an entry and forgets removed ones', () => {
    const post = buildPost({ selectedPlatforms: ['bluesky', 'threads'] })
    const edited = edit({ selectedPlatforms: ['threads', 'tumblr'] })(post, T0)
    expect(edited.platformStatuses.map(({ platform }) => platform)).toEqual(['threads', 'tumblr'])
  })

  it('gives a post that was put off all its tries again, and keeps what the platform asked to wait', () => {
    const wait = { at: after(T0, 1_000), countsAsTry: true }
    const putOff = apply(buildPost(), defer('bluesky', busy, { round: 0, attempt: 0 }, wait))
    const { delivery } = edit({ content: { text: 'Other', mediaItems: [] } })(putOff, T0).platformStatuses[0]!
    expect(delivery).toMatchObject({ tries: 0, nextAttemptAt: wait.at })
  })

  it.each([
    ['a claimed post', () => claimed(buildPost()).post, {}],
    ['a cancelled post', () => apply(buildPost(), cancel()), {}],
    ['an ended post', () => failedPost(), {}],
    ['a scheduled post back to DRAFT', () => buildPost({ scheduledAt: after(T0, 1_000) }), { status: 'DRAFT' }],
  ] as const)('refuses %s with 409', (_name, build, change) => {
    expect(() => edit(change)(build(), T0)).toThrow(
      expect.objectContaining({ code: 'POST_NOT_EDITABLE', message: 'Post can no longer be edited' }),
    )
  })
})

describe('cancel', () => {
  it.each([
    ['PENDING', buildPost()],
    ['SCHEDULED', buildPost({ scheduledAt: after(T0, 60_000) })],
  ])('ends a %s post', (_status, post) => {
    expect(cancel()(post, T0)).toMatchObject({ status: 'CANCELLED', platformStatuses: [{ status: 'pending' }] })
  })

  it.each([
    ['DRAFT', () => buildPost({ draft: true })],
    ['PROCESSING', () => claimed(buildPost()).post],
    ['FAILED', () => failedPost()],
    ['CANCELLED', () => apply(buildPost(), cancel())],
  ])('loses against a post that is %s', (_status, build) => {
    expect(() => cancel()(build(), T0)).toThrow('Post not found, unauthorized, or not in a cancellable state')
  })

  it('still wins while a platform only asks to wait', () => {
    const waiting = apply(
      buildPost(),
      defer('bluesky', busy, { round: 0, attempt: 0 }, { at: after(T0, 1_000), countsAsTry: true }),
    )
    expect(waiting.status).toBe('PENDING')
    expect(cancel()(waiting, T0).status).toBe('CANCELLED')
  })
})

describe('claim', () => {
  it('moves PENDING and SCHEDULED to PROCESSING, counts the attempt and fixes key and instant', () => {
    const { post } = claimed(buildPost())
    expect(post.status).toBe('PROCESSING')
    expect(findEntry(post, 'bluesky')).toMatchObject({
      status: 'processing',
      attemptCount: 1,
      lastAttemptAt: T0,
      delivery: { startedAt: T0, attempt: 1, leaseUntil: after(T0, 10_000) },
    })
  })

  it('keeps the first key and instant when it is repeated', () => {
    const first = claimed(buildPost())
    const { key, startedAt } = findEntry(first.post, 'bluesky')!.delivery
    const later = after(T0, 5_000)
    const waiting = defer('bluesky', busy, first.from, { at: later, countsAsTry: true })(first.post, T0)
    const second = claimOf(waiting, 'bluesky', later)(waiting, later)
    expect(findEntry(second, 'bluesky')).toMatchObject({ attemptCount: 2, delivery: { key, startedAt, attempt: 2 } })
  })

  function refusal(move: Move, post: Post, now = T0): string {
    try {
      move(post, now)
    } catch (error) {
      if (error instanceof ClaimRefused) return error.reason
      throw error
    }
    return 'given'
  }

  it('is never given early', () => {
    const post = buildPost({ scheduledAt: after(T0, 1_000) })
    expect(refusal(claimOf(post, 'bluesky', T0), post, after(T0, 999))).toBe('not-due')
    expect(refusal(claimOf(post, 'bluesky', T0), post, after(T0, 1_000))).toBe('given')
  })

  it('is given to one at a time, and after a lapsed lease only when the doubt is settled', () => {
    const { post, from } = claimed(buildPost())
    expect(refusal(claimOf(post, 'bluesky', T0), post, after(T0, 9_999))).toBe('leased')
    expect(refusal(claimOf(post, 'bluesky', T0), post, after(T0, 10_000))).toBe('in-doubt')
    const settled = markAbsent('bluesky', from)(post, after(T0, 10_000))
    expect(refusal(claimOf(settled, 'bluesky', T0), settled, after(T0, 10_000))).toBe('given')
  })

  it('is not given for content that was changed, before a stated wait ends, or for a post that is over', () => {
    const post = buildPost()
    const edited = edit({ content: { text: 'Other', mediaItems: [] } })(post, T0)
    expect(refusal(claimOf(post, 'bluesky', T0), edited)).toBe('stale')
    const waiting = apply(
      post,
      defer('bluesky', busy, { round: 0, attempt: 0 }, { at: after(T0, 1), countsAsTry: false }),
    )
    expect(refusal(claimOf(waiting, 'bluesky', T0), waiting)).toBe('not-yet')
    const over = apply(post, cancel())
    expect(refusal(claimOf(over, 'bluesky', T0), over)).toBe('not-deliverable')
    expect(refusal(claimOf(post, 'threads', T0), post)).toBe('not-deliverable')
  })

  it('is not given to an attempt of an earlier round', () => {
    const again = apply(failedPost(), retry())
    const late = claim('bluesky', { round: 0, key: 'k', leaseUntil: after(T0, 1), accountId: 'a', contentVersion: 0 })
    expect(refusal(late, again)).toBe('not-deliverable')
  })
})

describe('the end of deliveries (spec section 3)', () => {
  const both: Platform[] = ['bluesky', 'threads']

  it.each([
    [['completed', 'completed'], 'COMPLETED'],
    [['completed', 'deleted'], 'COMPLETED'],
    [['completed', 'failed'], 'PARTIAL_SUCCESS'],
    [['deleted', 'failed'], 'PARTIAL_SUCCESS'],
    [['failed', 'failed'], 'FAILED'],
    [['completed', 'pending'], 'PROCESSING'],
    [['failed', 'processing'], 'PROCESSING'],
  ] as const)('rolls %j up to %s', (statuses, expected) => {
    expect(rollUp(statuses.map((status) => ({ status })))).toBe(expected)
  })

  it('records what the platform accepted', () => {
    const { post } = claimed(buildPost())
    const done = accept('bluesky', published)(post, after(T0, 100))
    expect(done.status).toBe('COMPLETED')
    expect(done.platformStatuses[0]).toMatchObject({
      status: 'completed',
      ...published,
      completedAt: after(T0, 100),
      error: null,
    })
  })

  it('says why it waits until the next attempt begins', () => {
    const { post, from } = claimed(buildPost())
    const limited = { code: 'rate_limited', message: 'Slow down', platformReason: { code: '429', text: 'No' } } as const
    const waiting = apply(post, defer('bluesky', limited, from, { at: after(T0, 5_000), countsAsTry: false }))
    const cause = { error: 'Slow down', errorCode: 'rate_limited', platformReason: limited.platformReason }
    expect(waiting.platformStatuses[0]).toMatchObject({ status: 'pending', ...cause })
    const again = claimed(waiting, 'bluesky', after(T0, 5_000)).post
    const none = { error: null, errorCode: null, platformReason: null }
    expect(again.platformStatuses[0]).toMatchObject({ status: 'processing', ...none })
    const unknown = apply(post, markUnknown('bluesky', { code: 'OUTCOME_UNKNOWN', message: 'No answer' }, from))
    expect(unknown.platformStatuses[0]).toMatchObject({ status: 'processing', error: 'No answer' })
    expect(apply(unknown, markAbsent('bluesky', from)).platformStatuses[0]).toMatchObject(none)
  })

  it('records why the platform refused', () => {
    expect(failedPost()).toMatchObject({
      status: 'FAILED',
      platformStatuses: [
        { status: 'failed', error: 'The platform refused the text', errorCode: 'validation', attemptCount: 1 },
      ],
    })
  })

  it('is PARTIAL_SUCCESS when one of two failed', () => {
    const first = claimed(buildPost({ selectedPlatforms: both }), 'bluesky')
    const second = claimed(apply(first.post, accept('bluesky', published)), 'threads')
    expect(apply(second.post, refuse('threads', rejected, second.from)).status).toBe('PARTIAL_SUCCESS')
  })

  it('lets a fact win over a recorded failure, and never the other way round', () => {
    const { post, from } = claimed(buildPost())
    const failed = apply(post, refuse('bluesky', rejected, from))
    const done = apply(failed, accept('bluesky', published))
    expect(done).toMatchObject({
      status: 'COMPLETED',
      platformStatuses: [{ status: 'completed', error: null, errorCode: null }],
    })
    expect(apply(done, refuse('bluesky', rejected, from), giveUp('bluesky', rejected, 0))).toBe(done)
  })

  it('hears nothing from attempts that were overtaken', () => {
    const first = claimed(buildPost())
    const later = after(T0, 20_000)
    const settled = markAbsent('bluesky', first.from)(first.post, later)
    const second = claimOf(settled, 'bluesky', later)(settled, later)
    expect(refuse('bluesky', rejected, first.from)(second, later)).toBe(second)
    expect(markUnknown('bluesky', rejected, first.from)(second, later)).toBe(second)
  })

  it('does not fail a post before its instant', () => {
    const post = buildPost({ scheduledAt: after(T0, 1_000) })
    expect(() => refuse('bluesky', rejected, { round: 0, attempt: 0 })(post, T0)).toThrow(ClaimRefused)
  })

  it.each([
    ['completed', () => apply(claimed(buildPost()).post, accept('bluesky', published))],
    ['failed', () => failedPost()],
    ['processing', () => claimed(buildPost()).post],
    ['pending', () => apply(failedPost(), retry())],
  ])('marks a platform deleted that is %s, for good', (status, build) => {
    const post = build()
    expect(findEntry(post, 'bluesky')!.status).toBe(status)
    const gone = apply(post, markDeleted('bluesky'))
    expect(gone).toMatchObject({ status: 'COMPLETED', platformStatuses: [{ status: 'deleted' }] })
    expect(apply(gone, accept('bluesky', published))).toBe(gone)
  })

  it('deletes nothing of a post whose delivery never began', () => {
    for (const post of [buildPost({ draft: true }), buildPost(), apply(buildPost(), cancel())]) {
      expect(apply(post, markDeleted('bluesky'))).toBe(post)
    }
  })
})

describe('retry (spec section 3)', () => {
  it('resets failed entries to pending and the post to PROCESSING in one write', () => {
    const post = apply(failedPost(['bluesky', 'threads']), retry())
    expect(post).toMatchObject({
      status: 'PROCESSING',
      platformStatuses: [
        { status: 'pending', error: null, errorCode: null, attemptCount: 1, delivery: { round: 1, tries: 0 } },
        { status: 'pending' },
      ],
    })
  })

  it('leaves what was accepted alone', () => {
    const first = claimed(buildPost({ selectedPlatforms: ['bluesky', 'threads'] }), 'bluesky')
    const second = claimed(apply(first.post, accept('bluesky', published)), 'threads')
    const again = apply(second.post, refuse('threads', rejected, second.from), retry())
    expect(again.platformStatuses.map(({ status }) => status)).toEqual(['completed', 'pending'])
  })

  it('makes a new key after definite refusals, and keeps the old one when a call may have been accepted', () => {
    const refused = failedPost()
    expect(findEntry(apply(refused, retry()), 'bluesky')!.delivery).toMatchObject({ key: null, startedAt: null })

    const { post } = claimed(buildPost())
    const { key, startedAt } = findEntry(post, 'bluesky')!.delivery
    const doubtful = apply(post, giveUp('bluesky', rejected, 0))
    expect(findEntry(doubtful, 'bluesky')).toMatchObject({ status: 'failed', errorCode: 'OUTCOME_UNKNOWN' })
    expect(findEntry(apply(doubtful, retry()), 'bluesky')!.delivery).toMatchObject({
      key,
      startedAt,
      outcome: 'unknown',
    })
  })

  it('refuses when nothing failed, in every state', () => {
    for (const post of [
      buildPost(),
      buildPost({ draft: true }),
      claimed(buildPost()).post,
      apply(buildPost(), cancel()),
    ]) {
      expect(() => retry()(post, T0)).toThrow(
        expect.objectContaining({ statusCode: 400, message: 'No failed platforms to retry' }),
      )
    }
  })

  it('refuses with 409 while another platform is still being delivered', () => {
    const { post, from } = claimed(buildPost({ selectedPlatforms: ['bluesky', 'threads'] }))
    expect(() => retry()(apply(post, refuse('bluesky', rejected, from)), T0)).toThrow(
      expect.objectContaining({ statusCode: 409 }),
    )
  })
})

describe('waits', () => {
  it(`fails after ${MAX_TRIES} definite failures, and not after any number of stated waits`, () => {
    const deferOnce = (post: Post, countsAsTry: boolean) => {
      const { post: next, from } = claimed(post)
      return apply(next, defer('bluesky', busy, from, { at: T0, countsAsTry }))
    }
    let post = buildPost()
    for (let wait = 0; wait < 20; wait++) post = deferOnce(post, false)
    for (let attempt = 1; attempt < MAX_TRIES; attempt++) post = deferOnce(post, true)
    expect(findEntry(post, 'bluesky')!.status).toBe('pending')
    expect(findEntry(deferOnce(post, true), 'bluesky')).toMatchObject({ status: 'failed', errorCode: 'transient' })
  })

  it('looks for an unknown outcome after growing waits, then tells that it is unknown', () => {
    const { post: begun, from } = claimed(buildPost())
    let post = begun
    let now = T0
    for (const wait of RECONCILE_WAITS_MS) {
      post = markUnknown('bluesky', busy, from)(post, now)
      expect(findEntry(post, 'bluesky')).toMatchObject({
        status: 'processing',
        delivery: { nextAttemptAt: after(now, wait) },
      })
      now = after(now, wait)
    }
    post = markUnknown('bluesky', busy, from)(post, now)
    expect(post).toMatchObject({ status: 'FAILED', platformStatuses: [{ errorCode: 'OUTCOME_UNKNOWN' }] })
  })
})

describe('prepared handles', () => {
  const prepared = { round: 0, accountId: 'a', contentVersion: 0, name: 'blob', value: '1' }

  it('belong to one account and one content', () => {
    const post = apply(buildPost(), saveCheckpoint('bluesky', prepared))
    const { delivery } = findEntry(post, 'bluesky')!
    expect(selectHandles(delivery, 'a', 0)).toEqual({ blob: '1' })
    expect(selectHandles(delivery, 'b', 0)).toEqual({})
    expect(selectHandles(delivery, 'a', 1)).toEqual({})
    const other = apply(post, saveCheckpoint('bluesky', { ...prepared, accountId: 'b', name: 'facets' }))
    expect(findEntry(other, 'bluesky')!.delivery.handles).toEqual({ facets: '1' })
  })

  it('of other words or another account do not survive a claim', () => {
    const post = apply(buildPost(), saveCheckpoint('bluesky', { ...prepared, accountId: 'did:plc:someone' }))
    expect(findEntry(claimed(post).post, 'bluesky')!.delivery.handles).toEqual({ blob: '1' })
    const edited = edit({ content: { text: 'Other', mediaItems: [] } })(post, T0)
    expect(findEntry(claimed(edited).post, 'bluesky')!.delivery.handles).toEqual({})
    const foreign = apply(buildPost(), saveCheckpoint('bluesky', prepared))
    expect(findEntry(claimed(foreign).post, 'bluesky')!.delivery.handles).toEqual({})
  })

  it('cannot be saved for words that were changed meanwhile, nor for another account while a call is in doubt', () => {
    const edited = edit({ content: { text: 'Other', mediaItems: [] } })(buildPost(), T0)
    expect(() => apply(edited, saveCheckpoint('bluesky', prepared))).toThrow(ClaimRefused)
    const { post } = claimed(buildPost())
    expect(() => apply(post, saveCheckpoint('bluesky', { ...prepared, accountId: 'b' }))).toThrow(ClaimRefused)
  })
})
