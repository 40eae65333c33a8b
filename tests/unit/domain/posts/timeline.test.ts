import { expect, it } from 'vitest'
import {
  accept,
  defer,
  giveUp,
  markAbsent,
  markDeleted,
  markUnknown,
  RECONCILE_WAITS_MS,
  refuse,
} from '../../../../src/domain/posts/delivery-moves.ts'
import { failure } from '../../../../src/domain/posts/failure.ts'
import { createDelivery, findOutdatedHandles } from '../../../../src/domain/posts/post-entries.ts'
import { cancel, edit, retry, type PostChange } from '../../../../src/domain/posts/post-moves.ts'
import type { Move, Post } from '../../../../src/domain/posts/post.ts'
import { createFirstEvent, deriveEvents, sortByTime } from '../../../../src/domain/posts/timeline.ts'
import { after, buildPost, buildClaim, T0 } from '../../../support/posts.ts'

const FROM = { round: 0, attempt: 1 }
const REASON = failure('transient', 'The platform is down.')
const claimed = () => {
  const post = buildPost()
  return buildClaim(post, 'bluesky', T0)(post, T0)
}
const typesOf = (before: Post, afterwards: Post) =>
  deriveEvents(before, afterwards, T0).map(({ type, result, status }) => [type, result ?? status])

it('a timeline starts with the status of the new post', () => {
  const post = buildPost()
  expect(createFirstEvent(post)).toEqual({ at: T0, type: 'transition', status: 'PENDING' })
})

it('the timeline says until when an immediate post waits', () => {
  const draft = buildPost({ draft: true })
  const held = buildPost({ holdSeconds: 30 })
  const until = after(T0, 30_000)
  expect(createFirstEvent(held)).toEqual({ at: T0, type: 'transition', status: 'PENDING', until })
  expect(deriveEvents(draft, edit({ status: 'PENDING' }, 30)(draft, T0), T0)).toEqual([
    { at: T0, type: 'transition', status: 'PENDING', until },
  ])
  expect(deriveEvents(held, edit({ holdSeconds: 60 })(held, T0), T0)).toEqual([
    { at: T0, type: 'edit', until: after(T0, 60_000) },
  ])
  expect(deriveEvents(held, cancel()(held, T0), T0)).toEqual([{ at: T0, type: 'transition', status: 'CANCELLED' }])
})

it('a claim is an attempt and a transition', () => {
  const post = buildPost()
  expect(typesOf(post, buildClaim(post, 'bluesky', T0)(post, T0))).toEqual([
    ['attempt', undefined],
    ['transition', 'PROCESSING'],
  ])
})

it('a refusal and an unknown outcome have different results', () => {
  const post = claimed()
  const refused = refuse('bluesky', REASON, FROM)(post, T0)
  expect(typesOf(post, refused)).toEqual([
    ['outcome', 'refused'],
    ['transition', 'FAILED'],
  ])
  const unknown = markUnknown('bluesky', REASON, FROM)(post, T0)
  expect(typesOf(post, unknown)).toEqual([['outcome', 'unknown']])
  expect(deriveEvents(post, unknown, T0)[0]).toMatchObject({
    code: 'transient',
    until: after(T0, RECONCILE_WAITS_MS[0]!),
  })
})

it('an acceptance completes the post', () => {
  const post = claimed()
  const accepted = accept('bluesky', { platformPostId: '1', platformPostUrl: 'http://p/1' })(post, T0)
  expect(typesOf(post, accepted)).toEqual([
    ['outcome', 'accepted'],
    ['transition', 'COMPLETED'],
  ])
})

it('a change of an ended delivery other than its status is no outcome', () => {
  const failed = refuse('bluesky', REASON, FROM)(claimed(), T0)
  const completed = accept('bluesky', { platformPostId: '1', platformPostUrl: 'http://p/1' })(claimed(), T0)
  for (const post of [failed, completed]) {
    const [entry] = post.platformStatuses
    const changed = { ...entry!, delivery: { ...entry!.delivery, leaseUntil: T0 } }
    expect(deriveEvents(post, { ...post, platformStatuses: [changed] }, T0)).toEqual([])
  }
})

it('a deleted post and a retry are events of their platform', () => {
  const completed = accept('bluesky', { platformPostId: '1', platformPostUrl: 'http://p/1' })(claimed(), T0)
  expect(typesOf(completed, markDeleted('bluesky')(completed, T0))).toEqual([['outcome', 'deleted']])
  const failed = refuse('bluesky', REASON, FROM)(claimed(), T0)
  expect(typesOf(failed, retry()(failed, T0))).toEqual([
    ['retry', undefined],
    ['transition', 'PROCESSING'],
  ])
})

it('a deferred delivery is one outcome with its cause and the next attempt', () => {
  const until = after(T0, 5_000)
  const post = claimed()
  const deferred = defer('bluesky', REASON, FROM, { at: until, countsAsTry: true })(post, T0)
  expect(deriveEvents(post, deferred, T0)).toMatchObject([
    { type: 'outcome', result: 'deferred', code: 'transient', until },
  ])
})

it.each([
  [{ timezone: 'Europe/Vienna' }],
  [{ scheduledAt: after(T0, 60_000) }],
  [{ selectedPlatforms: ['tumblr'] as const }],
  [{ content: { text: 'Other', mediaItems: [] } }],
])('the change %j of a draft is one edit', (change) => {
  const draft = buildPost({ draft: true })
  const edited = edit(change as PostChange)(draft, T0)
  expect(deriveEvents(draft, edited, T0)).toEqual([{ at: T0, type: 'edit' }])
})

it('the events of a post with several parts name the part, and each published part is an event', () => {
  const content = { text: 'One', mediaItems: [], segments: [{ text: 'Two', mediaItems: [] }], firstComment: 'Below' }
  const published = { platformPostId: '1', platformPostUrl: 'http://p/1' }
  const moves: Move[] = [
    (post) => buildClaim(post, 'bluesky', T0)(post, T0),
    accept('bluesky', published, 0),
    accept('bluesky', published, 1),
    markUnknown('bluesky', REASON, { round: 0, attempt: 0, part: 2 }),
    giveUp('bluesky', REASON, 0),
    retry(),
    accept('bluesky', published, 2),
  ]
  let post = buildPost({ content })
  const events = moves.flatMap((move) => {
    const [before, moved] = [post, move(post, T0)]
    post = moved
    return deriveEvents(before, moved, T0)
  })
  expect(events.map(({ type, result, status, part, attempt }) => [type, result ?? status, part, attempt])).toEqual([
    ['attempt', undefined, 1, 1],
    ['transition', 'PROCESSING', undefined, undefined],
    ['outcome', 'accepted', 1, 1],
    ['outcome', 'accepted', 2, 0],
    ['outcome', 'unknown', 3, 0],
    ['outcome', 'unknown', 3, 0],
    ['transition', 'COMPLETED', undefined, undefined],
    ['retry', undefined, undefined, 0],
    ['transition', 'PROCESSING', undefined, undefined],
    ['outcome', 'accepted', 3, 0],
    ['transition', 'COMPLETED', undefined, undefined],
  ])
  expect(events[5]).toMatchObject({ code: 'OUTCOME_UNKNOWN' })
})

it('a part that is accepted after its delivery has failed is an event, and the entry stays failed', () => {
  const content = { text: 'One', mediaItems: [], segments: [{ text: 'Two', mediaItems: [] }] }
  const failed = giveUp('bluesky', REASON, 0)(buildPost({ content }), T0)
  const accepted = accept('bluesky', { platformPostId: '1', platformPostUrl: 'http://p/1' }, 0)(failed, T0)
  expect(deriveEvents(failed, accepted, T0)).toMatchObject([{ type: 'outcome', result: 'accepted', part: 1 }])
  expect(accepted.platformStatuses[0]!.status).toBe('failed')
})

it('events are sorted by time, and equal times keep their order', () => {
  const events = [after(T0, 2), T0, T0].map((at, round) => ({ at, type: 'edit' as const, round }))
  expect(sortByTime(events).map(({ round }) => round)).toEqual([1, 2, 0])
})

it('an absent call stays marked as once unknown, and a known outcome is not changed', () => {
  const post = claimed()
  const unknown = markUnknown('bluesky', REASON, FROM)(post, T0)
  const absent = markAbsent('bluesky', FROM)(unknown, T0)
  expect(absent.platformStatuses[0]).toMatchObject({
    status: 'pending',
    delivery: { outcome: 'deferred', hadUnknownOutcome: true },
  })
  expect(markAbsent('bluesky', FROM)(post, T0)).toBe(post)
  expect(markAbsent('tumblr', FROM)(post, T0)).toBe(post)
  const lapsed = markAbsent('bluesky', FROM)(post, after(T0, 60_000))
  expect(lapsed.platformStatuses[0]!.delivery.hadUnknownOutcome).toBe(true)
})

it('handles are outdated for the same account with another content version', () => {
  const delivery = { ...createDelivery(), accountId: 'a', contentVersion: 1, handles: { blob: 'x' } }
  expect(findOutdatedHandles(delivery, { accountId: 'a', contentVersion: 2 })).toEqual({ blob: 'x' })
  expect(findOutdatedHandles(delivery, { accountId: 'a', contentVersion: 1 })).toBeNull()
  expect(findOutdatedHandles(delivery, { accountId: 'b', contentVersion: 2 })).toBeNull()
  expect(findOutdatedHandles({ ...delivery, handles: {} }, { accountId: 'a', contentVersion: 2 })).toBeNull()
})
