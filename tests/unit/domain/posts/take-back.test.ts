import { describe, expect, it } from 'vitest'
import { accept, refuse } from '../../../../src/domain/posts/delivery-moves.ts'
import { failure } from '../../../../src/domain/posts/failure.ts'
import { requestEdit } from '../../../../src/domain/posts/edit-published.ts'
import { retry } from '../../../../src/domain/posts/post-moves.ts'
import type { Move, Post } from '../../../../src/domain/posts/post.ts'
import { failRemoval, listPublishedIds, markRemoved, requestRemoval } from '../../../../src/domain/posts/take-back.ts'
import { listPendingChanges } from '../../../../src/domain/posts/published-changes.ts'
import { POSTING_RULES } from '../../../../src/domain/posts/posting-rules.ts'
import { deriveEvents } from '../../../../src/domain/posts/timeline.ts'
import { after, buildClaim, buildPost, T0 } from '../../../support/posts.ts'

const LATER = after(T0, 60_000)
const THREAD = { text: 'One', mediaItems: [], segments: [{ text: 'Two', mediaItems: [] }], firstComment: 'Below' }
const REFUSED = failure('permission', 'The login lacks a permission.')

const publish = (platform: 'bluesky' | 'instagram' | 'facebook', part = 0): Move =>
  accept(platform, { platformPostId: `${platform}-${part}`, platformPostUrl: `https://${platform}.test/${part}` }, part)
const apply = (post: Post, ...moves: Move[]) => moves.reduce((current, move) => move(current, T0), post)
const publishedPost = () => apply(buildPost(), publish('bluesky'))
/** A thread with only its first post published. */
const failedThread = () =>
  apply(
    buildPost({ content: THREAD }),
    publish('bluesky'),
    refuse('bluesky', REFUSED, { round: 0, attempt: 0, part: 1 }),
  )
const requestAt = (post: Post, at: Date) => requestRemoval('user')(post, at)

describe('the ids of what is published', () => {
  it('begin with the last reply of a thread', () => {
    const post = apply(buildPost({ content: THREAD }), publish('bluesky'), publish('bluesky', 1), publish('bluesky', 2))
    expect(listPublishedIds(post.platformStatuses[0]!)).toEqual(['bluesky-2', 'bluesky-1', 'bluesky-0'])
  })

  it('leave out a comment that its platform removes with the post', () => {
    const content = { text: 'One', mediaItems: [], firstComment: 'Below' }
    const post = apply(
      buildPost({ content, selectedPlatforms: ['facebook'] }),
      publish('facebook'),
      publish('facebook', 1),
    )
    expect(listPublishedIds(post.platformStatuses[0]!)).toEqual(['facebook-0'])
  })

  it('are empty before the publication', () => {
    expect(listPublishedIds(buildPost().platformStatuses[0]!)).toEqual([])
  })
})

describe('a request to take a post back', () => {
  it('is recorded with its time and who made it', () => {
    const post = requestRemoval('key:1')(publishedPost(), LATER)
    expect(post.changeDueAt).toEqual(LATER)
    expect(listPendingChanges(post)).toMatchObject([
      { removal: { status: 'pending', requestedAt: LATER, requestedBy: 'key:1' } },
    ])
  })

  it('does not change a pending one, or a post that is gone already', () => {
    const pending = requestAt(publishedPost(), T0)
    expect(requestAt(pending, LATER).changeDueAt).toEqual(T0)
    const gone = apply(pending, markRemoved('bluesky'))
    expect(requestAt(gone, LATER)).toBe(gone)
  })

  it('ends with the next step on a platform that lets no program delete posts', () => {
    const post = requestAt(apply(buildPost({ selectedPlatforms: ['instagram'] }), publish('instagram')), T0)
    expect(post.changeDueAt).toBeNull()
    expect(post.platformStatuses[0]!.removal).toMatchObject({
      ...{ status: 'failed', errorCode: 'PLATFORM_NOT_SUPPORTED' },
      error: expect.stringContaining('Delete it in the Instagram app.'),
    })
  })

  it('ends the edits that wait', () => {
    const edit = requestEdit({ text: 'Edited', requestedBy: 'user', rulesOf: () => POSTING_RULES.facebook })
    const post = apply(buildPost({ selectedPlatforms: ['facebook'] }), publish('facebook'), edit)
    const [entry] = requestAt(post, LATER).platformStatuses
    expect(entry).toMatchObject({
      removal: { status: 'pending' },
      revisions: [{ text: 'Edited', status: 'failed', errorCode: 'CANCELLED' }],
    })
  })

  it('is limited to the named accounts', () => {
    const chosen = ['a', 'b'].map((accountId) => ({ platform: 'bluesky' as const, target: accountId, accountId }))
    const post = apply(
      buildPost({ chosen }),
      ...['a', 'b'].map((id) => accept(id, { platformPostId: id, platformPostUrl: `https://bsky.test/${id}` })),
    )
    const requested = requestRemoval('user', ['b'])(post, T0)
    expect(listPendingChanges(requested).map(({ accountId }) => accountId)).toEqual(['b'])
  })

  it('is refused for a post that no platform has published', () => {
    expect(() => requestAt(buildPost(), T0)).toThrow(expect.objectContaining({ code: 'NOTHING_PUBLISHED' }))
    expect(() => requestRemoval('user', ['other'])(publishedPost(), T0)).toThrow(
      expect.objectContaining({ code: 'NOTHING_PUBLISHED' }),
    )
  })

  it('is refused while the post is being delivered', () => {
    const post = buildPost()
    const sending = buildClaim(post, 'bluesky', T0)(post, T0)
    expect(() => requestAt(sending, T0)).toThrow(expect.objectContaining({ code: 'POST_IN_PROGRESS' }))
  })
})

describe('a removed post', () => {
  it('is deleted, and still counts as accepted', () => {
    const before = requestAt(publishedPost(), T0)
    const post = markRemoved('bluesky')(before, LATER)
    expect(post).toMatchObject({ status: 'COMPLETED', changeDueAt: null })
    expect(post.platformStatuses[0]).toMatchObject({
      ...{ status: 'deleted', metricsDueAt: null },
      removal: { status: 'completed', requestedAt: T0, completedAt: LATER },
    })
    expect(deriveEvents(before, post, LATER)).toMatchObject([
      { type: 'outcome', result: 'deleted', platform: 'bluesky' },
    ])
    expect(markRemoved('bluesky')(post, LATER)).toBe(post)
  })

  it('is a failed thread that a retry sends again from its first post', () => {
    const requested = requestAt(failedThread(), T0)
    expect(() => retry()(requested, T0)).toThrow(expect.objectContaining({ code: 'POST_IN_PROGRESS' }))
    const removed = markRemoved('bluesky')(requested, T0)
    expect(removed.status).toBe('FAILED')
    expect(removed.platformStatuses[0]).toMatchObject({ status: 'failed', parts: [], platformPostId: null })
    expect(deriveEvents(requested, removed, T0)).toMatchObject([{ type: 'outcome', result: 'deleted' }])
    const [entry] = apply(removed, retry()).platformStatuses
    expect(entry).toMatchObject({ status: 'pending', parts: [], removal: null })
  })
})

describe('a failed removal', () => {
  it('leaves the post published, with the reason, until it is requested again', () => {
    const failed = apply(requestAt(publishedPost(), T0), failRemoval('bluesky', REFUSED))
    expect(failed).toMatchObject({ status: 'COMPLETED', changeDueAt: null })
    expect(failed.platformStatuses[0]).toMatchObject({
      status: 'completed',
      removal: { status: 'failed', errorCode: 'permission' },
    })
    expect(failRemoval('bluesky', REFUSED)(failed, T0)).toBe(failed)
    expect(requestAt(failed, LATER).changeDueAt).toEqual(LATER)
  })
})
