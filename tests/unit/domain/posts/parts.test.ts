import { describe, expect, it } from 'vitest'
import {
  accept,
  claim,
  ClaimRefused,
  defer,
  markUnknown,
  refuse,
  saveCheckpoint,
} from '../../../../src/domain/posts/delivery-moves.ts'
import { failure } from '../../../../src/domain/posts/failure.ts'
import { isLeftOut, toPartIndex, toParts } from '../../../../src/domain/posts/parts.ts'
import { canBeWithdrawn, findEntry } from '../../../../src/domain/posts/post-entries.ts'
import { cancel, edit, retry } from '../../../../src/domain/posts/post-moves.ts'
import type { Content, Post } from '../../../../src/domain/posts/post.ts'
import { markRestored } from '../../../../src/domain/posts/restored.ts'
import { after, buildPost, T0 } from '../../../support/posts.ts'

const segment = (text: string) => ({ text, mediaItems: [] })
const content: Content = {
  ...segment('one'),
  segments: [segment('two'), segment('three')],
  firstComment: 'a comment',
  onUnsupported: 'join',
}
const textsOn = (platform: Parameters<typeof toParts>[0], given = content) =>
  toParts(platform, given).map(({ kind, content: { text } }) => `${kind}: ${text}`)

describe('the parts of a post', () => {
  it.each(['bluesky', 'mastodon', 'threads'] as const)(
    '%s publishes the posts of a thread and the comment one by one',
    (platform) => {
      expect(textsOn(platform)).toEqual(['post: one', 'post: two', 'post: three', 'comment: a comment'])
    },
  )

  it.each(['facebook', 'instagram'] as const)('%s publishes the joined texts with a comment', (platform) => {
    expect(textsOn(platform)).toEqual(['post: one\n\ntwo\n\nthree', 'comment: a comment'])
  })

  it('Tumblr publishes one post with all texts', () => {
    expect(textsOn('tumblr')).toEqual(['post: one\n\ntwo\n\nthree\n\na comment'])
  })

  it('a single post has one part with its text unchanged', () => {
    expect(textsOn('tumblr', segment(' one '))).toEqual(['post:  one '])
    expect(textsOn('bluesky', { ...segment('one'), segments: [], firstComment: ' ' })).toEqual(['post: one'])
  })

  it('a story has neither text nor comment', () => {
    expect(textsOn('instagram', { ...content, options: { instagram: { kind: 'story' } } })).toEqual(['post: '])
  })

  it('only platforms that cannot publish the content are left out, and only if the author says so', () => {
    const skipping: Content = { ...content, onUnsupported: 'skipPlatform' }
    const leftOut = (['bluesky', 'threads', 'mastodon', 'facebook', 'instagram', 'tumblr'] as const).filter(
      (platform) => isLeftOut(platform, skipping),
    )
    expect(leftOut).toEqual(['facebook', 'instagram', 'tumblr'])
    expect(isLeftOut('tumblr', { ...skipping, firstComment: '' })).toBe(false)
    expect(isLeftOut('facebook', content)).toBe(false)
  })
})

const publishedAs = (id: string) => ({ platformPostId: id, platformPostUrl: `https://b.example/${id}` })
const entryOf = (post: Post) => findEntry(post, 'bluesky')!
const reason = failure('validation', 'no')

/** Claims the next part, and returns the post with the reference of the claim. */
function claimNext(post: Post, now = T0) {
  const { round } = entryOf(post).delivery
  const part = toPartIndex(entryOf(post))
  const leaseUntil = after(now, 10_000)
  const claimed = claim('bluesky', { round, part, leaseUntil, accountId: 'did:plc:x', contentVersion: 0 })(post, now)
  return { claimed, ref: { round, part, attempt: entryOf(claimed).delivery.attempt } }
}

/** Publishes the first parts of a thread. */
function publish(post: Post, ids: string[]): Post {
  return ids.reduce((at, id, part) => accept('bluesky', publishedAs(id), part)(claimNext(at).claimed, T0), post)
}

describe('a thread', () => {
  it('its parts are claimed one after the other, each with a key and a due time of its own', () => {
    let post = buildPost({ _id: 'p1', content })
    const seen = []
    for (const id of ['a', 'b', 'c', 'd']) {
      const { claimed } = claimNext(post)
      const { key, dueAt, attempt } = entryOf(claimed).delivery
      seen.push([key, dueAt!.getTime() - T0.getTime(), attempt, claimed.status])
      post = accept('bluesky', publishedAs(id), toPartIndex(entryOf(claimed)))(claimed, T0)
    }
    expect(seen).toEqual([
      ['p1/bluesky/0', 0, 1, 'PROCESSING'],
      ['p1/bluesky.1/0', 1, 1, 'PROCESSING'],
      ['p1/bluesky.2/0', 2, 1, 'PROCESSING'],
      ['p1/bluesky.3/0', 3, 1, 'PROCESSING'],
    ])
    expect(post).toMatchObject({
      status: 'COMPLETED',
      publishedKeys: ['a', 'b', 'c', 'd'].map((id) => `bluesky:${id}`),
    })
    expect(entryOf(post)).toMatchObject({
      ...publishedAs('a'),
      parts: ['a', 'b', 'c'].map(publishedAs),
      comment: { status: 'completed', ...publishedAs('d') },
    })
  })

  it('a repeated acceptance of a part changes nothing', () => {
    const post = publish(buildPost({ content }), ['a', 'b'])
    expect(accept('bluesky', publishedAs('b'), 1)(post, T0)).toBe(post)
    expect(accept('bluesky', publishedAs('a'))(post, T0)).toBe(post)
  })

  it('outcomes, claims and checkpoints of an earlier part are ignored', () => {
    const { claimed, ref } = claimNext(buildPost({ content }))
    const second = claimNext(accept('bluesky', publishedAs('a'), 0)(claimed, T0)).claimed
    for (const move of [
      refuse('bluesky', reason, ref),
      markUnknown('bluesky', reason, ref),
      defer('bluesky', reason, ref, { at: after(T0, 1), countsAsTry: true }),
    ])
      expect(move(second, T0)).toBe(second)
    const stale = { ...ref, accountId: 'did:plc:x', contentVersion: 0, name: 'reply', value: '1' }
    expect(() => saveCheckpoint('bluesky', stale)(second, T0)).toThrow(ClaimRefused)
    const between = accept('bluesky', publishedAs('a'), 0)(claimed, T0)
    const again = { round: 0, leaseUntil: after(T0, 10_000), accountId: 'did:plc:x', contentVersion: 0 }
    expect(() => claim('bluesky', again)(between, T0)).toThrow('stale')
  })

  it('a partly published thread can be neither cancelled as a whole nor edited, but stopped', () => {
    const post = publish(buildPost({ content }), ['a'])
    expect(canBeWithdrawn(post)).toBe(false)
    expect(() => cancel()(post, T0)).toThrow('not in a cancellable state')
    expect(() => edit({ timezone: 'UTC' })(post, T0)).toThrow('no longer be edited')
    const named = { ...post, platformStatuses: [{ ...entryOf(post), accountId: 'x' }] }
    const stopped = cancel(['x'])(named, T0)
    expect(stopped.status).toBe('FAILED')
    expect(entryOf(stopped)).toMatchObject({ status: 'failed', errorCode: 'CANCELLED', parts: [publishedAs('a')] })
    expect(() => cancel(['x'])(claimNext(named).claimed, T0)).toThrow('not in a cancellable state')
  })

  it('a thread that fails lists its published posts, and a retry continues after them', () => {
    const { claimed, ref } = claimNext(publish(buildPost({ _id: 'p1', content }), ['a']))
    const failed = refuse('bluesky', reason, ref)(claimed, T0)
    expect(failed.status).toBe('FAILED')
    expect(entryOf(failed)).toMatchObject({ status: 'failed', ...publishedAs('a'), parts: [publishedAs('a')] })
    const next = claimNext(retry()(failed, T0)).claimed
    expect(entryOf(next)).toMatchObject({ parts: [publishedAs('a')], delivery: { key: 'p1/bluesky.1/1', round: 1 } })
  })

  it('a part that is found after its delivery failed is listed, and the rest waits for a retry', () => {
    const { claimed, ref } = claimNext(publish(buildPost({ content }), ['a']))
    const failed = refuse('bluesky', reason, ref)(claimed, T0)
    const found = accept('bluesky', publishedAs('b'), 1)(failed, T0)
    expect(entryOf(found)).toMatchObject({ status: 'failed', parts: [publishedAs('a'), publishedAs('b')] })
    expect(entryOf(claimNext(retry()(found, T0)).claimed).delivery.key).toContain('bluesky.2/')
  })

  it('the parts after one that is found following a restore begin in doubt, too', () => {
    const restored = markRestored(T0)(buildPost({ _id: 'p1', content }), after(T0, 1_000))
    const found = accept('bluesky', publishedAs('a'), 0)(restored, after(T0, 2_000))
    expect(entryOf(found).delivery).toMatchObject({
      ...{ outcome: 'unknown', hadUnknownOutcome: true, key: 'p1/bluesky.1/0' },
      ...{ dueAt: after(T0, 1), startedAt: T0, restoredAt: after(T0, 1_000) },
    })
  })
})

describe('a first comment', () => {
  const commented = { ...segment('one'), firstComment: 'a comment' }

  it('a failed comment leaves the post published, and a retry sends only the comment', () => {
    const { claimed, ref } = claimNext(publish(buildPost({ _id: 'p1', content: commented }), ['a']))
    const failed = refuse('bluesky', reason, ref)(claimed, T0)
    expect(failed.status).toBe('COMPLETED')
    expect(entryOf(failed)).toMatchObject({
      status: 'completed',
      error: null,
      comment: { status: 'failed', error: 'no' },
    })
    const retried = retry()(failed, T0)
    expect(retried.status).toBe('PROCESSING')
    const again = claimNext(retried).claimed
    expect(entryOf(again)).toMatchObject({ parts: [publishedAs('a')], delivery: { key: 'p1/bluesky.1/1' } })
    const done = accept('bluesky', publishedAs('b'), 1)(again, T0)
    expect(entryOf(done)).toMatchObject({ status: 'completed', ...publishedAs('a'), comment: { status: 'completed' } })
    expect(() => retry()(done, T0)).toThrow('No failed platforms')
  })

  it('a comment that is stopped leaves the post published', () => {
    const post = publish(buildPost({ content: commented }), ['a'])
    const named = { ...post, platformStatuses: [{ ...entryOf(post), accountId: 'x' }] }
    const stopped = cancel(['x'])(named, T0)
    expect(stopped.status).toBe('COMPLETED')
    expect(entryOf(stopped).comment).toMatchObject({ status: 'failed', errorCode: 'CANCELLED' })
  })
})
