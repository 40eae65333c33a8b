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
  reconcileNow,
  refuse,
  saveCheckpoint,
} from '../../../../src/domain/posts/delivery-moves.ts'
import {
  findEntry,
  findNextAttempt,
  mayTakeEffect,
  selectHandles,
  rollUp,
} from '../../../../src/domain/posts/post-entries.ts'
import { cancel, canTransferAllowance, copyAsDraft, edit, retry } from '../../../../src/domain/posts/post-moves.ts'
import type { AttemptRef, Move, Post } from '../../../../src/domain/posts/post.ts'
import type { Platform } from '../../../../src/domain/shared/platforms.ts'
import { after, buildPost, buildClaim, T0 } from '../../../support/posts.ts'

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
  const next = buildClaim(post, platform, now)(post, now)
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

describe('a new post', () => {
  it('a post saved as a draft is DRAFT and never due', () => {
    expect(buildPost({ draft: true, scheduledAt: after(T0, 60_000) })).toMatchObject({ status: 'DRAFT', dueAt: null })
  })

  it('a copy of a post is a draft with its content and without its schedule', () => {
    const post = buildPost({ scheduledAt: after(T0, 60_000), correlationId: 'request-1' })
    expect(copyAsDraft(post, { _id: 'post-2', metadata: { source: 'api', client: 'api' } }, T0)).toMatchObject({
      _id: 'post-2',
      status: 'DRAFT',
      content: post.content,
      scheduledAt: null,
      dueAt: null,
      correlationId: null,
    })
  })

  it('a post without a time is PENDING and due immediately', () => {
    expect(buildPost()).toMatchObject({ status: 'PENDING', dueAt: T0, scheduledAt: null })
  })

  it('a post with a future time is SCHEDULED and marked for a workflow start', () => {
    const scheduledAt = after(T0, 60_000)
    expect(buildPost({ scheduledAt })).toMatchObject({ status: 'SCHEDULED', dueAt: scheduledAt, startPending: true })
  })

  it('a past time means now and is stored as null', () => {
    expect(buildPost({ scheduledAt: after(T0, -1) })).toMatchObject({ status: 'PENDING', dueAt: T0, scheduledAt: null })
  })

  it('an immediate post with a hold is PENDING, due at its end, and marked for a workflow start', () => {
    const held = { status: 'PENDING', scheduledAt: null, dueAt: after(T0, 30_000), startPending: true }
    expect(buildPost({ holdSeconds: 30 })).toMatchObject(held)
    expect(buildPost({ holdSeconds: 30, scheduledAt: after(T0, -1) })).toMatchObject(held)
    expect(buildPost({ holdSeconds: 0 })).toEqual({
      ...buildPost(),
      _id: expect.any(String),
      userId: expect.any(String),
    })
  })

  it('a hold delays neither a scheduled post nor a draft', () => {
    const scheduledAt = after(T0, 5_000)
    expect(buildPost({ holdSeconds: 30, scheduledAt })).toMatchObject({ status: 'SCHEDULED', dueAt: scheduledAt })
    expect(buildPost({ holdSeconds: 30, draft: true })).toMatchObject({ status: 'DRAFT', dueAt: null })
  })
})

describe('edit', () => {
  it('editing a draft keeps it a draft', () => {
    const draft = buildPost({ draft: true })
    expect(edit({ timezone: 'Europe/Vienna' })(draft, T0)).toMatchObject({ status: 'DRAFT', timezone: 'Europe/Vienna' })
  })

  it.each([
    ['PENDING', undefined, 'PENDING'],
    ['SCHEDULED', after(T0, 90_000), 'SCHEDULED'],
    ['PENDING', after(T0, 90_000), 'SCHEDULED'],
    ['SCHEDULED', after(T0, -90_000), 'PENDING'],
  ] as const)(
    'editing a draft with status %s publishes it by its time and resets createdAt',
    (status, scheduledAt, expected) => {
      const draft = buildPost({ draft: true }, after(T0, -3_600_000))
      const post = edit({ status, ...(scheduledAt ? { scheduledAt } : {}) })(draft, T0)
      expect(post).toMatchObject({ status: expected, createdAt: T0 })
    },
  )

  it('editing the text of a scheduled post keeps its time and increments the content version', () => {
    const post = buildPost({ scheduledAt: after(T0, 60_000) })
    const edited = edit({ content: { text: 'Other', mediaItems: [] } })(post, T0)
    expect(edited).toMatchObject({
      status: 'SCHEDULED',
      dueAt: post.dueAt,
      contentVersion: 1,
      createdAt: post.createdAt,
    })
  })

  it('scheduledAt null publishes a scheduled post now', () => {
    const post = buildPost({ scheduledAt: after(T0, 60_000) })
    expect(edit({ scheduledAt: null })(post, T0)).toMatchObject({ status: 'PENDING', dueAt: T0, scheduledAt: null })
  })

  it.each([
    ['a draft that is published', { draft: true }, { status: 'PENDING' }],
    ['a scheduled post that is published now', { scheduledAt: after(T0, 60_000) }, { scheduledAt: null }],
  ] as const)('%s waits for the hold of the request, else for the default one', (_name, fields, change) => {
    const post = buildPost(fields)
    expect(edit(change, 20)(post, T0)).toMatchObject({ status: 'PENDING', dueAt: after(T0, 20_000) })
    expect(edit({ ...change, holdSeconds: 5 }, 20)(post, T0)).toMatchObject({ dueAt: after(T0, 5_000) })
    expect(edit({ ...change, holdSeconds: 0 }, 20)(post, T0)).toMatchObject({ dueAt: T0 })
  })

  it('an edit during the hold keeps its end, unless the request has a hold of its own', () => {
    const post = buildPost({ holdSeconds: 30 })
    const now = after(T0, 10_000)
    const content = { text: 'Other', mediaItems: [] }
    expect(edit({ content, scheduledAt: null }, 60)(post, now)).toMatchObject({ dueAt: post.dueAt, contentVersion: 1 })
    expect(edit({ holdSeconds: 60 })(post, now)).toMatchObject({ status: 'PENDING', dueAt: after(now, 60_000) })
    expect(edit({ holdSeconds: 0 })(post, now)).toMatchObject({ status: 'PENDING', dueAt: now })
  })

  it('a hold does not move a scheduled post', () => {
    const post = buildPost({ scheduledAt: after(T0, 60_000) })
    expect(edit({ holdSeconds: 30 })(post, T0)).toMatchObject({ status: 'SCHEDULED', dueAt: post.dueAt })
  })

  it('editing the time zone or the text keeps the stored time', () => {
    const scheduledAt = after(T0, 60_000)
    const post = buildPost({ scheduledAt })
    for (const change of [{ timezone: 'Europe/Vienna' }, { content: { text: 'Other', mediaItems: [] } }]) {
      expect(edit(change)(post, after(T0, 5))).toMatchObject({ status: 'SCHEDULED', scheduledAt, dueAt: scheduledAt })
    }
  })

  it('editing the platforms adds and removes entries', () => {
    const post = buildPost({ selectedPlatforms: ['bluesky', 'threads'] })
    const edited = edit({ selectedPlatforms: ['threads', 'tumblr'] })(post, T0)
    expect(edited.platformStatuses.map(({ platform }) => platform)).toEqual(['threads', 'tumblr'])
  })

  it('editing a deferred post resets its tries and keeps the wait that the platform requested', () => {
    const wait = { at: after(T0, 1_000), countsAsTry: true }
    const deferred = apply(buildPost(), defer('bluesky', busy, { round: 0, attempt: 0 }, wait))
    const { delivery } = edit({ content: { text: 'Other', mediaItems: [] } })(deferred, T0).platformStatuses[0]!
    expect(delivery).toMatchObject({ tries: 0, nextAttemptAt: wait.at })
  })

  it.each([
    ['a claimed post', () => claimed(buildPost()).post, {}],
    ['a cancelled post', () => apply(buildPost(), cancel()), {}],
    ['an ended post', () => failedPost(), {}],
    ['a scheduled post back to DRAFT', () => buildPost({ scheduledAt: after(T0, 1_000) }), { status: 'DRAFT' }],
  ] as const)('editing %s is rejected with 409', (_name, build, change) => {
    expect(() => edit(change)(build(), T0)).toThrow(
      expect.objectContaining({ code: 'POST_NOT_EDITABLE', message: 'Post can no longer be edited' }),
    )
  })
})

describe('a post that waits after a definite refusal', () => {
  const waitUntil = after(T0, 3_600_000)
  function waiting(platforms: Platform[] = ['bluesky']): Post {
    const { post, from } = claimed(buildPost({ selectedPlatforms: platforms }), platforms[0])
    return apply(post, defer(platforms[0]!, busy, from, { at: waitUntil, countsAsTry: false }))
  }

  it('a deferred post can be cancelled and edited although it was claimed, and an edited one makes its next call with another key', () => {
    const post = waiting()
    expect(post.status).toBe('PROCESSING')
    expect(cancel()(post, T0).status).toBe('CANCELLED')
    const edited = edit({ content: { text: 'Other', mediaItems: [] } })(post, T0)
    expect(edited).toMatchObject({ status: 'PROCESSING', content: { text: 'Other' }, startPending: true })
    expect(edited.platformStatuses[0]!.delivery).toMatchObject({ startedAt: null, nextAttemptAt: waitUntil })
    const keyOf = (called: Post) =>
      buildClaim(called, 'bluesky', waitUntil)(called, waitUntil).platformStatuses[0]!.delivery.key
    expect(keyOf(post)).toBe(post.platformStatuses[0]!.delivery.key)
    expect(keyOf(edited)).toBe(`${keyOf(post)}/1`)
    const moved = edit({ scheduledAt: after(T0, 60_000) })(post, T0)
    expect(moved).toMatchObject({ status: 'SCHEDULED', dueAt: after(T0, 60_000) })
    expect(claimed(moved, 'bluesky', waitUntil).post.platformStatuses[0]!.delivery.dueAt).toEqual(moved.dueAt)
  })

  it('a wait of one account ends when the post is moved to another one', () => {
    const post = waiting()
    const own = { ...post, platformStatuses: post.platformStatuses.map((one) => ({ ...one, accountId: 'first' })) }
    const chosen = [{ platform: 'bluesky' as const, accountId: 'second' }]
    expect(edit({ chosen })(own, T0).platformStatuses[0]!.delivery.nextAttemptAt).toBeNull()
  })

  it.each([
    ['another delivery is claimed', () => claimed(waiting(['bluesky', 'threads']), 'threads').post],
    [
      'another delivery was accepted',
      () => apply(claimed(waiting(['bluesky', 'threads']), 'threads').post, accept('threads', published)),
    ],
    [
      'an earlier call may have been accepted',
      () => {
        const { post, from } = claimed(buildPost())
        return apply(post, markUnknown('bluesky', busy, from), markAbsent('bluesky', from))
      },
    ],
  ])('a post can be neither cancelled nor edited when %s', (_case, build) => {
    expect(() => cancel()(build(), T0)).toThrow('not in a cancellable state')
    expect(() => edit({})(build(), T0)).toThrow('Post can no longer be edited')
  })

  describe('beside a delivery that failed', () => {
    const named = (post: Post): Post => ({
      ...post,
      platformStatuses: post.platformStatuses.map((one) => ({ ...one, accountId: `our-${one.platform}` })),
    })
    function besideFailed(): Post {
      const { post, from } = claimed(waiting(['bluesky', 'threads']), 'threads')
      return named(apply(post, refuse('threads', rejected, from)))
    }

    it('the failed one can be retried, and the waiting one keeps its turn', () => {
      const later = after(T0, 60_000)
      const retried = retry()(besideFailed(), later)
      expect(retried).toMatchObject({ status: 'PROCESSING', dueAt: later })
      expect(findEntry(retried, 'threads')).toMatchObject({ status: 'pending', delivery: { round: 1 } })
      const waits = findEntry(retried, 'bluesky')!
      expect(waits.delivery).toMatchObject({ round: 0, nextAttemptAt: waitUntil, turnDueAt: T0 })
      expect(findEntry(retried, 'threads')!.delivery).not.toHaveProperty('turnDueAt')
      expect(() => retry()(besideFailed(), waitUntil)).toThrow(expect.objectContaining({ statusCode: 409 }))
    })

    it('the waiting one alone can be given up', () => {
      const stopped = cancel(['our-bluesky', 'our-threads'])(besideFailed(), T0)
      expect(stopped.status).toBe('FAILED')
      expect(findEntry(stopped, 'bluesky')).toMatchObject({ status: 'failed', errorCode: 'CANCELLED' })
      expect(findEntry(stopped, 'threads')).toMatchObject({ status: 'failed', errorCode: 'validation' })
      expect(findEntry(retry(['our-bluesky'])(stopped, T0), 'bluesky')!.status).toBe('pending')
      expect(() => cancel(['our-threads'])(besideFailed(), T0)).toThrow('not in a cancellable state')
      expect(() =>
        cancel(['our-bluesky'])(named(buildPost({ selectedPlatforms: ['bluesky', 'threads'] })), T0),
      ).toThrow('not in a cancellable state')
    })

    it('the next attempt of the post is that of the delivery that waits', () => {
      expect(findNextAttempt(besideFailed(), T0)).toEqual(waitUntil)
      expect(findNextAttempt(retry()(besideFailed(), T0), T0)).toBeNull()
      expect(findNextAttempt(failedPost(), T0)).toBeNull()
    })
  })
})

describe('cancel', () => {
  it.each([
    ['PENDING', buildPost()],
    ['SCHEDULED', buildPost({ scheduledAt: after(T0, 60_000) })],
  ])('a %s post can be cancelled', (_status, post) => {
    expect(cancel()(post, T0)).toMatchObject({
      status: 'CANCELLED',
      startPending: false,
      platformStatuses: [{ status: 'pending' }],
    })
  })

  it.each([
    ['DRAFT', () => buildPost({ draft: true })],
    ['PROCESSING', () => claimed(buildPost()).post],
    ['FAILED', () => failedPost()],
    ['CANCELLED', () => apply(buildPost(), cancel())],
  ])('a post that is %s cannot be cancelled', (_status, build) => {
    expect(() => cancel()(build(), T0)).toThrow('Post not found, unauthorized, or not in a cancellable state')
  })

  it('a post can be cancelled while a platform requests a wait', () => {
    const waiting = apply(
      buildPost(),
      defer('bluesky', busy, { round: 0, attempt: 0 }, { at: after(T0, 1_000), countsAsTry: true }),
    )
    expect(waiting.status).toBe('PENDING')
    expect(cancel()(waiting, T0).status).toBe('CANCELLED')
  })
})

describe('claim', () => {
  it('a claim moves a post to PROCESSING, counts the attempt, and sets the key and its times', () => {
    const dueAt = after(T0, -60_000)
    const { post } = claimed({ ...buildPost(), _id: 'p1', dueAt })
    expect(post.status).toBe('PROCESSING')
    expect(findEntry(post, 'bluesky')).toMatchObject({
      status: 'processing',
      attemptCount: 1,
      lastAttemptAt: T0,
      delivery: { key: 'p1/bluesky/0', dueAt, startedAt: T0, attempt: 1, leaseUntil: after(T0, 10_000) },
    })
  })

  it('a repeated claim keeps the first key and its times', () => {
    const first = claimed(buildPost())
    const { key, dueAt, startedAt } = findEntry(first.post, 'bluesky')!.delivery
    const later = after(T0, 5_000)
    const waiting = defer('bluesky', busy, first.from, { at: later, countsAsTry: true })(first.post, T0)
    const second = buildClaim(waiting, 'bluesky', later)({ ...waiting, dueAt: later }, later)
    expect(findEntry(second, 'bluesky')).toMatchObject({
      attemptCount: 2,
      delivery: { key, dueAt, startedAt, attempt: 2 },
    })
  })

  /** Returns why a claim is refused, or `granted`. */
  function tryClaim(move: Move, post: Post, now = T0): string {
    try {
      move(post, now)
    } catch (error) {
      if (error instanceof ClaimRefused) return error.reason
      throw error
    }
    return 'granted'
  }

  it('a claim is never granted before the post is due', () => {
    const post = buildPost({ scheduledAt: after(T0, 1_000) })
    expect(tryClaim(buildClaim(post, 'bluesky', T0), post, after(T0, 999))).toBe('not-due')
    expect(tryClaim(buildClaim(post, 'bluesky', T0), post, after(T0, 1_000))).toBe('granted')
  })

  it('a claim is exclusive, and after an expired lease it requires reconciliation', () => {
    const { post, from } = claimed(buildPost())
    expect(tryClaim(buildClaim(post, 'bluesky', T0), post, after(T0, 9_999))).toBe('leased')
    expect(tryClaim(buildClaim(post, 'bluesky', T0), post, after(T0, 10_000))).toBe('in-doubt')
    const reconciled = markAbsent('bluesky', from)(post, after(T0, 10_000))
    expect(tryClaim(buildClaim(reconciled, 'bluesky', T0), reconciled, after(T0, 10_000))).toBe('granted')
  })

  it('a call without a response may take effect after it was found absent, for a limited time', () => {
    const { post, from } = claimed(buildPost())
    const absentAfter = (answered: boolean) => {
      const unknown = markUnknown('bluesky', busy, from, answered)(post, T0)
      return findEntry(markAbsent('bluesky', from)(unknown, after(T0, 2_000)), 'bluesky')!.delivery
    }
    expect([9_999, 10_000].map((ms) => mayTakeEffect(absentAfter(false), after(T0, ms), 10_000))).toEqual([true, false])
    expect(mayTakeEffect(absentAfter(true), after(T0, 1), 10_000)).toBe(false)
    expect(mayTakeEffect(findEntry(post, 'bluesky')!.delivery, after(T0, 1), 10_000)).toBe(false)
  })

  it('a claim is refused for edited content, during a requested wait and for an ended post', () => {
    const post = buildPost()
    const edited = edit({ content: { text: 'Other', mediaItems: [] } })(post, T0)
    expect(tryClaim(buildClaim(post, 'bluesky', T0), edited)).toBe('stale')
    const waiting = apply(
      post,
      defer('bluesky', busy, { round: 0, attempt: 0 }, { at: after(T0, 1), countsAsTry: false }),
    )
    expect(tryClaim(buildClaim(waiting, 'bluesky', T0), waiting)).toBe('not-yet')
    const cancelled = apply(post, cancel())
    expect(tryClaim(buildClaim(cancelled, 'bluesky', T0), cancelled)).toBe('not-deliverable')
    expect(tryClaim(buildClaim(post, 'threads', T0), post)).toBe('not-deliverable')
  })

  it('a claim of an earlier round is refused', () => {
    const retried = apply(failedPost(), retry())
    const earlierClaim = claim('bluesky', {
      round: 0,
      leaseUntil: after(T0, 1),
      accountId: 'a',
      contentVersion: 0,
    })
    expect(tryClaim(earlierClaim, retried)).toBe('not-deliverable')
  })
})

describe('the end of deliveries', () => {
  const both: Platform[] = ['bluesky', 'threads']

  it.each([
    [['completed', 'completed'], 'COMPLETED'],
    [['completed', 'deleted'], 'COMPLETED'],
    [['completed', 'failed'], 'PARTIAL_SUCCESS'],
    [['deleted', 'failed'], 'PARTIAL_SUCCESS'],
    [['failed', 'failed'], 'FAILED'],
    [['completed', 'pending'], 'PROCESSING'],
    [['failed', 'processing'], 'PROCESSING'],
  ] as const)('platform statuses %j roll up to %s', (statuses, expected) => {
    expect(rollUp(statuses.map((status) => ({ status })))).toBe(expected)
  })

  it('an accepted story ends a day after its last call, another post never', () => {
    const story = { ...buildPost({ selectedPlatforms: ['instagram'] }) }
    const content = { ...story.content, options: { instagram: { kind: 'story' as const } } }
    const { post } = claimed({ ...story, content }, 'instagram')
    const endOf = (from: Post) => accept('instagram', published)(from, after(T0, 100)).platformStatuses[0]!.endsAt
    const { lastAttemptAt } = post.platformStatuses[0]!
    expect(endOf(post)).toEqual(new Date(lastAttemptAt!.getTime() + 24 * 3_600_000))
    expect(endOf(claimed(story, 'instagram').post)).toBeUndefined()
  })

  it('an accepted post has its platform id and URL', () => {
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

  it('a deferred entry has its cause until the next attempt starts', () => {
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

  it('a refused entry has the reason of the platform', () => {
    expect(failedPost()).toMatchObject({
      status: 'FAILED',
      platformStatuses: [
        { status: 'failed', error: 'The platform refused the text', errorCode: 'validation', attemptCount: 1 },
      ],
    })
  })

  it('a post is PARTIAL_SUCCESS when one of two platforms failed', () => {
    const first = claimed(buildPost({ selectedPlatforms: both }), 'bluesky')
    const second = claimed(apply(first.post, accept('bluesky', published)), 'threads')
    expect(apply(second.post, refuse('threads', rejected, second.from)).status).toBe('PARTIAL_SUCCESS')
  })

  it('an acceptance replaces a recorded failure, and a failure never replaces an acceptance', () => {
    const { post, from } = claimed(buildPost())
    const failed = apply(post, refuse('bluesky', rejected, from))
    const done = apply(failed, accept('bluesky', published))
    expect(done).toMatchObject({
      status: 'COMPLETED',
      platformStatuses: [{ status: 'completed', error: null, errorCode: null }],
    })
    expect(apply(done, refuse('bluesky', rejected, from), giveUp('bluesky', rejected, 0))).toBe(done)
  })

  it('outcomes of superseded attempts are ignored', () => {
    const first = claimed(buildPost())
    const later = after(T0, 20_000)
    const reconciled = markAbsent('bluesky', first.from)(first.post, later)
    const second = buildClaim(reconciled, 'bluesky', later)(reconciled, later)
    expect(refuse('bluesky', rejected, first.from)(second, later)).toBe(second)
    expect(markUnknown('bluesky', rejected, first.from)(second, later)).toBe(second)
  })

  it('a failure before the claim counts as an attempt, and one after it was counted by the claim', () => {
    const unclaimed = buildPost()
    const refused = refuse('bluesky', rejected, { round: 0, attempt: 0 })(unclaimed, after(T0, 7))
    expect(refused.platformStatuses[0]).toMatchObject({ attemptCount: 1, lastAttemptAt: after(T0, 7) })
    const { post, from } = claimed(buildPost())
    const failed = refuse('bluesky', rejected, from)(post, after(T0, 7))
    expect(failed.platformStatuses[0]).toMatchObject({ attemptCount: 1, lastAttemptAt: T0 })
  })

  it('a lost activity fails its round, as unknown when a call may have been sent', () => {
    const unclaimed = giveUp('bluesky', rejected, 0)(buildPost(), T0)
    expect(unclaimed).toMatchObject({
      status: 'FAILED',
      platformStatuses: [{ errorCode: 'validation', delivery: { outcome: 'refused', hadUnknownOutcome: false } }],
    })
    const { post, from } = claimed(buildPost())
    const { leaseUntil } = findEntry(post, 'bluesky')!.delivery
    expect(leaseUntil).not.toBeNull()
    const unknown = { errorCode: 'OUTCOME_UNKNOWN', delivery: { outcome: 'unknown', hadUnknownOutcome: true } }
    expect(giveUp('bluesky', rejected, 0)(post, T0).platformStatuses[0]).toMatchObject({
      ...unknown,
      delivery: { ...unknown.delivery, leaseUntil },
    })
    const reconciling = apply(post, markUnknown('bluesky', busy, from))
    expect(giveUp('bluesky', rejected, 0)(reconciling, T0).platformStatuses[0]).toMatchObject(unknown)
    expect(giveUp('bluesky', rejected, 1)(post, T0)).toBe(post)
  })

  it('a post never fails before it is due', () => {
    const post = buildPost({ scheduledAt: after(T0, 1_000) })
    expect(() => refuse('bluesky', rejected, { round: 0, attempt: 0 })(post, T0)).toThrow(ClaimRefused)
  })

  it.each([
    ['completed', () => apply(claimed(buildPost()).post, accept('bluesky', published))],
    ['failed', () => failedPost()],
    ['processing', () => claimed(buildPost()).post],
    ['pending', () => apply(failedPost(), retry())],
  ])('a platform that is %s can be marked deleted permanently', (status, build) => {
    const post = build()
    expect(findEntry(post, 'bluesky')!.status).toBe(status)
    const gone = apply(post, markDeleted('bluesky'))
    expect(gone).toMatchObject({ status: 'COMPLETED', platformStatuses: [{ status: 'deleted' }] })
    expect(apply(gone, accept('bluesky', published))).toBe(gone)
  })

  it('a post without any claim cannot be marked deleted', () => {
    for (const post of [buildPost({ draft: true }), buildPost(), apply(buildPost(), cancel())]) {
      expect(apply(post, markDeleted('bluesky'))).toBe(post)
    }
  })
})

describe('retry', () => {
  it('a retry resets failed entries to pending and the post to PROCESSING', () => {
    const post = apply({ ...failedPost(['bluesky', 'threads']), startPending: false }, retry())
    expect(post).toMatchObject({
      status: 'PROCESSING',
      startPending: true,
      platformStatuses: [
        { status: 'pending', error: null, errorCode: null, attemptCount: 1, delivery: { round: 1, tries: 0 } },
        { status: 'pending' },
      ],
    })
  })

  it('a retry of an unknown outcome reconciles anew and may then repeat the call', () => {
    const { post, from } = claimed(buildPost())
    const unknown = apply(post, markUnknown('bluesky', busy, from))
    expect(findEntry(unknown, 'bluesky')!.delivery).toMatchObject({
      hadUnknownOutcome: true,
      answered: false,
      reconcileTries: 1,
    })
    const answered = apply(post, markUnknown('bluesky', busy, from, true))
    expect(findEntry(answered, 'bluesky')!.delivery.answered).toBe(true)
    const retried = apply(unknown, giveUp('bluesky', rejected, 0), retry())
    expect(findEntry(retried, 'bluesky')).toMatchObject({
      status: 'pending',
      delivery: { round: 1, outcome: 'unknown', repeatAllowed: true, reconcileTries: 0, tries: 0, nextAttemptAt: null },
    })
  })

  it('a retry does not change accepted entries', () => {
    const first = claimed(buildPost({ selectedPlatforms: ['bluesky', 'threads'] }), 'bluesky')
    const second = claimed(apply(first.post, accept('bluesky', published)), 'threads')
    const retried = apply(second.post, refuse('threads', rejected, second.from), retry())
    expect(retried.platformStatuses.map(({ status }) => status)).toEqual(['completed', 'pending'])
  })

  it('a retry uses a new key after a definite refusal and the old one when a call may have been accepted', () => {
    const refused = failedPost()
    const retried = apply(refused, retry())
    expect(findEntry(retried, 'bluesky')!.delivery).toMatchObject({ key: null, dueAt: null, startedAt: null })
    const repeated = findEntry(claimed(retried).post, 'bluesky')!.delivery.key
    expect(repeated).not.toBe(findEntry(refused, 'bluesky')!.delivery.key)

    const { post } = claimed(buildPost())
    const { key, startedAt } = findEntry(post, 'bluesky')!.delivery
    const unknown = apply(post, giveUp('bluesky', rejected, 0))
    expect(findEntry(unknown, 'bluesky')).toMatchObject({ status: 'failed', errorCode: 'OUTCOME_UNKNOWN' })
    expect(findEntry(apply(unknown, retry()), 'bluesky')!.delivery).toMatchObject({
      key,
      startedAt,
      outcome: 'unknown',
    })
  })

  it('a retry without a failed platform is rejected in every state', () => {
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

  it('a retry is rejected with 409 while another platform is being delivered', () => {
    const { post, from } = claimed(buildPost({ selectedPlatforms: ['bluesky', 'threads'] }))
    expect(() => retry()(apply(post, refuse('bluesky', rejected, from)), T0)).toThrow(
      expect.objectContaining({ statusCode: 409 }),
    )
  })
})

describe('an unknown outcome that cannot be searched for without a login', () => {
  it('the wait for the login costs no reconciliation, and ends when the account is connected again', () => {
    const { post, from } = claimed(buildPost())
    const own = { ...post, platformStatuses: post.platformStatuses.map((one) => ({ ...one, accountId: 'ours' })) }
    const held = apply(
      own,
      markUnknown('bluesky', busy, from, false),
      markUnknown('bluesky', busy, from, undefined, { at: after(T0, 60_000) }),
    )
    expect(findEntry(held, 'bluesky')!.delivery).toMatchObject({
      reconcileTries: 1,
      outcome: 'unknown',
      nextAttemptAt: after(T0, 60_000),
    })
    expect(reconcileNow(['another'])(held, T0)).toBe(held)
    const resumed = reconcileNow(['another', 'ours'])(held, T0)
    expect(resumed).toMatchObject({ status: 'PROCESSING', startPending: true })
    expect(findEntry(resumed, 'bluesky')!.delivery).toMatchObject({ outcome: 'unknown', nextAttemptAt: null })
    expect(reconcileNow(['ours'])(resumed, T0)).toBe(resumed)
  })
})

describe('waits', () => {
  it(`a delivery fails after ${MAX_TRIES} definite failures, but never because of requested waits`, () => {
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

  it('a failure before the post is due never counts as a try', () => {
    const post = buildPost({ scheduledAt: after(T0, 1_000) })
    const from = { round: 0, attempt: 0 }
    const at = after(T0, 500)
    const deferred = apply(post, defer('bluesky', busy, from, { at, countsAsTry: true }))
    expect(deferred).toMatchObject({
      status: 'SCHEDULED',
      platformStatuses: [{ status: 'pending', delivery: { tries: 0, outcome: 'none', nextAttemptAt: at } }],
    })
    const dueNow = defer('bluesky', busy, from, { at, countsAsTry: true })(post, after(T0, 1_000))
    expect(dueNow.platformStatuses[0]!.delivery.tries).toBe(1)
  })

  it('an unknown outcome is reconciled after growing waits and then fails as OUTCOME_UNKNOWN', () => {
    const { post: claimedPost, from } = claimed(buildPost())
    let post = claimedPost
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
  const prepared = { round: 0, attempt: 0, accountId: 'a', contentVersion: 0, name: 'blob', value: '1' }

  it('prepared handles belong to one account and one content version', () => {
    const post = apply(buildPost(), saveCheckpoint('bluesky', prepared))
    const { delivery } = findEntry(post, 'bluesky')!
    expect(selectHandles(delivery, 'a', 0)).toEqual({ blob: '1' })
    expect(selectHandles(delivery, 'b', 0)).toEqual({})
    expect(selectHandles(delivery, 'a', 1)).toEqual({})
    const other = apply(post, saveCheckpoint('bluesky', { ...prepared, accountId: 'b', name: 'facets' }))
    expect(findEntry(other, 'bluesky')!.delivery.handles).toEqual({ facets: '1' })
  })

  it('a claim drops prepared handles of other content or another account', () => {
    const post = apply(buildPost(), saveCheckpoint('bluesky', { ...prepared, accountId: 'did:plc:someone' }))
    expect(findEntry(claimed(post).post, 'bluesky')!.delivery.handles).toEqual({ blob: '1' })
    const edited = edit({ content: { text: 'Other', mediaItems: [] } })(post, T0)
    expect(findEntry(claimed(edited).post, 'bluesky')!.delivery.handles).toEqual({})
    const foreign = apply(buildPost(), saveCheckpoint('bluesky', prepared))
    expect(findEntry(claimed(foreign).post, 'bluesky')!.delivery.handles).toEqual({})
  })

  it('prepared handles are refused for edited content, and for another account while an outcome is unknown', () => {
    const edited = edit({ content: { text: 'Other', mediaItems: [] } })(buildPost(), T0)
    expect(() => apply(edited, saveCheckpoint('bluesky', prepared))).toThrow(ClaimRefused)
    const { post } = claimed(buildPost())
    expect(() => apply(post, saveCheckpoint('bluesky', { ...prepared, attempt: 1, accountId: 'b' }))).toThrow(
      'in-doubt',
    )
    expect(() => apply(failedPost(), saveCheckpoint('bluesky', prepared))).toThrow(ClaimRefused)
    expect(() => apply(buildPost(), saveCheckpoint('tumblr', prepared))).toThrow(ClaimRefused)
  })

  it('an attempt cannot replace what the claim of another attempt has prepared', () => {
    const own = { ...prepared, accountId: 'did:plc:someone' }
    const { post } = claimed(apply(buildPost(), saveCheckpoint('bluesky', own)))
    expect(() => apply(post, saveCheckpoint('bluesky', { ...own, value: '2' }))).toThrow('leased')
    const saved = apply(post, saveCheckpoint('bluesky', { ...own, attempt: 1, value: '3' }))
    expect(findEntry(saved, 'bluesky')!.delivery.handles).toEqual({ blob: '3' })
  })
})

describe('canTransferAllowance', () => {
  it('a post that ended without reaching a platform gives its allowance to one duplicate', () => {
    expect(canTransferAllowance(failedPost())).toBe(true)
    expect(canTransferAllowance(apply(buildPost(), cancel()))).toBe(true)
    expect(canTransferAllowance({ ...failedPost(), allowanceMovedTo: 'post-2' })).toBe(false)
  })

  it('a post that is open or reached a platform keeps its allowance', () => {
    const { post, from } = claimed(buildPost())
    const unknown = RECONCILE_WAITS_MS.reduce((open) => apply(open, markUnknown('bluesky', busy, from)), post)
    const failedUnknown = apply(unknown, markUnknown('bluesky', busy, from))
    expect(failedUnknown.status).toBe('FAILED')
    const completed = apply(post, accept('bluesky', published))
    for (const untransferable of [buildPost(), buildPost({ draft: true }), post, completed, failedUnknown]) {
      expect(canTransferAllowance(untransferable)).toBe(false)
    }
  })
})
