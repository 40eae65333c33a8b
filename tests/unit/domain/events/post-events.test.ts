import { describe, expect, it } from 'vitest'
import { derivePostEvents, postDeleted } from '../../../../src/domain/events/post-events.ts'
import {
  accept,
  giveUp,
  markDeleted,
  markUnknown,
  refuse,
  RECONCILE_WAITS_MS,
} from '../../../../src/domain/posts/delivery-moves.ts'
import { failure } from '../../../../src/domain/posts/failure.ts'
import { cancel, edit, retry } from '../../../../src/domain/posts/post-moves.ts'
import type { Move, Post } from '../../../../src/domain/posts/post.ts'
import { markRemoved, requestRemoval } from '../../../../src/domain/posts/take-back.ts'
import { after, buildClaim, buildPost, T0 } from '../../../support/posts.ts'

const REASON = failure('validation', 'The platform refused the text.', { code: '42', text: 'quotes the post' })
const PUBLISHED = { platformPostId: 'at://one', platformPostUrl: 'https://bsky.test/one' }
const FIRST = { round: 0, attempt: 1 }

/** Applies moves like the store, and returns the post with all its events. */
function applyAll(post: Post, ...moves: Move[]) {
  const events = derivePostEvents(null, post, post.createdAt)
  let current = post
  for (const move of moves) {
    const moved = { ...move(current, T0), revision: current.revision + 1 }
    events.push(...derivePostEvents(current, moved, T0))
    current = moved
  }
  return { post: current, events, types: events.map(({ type }) => type) }
}

const claimed: Move = (post, now) => buildClaim(post, 'bluesky', T0)(post, now)

describe('a post that is published immediately', () => {
  it('is created, accepted by its platform and then published', () => {
    const { events, post } = applyAll(buildPost(), claimed, accept('bluesky', PUBLISHED))
    expect(events.map(({ id, type }) => [id, type])).toEqual([
      [`evt_${post._id}-0-0`, 'post.created'],
      [`evt_${post._id}-bluesky-accepted`, 'delivery.accepted'],
      [`evt_${post._id}-2-1`, 'post.published'],
    ])
    expect(events[1]!.data).toEqual({
      postId: post._id,
      platform: 'bluesky',
      accountId: null,
      accountName: null,
      status: 'completed',
      platformPostId: 'at://one',
      url: 'https://bsky.test/one',
      errorCode: null,
      error: null,
    })
    expect(events[2]!.data).toMatchObject({ postId: post._id, status: 'COMPLETED', scheduledAt: null })
  })

  it('is accepted once, also when the acceptance is recorded again', () => {
    const { types } = applyAll(buildPost(), claimed, accept('bluesky', PUBLISHED), accept('bluesky', PUBLISHED))
    expect(types.filter((type) => type === 'delivery.accepted')).toHaveLength(1)
  })
})

describe('a failed delivery', () => {
  it('has one event per round, without the explanation of the platform', () => {
    const again: Move[] = [claimed, (post, now) => refuse('bluesky', REASON, { round: 1, attempt: 2 })(post, now)]
    const { events, types } = applyAll(buildPost(), claimed, refuse('bluesky', REASON, FIRST), retry(), ...again)
    expect(types).toEqual(['post.created', 'delivery.failed', 'post.failed', 'delivery.failed', 'post.failed'])
    expect(new Set(events.map(({ id }) => id)).size).toBe(5)
    expect(events[1]!.data).toMatchObject({ errorCode: 'validation', error: 'The platform refused the text.' })
    expect(JSON.stringify(events)).not.toContain('quotes the post')
  })

  it('is unknown when a call may have been accepted, and may still be accepted', () => {
    const unknown: Move[] = RECONCILE_WAITS_MS.map(() => markUnknown('bluesky', REASON, FIRST))
    const { types } = applyAll(
      buildPost(),
      claimed,
      ...unknown,
      markUnknown('bluesky', REASON, FIRST),
      accept('bluesky', PUBLISHED),
    )
    expect(types).toEqual(['post.created', 'delivery.unknown', 'post.failed', 'delivery.accepted', 'post.published'])
  })

  it('is unknown when the service gives up after a call', () => {
    expect(applyAll(buildPost(), claimed, giveUp('bluesky', REASON, 0)).types).toContain('delivery.unknown')
    expect(applyAll(buildPost(), giveUp('bluesky', REASON, 0)).types).toContain('delivery.failed')
  })
})

it('a post that is accepted by one of two platforms is published in part', () => {
  const post = buildPost({ selectedPlatforms: ['bluesky', 'mastodon'] })
  const { types, events } = applyAll(
    post,
    claimed,
    accept('bluesky', PUBLISHED),
    (current, now) => buildClaim(current, 'mastodon', T0)(current, now),
    refuse('mastodon', REASON, FIRST),
  )
  expect(types).toEqual(['post.created', 'delivery.accepted', 'delivery.failed', 'post.partial'])
  expect(events.at(-1)!.data).toMatchObject({ deliveries: [{ status: 'completed' }, { status: 'failed' }] })
})

it('a scheduled post has an event for its first time and for each other one', () => {
  const [first, second] = [after(T0, 60_000), after(T0, 120_000)]
  const { events, types } = applyAll(
    buildPost({ scheduledAt: first }),
    edit({ content: { text: 'Other words', mediaItems: [] } }),
    edit({ scheduledAt: second }),
    cancel(),
  )
  expect(types).toEqual(['post.created', 'post.scheduled', 'post.scheduled', 'post.cancelled'])
  expect(events.map(({ data }) => data['scheduledAt'])).toEqual(
    [first, first, second, second].map((at) => at.toISOString()),
  )
})

describe('a published post that is gone from its platform', () => {
  it('has one event, also when it is found deleted again', () => {
    const published: Move[] = [claimed, accept('bluesky', PUBLISHED)]
    const { events, types } = applyAll(buildPost(), ...published, markDeleted('bluesky'), markDeleted('bluesky'))
    expect(types).toEqual(['post.created', 'delivery.accepted', 'post.published', 'delivery.deleted'])
    expect(events.at(-1)).toMatchObject({
      id: expect.stringMatching(/^evt_.*-bluesky-deleted$/),
      data: { platform: 'bluesky', status: 'deleted', url: 'https://bsky.test/one' },
    })
  })

  it('has the same event when it was taken back', () => {
    const { types } = applyAll(
      buildPost(),
      claimed,
      accept('bluesky', PUBLISHED),
      requestRemoval('user'),
      markRemoved('bluesky'),
    )
    expect(types.slice(-2)).toEqual(['post.published', 'delivery.deleted'])
  })
})

describe('a thread with a first comment', () => {
  const content = { text: 'One', mediaItems: [], segments: [{ text: 'Two', mediaItems: [] }], firstComment: 'Below' }
  const part = (name: string) => ({ platformPostId: `at://${name}`, platformPostUrl: `https://bsky.test/${name}` })
  const published: Move[] = [accept('bluesky', part('one'), 0), accept('bluesky', part('two'), 1)]
  const at =
    (move: Move, ms: number): Move =>
    (post) =>
      move(post, after(T0, ms))

  it('is accepted with its last part, and the events name all parts in order', () => {
    const { types, events } = applyAll(buildPost({ content }), ...published, accept('bluesky', part('below'), 2))
    expect(types).toEqual(['post.created', 'delivery.accepted', 'post.published'])
    const delivery = {
      platformPostId: 'at://one',
      url: 'https://bsky.test/one',
      parts: [
        { platformPostId: 'at://one', url: 'https://bsky.test/one' },
        { platformPostId: 'at://two', url: 'https://bsky.test/two' },
      ],
      comment: {
        status: 'completed',
        ...{ platformPostId: 'at://below', url: 'https://bsky.test/below' },
        ...{ errorCode: null, error: null },
      },
    }
    expect(events[1]!.data).toMatchObject(delivery)
    expect(events[2]!.data).toMatchObject({ deliveries: [delivery] })
  })

  it('fails with the parts that are published', () => {
    const refused = refuse('bluesky', REASON, { round: 0, attempt: 0, part: 1 })
    const { types, events } = applyAll(buildPost({ content }), published[0]!, refused)
    expect(types).toEqual(['post.created', 'delivery.failed', 'post.failed'])
    expect(events[1]!.data).toMatchObject({ status: 'failed', parts: [{ platformPostId: 'at://one' }] })
    expect(events[1]!.data).not.toHaveProperty('comment')
  })

  it('is published although its comment fails, and the retry of the comment repeats no event', () => {
    const refuseComment = (round: number) => refuse('bluesky', REASON, { round, attempt: 0, part: 2 })
    const { types, events, post } = applyAll(
      buildPost({ content }),
      ...published,
      refuseComment(0),
      at(retry(), 1_000),
      at(refuseComment(1), 2_000),
      at(retry(), 3_000),
      at(accept('bluesky', part('below'), 2), 4_000),
    )
    expect(types).toEqual(['post.created', 'delivery.accepted', 'post.published'])
    expect(events[1]!.data).toMatchObject({
      status: 'completed',
      ...{ errorCode: null, error: null },
      comment: { status: 'failed', platformPostId: null, url: null, errorCode: 'validation', error: REASON.message },
    })
    expect(post).toMatchObject({ status: 'COMPLETED', platformStatuses: [{ comment: { status: 'completed' } }] })
  })

  it('is published once, also when two comments are retried', () => {
    const both = buildPost({ content, selectedPlatforms: ['bluesky', 'mastodon'] })
    const refuseComment = (platform: 'bluesky' | 'mastodon') =>
      refuse(platform, REASON, { round: 0, attempt: 0, part: 2 })
    const { types } = applyAll(
      both,
      ...published,
      refuseComment('bluesky'),
      accept('mastodon', part('m1'), 0),
      accept('mastodon', part('m2'), 1),
      refuseComment('mastodon'),
      at(retry(), 1_000),
      at(accept('bluesky', part('below'), 2), 2_000),
      at(accept('mastodon', part('m-below'), 2), 3_000),
    )
    expect(types.filter((type) => type === 'post.published')).toHaveLength(1)
    expect(types.filter((type) => type === 'delivery.accepted')).toHaveLength(2)
  })

  it('is published when the account that failed has it, beside the retry of a comment', () => {
    const both = buildPost({ content, selectedPlatforms: ['bluesky', 'mastodon'] })
    const { types } = applyAll(
      both,
      ...published,
      refuse('bluesky', REASON, { round: 0, attempt: 0, part: 2 }),
      refuse('mastodon', REASON, { round: 0, attempt: 0 }),
      at(retry(), 1_000),
      ...[0, 1, 2].map((index) => at(accept('mastodon', part(`m${index}`), index), 2_000)),
      at(accept('bluesky', part('below'), 2), 3_000),
    )
    expect(types.slice(-3)).toEqual(['post.partial', 'delivery.accepted', 'post.published'])
  })
})

it('a draft is scheduled when it is published', () => {
  const scheduledAt = after(T0, 60_000)
  const { types } = applyAll(buildPost({ draft: true, scheduledAt }), edit({ status: 'SCHEDULED' }))
  expect(types).toEqual(['post.created', 'post.scheduled'])
})

it('several moves in one write have different ids', () => {
  const post = buildPost({ scheduledAt: after(T0, 60_000) })
  const moved = { ...edit({ scheduledAt: after(T0, 90_000) })(post, T0), revision: 1 }
  const cancelled = { ...cancel()(moved, T0), revision: 1 }
  const first = derivePostEvents(post, moved, T0)
  const events = [...first, ...derivePostEvents(moved, cancelled, T0, first.length)]
  expect(new Set(events.map(({ id }) => id)).size).toBe(2)
})

it('a deletion names the last state of the post, without its text', () => {
  const post = buildPost({ content: { text: 'a secret plan', mediaItems: [] } })
  expect(postDeleted(post, T0)).toMatchObject({
    id: `evt_${post._id}-deleted`,
    type: 'post.deleted',
    data: { status: 'PENDING' },
  })
  expect(JSON.stringify([...derivePostEvents(null, post, T0), postDeleted(post, T0)])).not.toContain('secret')
})
