import { describe, expect, it } from 'vitest'
import { accept, defer, giveUp, markAbsent, refuse } from '../../../../src/domain/posts/delivery-moves.ts'
import { failure } from '../../../../src/domain/posts/failure.ts'
import { findEntry, needsReconciliation } from '../../../../src/domain/posts/post-entries.ts'
import { cancel, retry } from '../../../../src/domain/posts/post-moves.ts'
import type { Move, Post } from '../../../../src/domain/posts/post.ts'
import { decideHeld, isHeld, markRestored } from '../../../../src/domain/posts/restored.ts'
import { after, buildClaim, buildPost, T0 } from '../../../support/posts.ts'

const HOUR = 3_600_000
const NOW = after(T0, 10 * HOUR)
const DUMPED_AT = after(T0, HOUR)
const FROM = { round: 0, attempt: 1 }
const rejected = failure('validation', 'no')

const apply = (post: Post, moves: Move[], at = NOW) => moves.reduce((current, move) => move(current, at), post)
const entryOf = (post: Post) => findEntry(post, 'bluesky')!
const restore = markRestored(DUMPED_AT)
const claimed = () => {
  const post = buildPost()
  return buildClaim(post, 'bluesky', T0)(post, T0)
}

describe('markRestored', () => {
  it('a post that was due since the backup begins in doubt, with the key that its first claim had', () => {
    const dueAt = after(T0, 2 * HOUR)
    const scheduled = buildPost({ _id: 'p1', scheduledAt: dueAt })
    const post = restore(scheduled, NOW)
    expect(post).toMatchObject({ status: 'PROCESSING', startPending: true })
    const entry = entryOf(post)
    expect(needsReconciliation(entry.delivery, NOW)).toBe(true)
    expect(entry.delivery).toMatchObject({ startedAt: DUMPED_AT, restoredAt: NOW, attempt: 0, dueAt })
    expect(entry.delivery.key).toBe(entryOf(buildClaim(scheduled, 'bluesky', dueAt)(scheduled, dueAt)).delivery.key)
  })

  it('a delivery that waited for another try in the backup begins in doubt immediately', () => {
    const waiting = apply(claimed(), [defer('bluesky', rejected, FROM, { at: after(NOW, HOUR), countsAsTry: true })])
    const { delivery } = entryOf(restore(waiting, NOW))
    expect(delivery).toMatchObject({ outcome: 'unknown', nextAttemptAt: null, startedAt: T0, hadUnknownOutcome: true })
  })

  it('a delivery that failed in the backup is searched for when it is retried', () => {
    const failed = restore(apply(claimed(), [refuse('bluesky', rejected, FROM)]), NOW)
    expect(failed).toMatchObject({ status: 'FAILED', startPending: false })
    expect(isHeld(entryOf(failed))).toBe(false)
    const { delivery } = entryOf(retry()(failed, NOW))
    expect(delivery).toMatchObject({ outcome: 'unknown', repeatAllowed: true, restoredAt: NOW, startedAt: T0 })
  })

  it.each([
    ['is due later', buildPost({ scheduledAt: after(NOW, 1) })],
    ['is a draft', buildPost({ draft: true })],
    ['was cancelled', cancel()(buildPost({ scheduledAt: DUMPED_AT }), T0)],
    ['is published', accept('bluesky', { platformPostId: 'x', platformPostUrl: 'u' })(claimed(), T0)],
  ])('a post that %s is left as it is', (_, post) => {
    expect(restore(post, NOW)).toBe(post)
  })

  it('the doubt ends when the search finds nothing', () => {
    const { delivery, status } = entryOf(apply(buildPost(), [restore, markAbsent('bluesky', { round: 0, attempt: 0 })]))
    expect(status).toBe('pending')
    expect(delivery).not.toHaveProperty('restoredAt')
  })
})

describe('decideHeld', () => {
  const undecided = () => apply(buildPost(), [restore, giveUp('bluesky', rejected, 0)])

  it('an operator publishes a held delivery with a new key', () => {
    const before = undecided()
    expect(isHeld(entryOf(before))).toBe(true)
    const post = decideHeld('publish')(before, NOW)
    expect(post).toMatchObject({ status: 'PROCESSING', dueAt: NOW, startPending: true })
    const { delivery, status } = entryOf(post)
    expect(status).toBe('pending')
    expect(delivery).toMatchObject({ round: 1, outcome: 'none', key: null, hadUnknownOutcome: false })
    expect(isHeld(entryOf(post))).toBe(false)
  })

  it('an operator decides while the worker still searches', () => {
    const searching = restore(buildPost(), NOW)
    expect(isHeld(entryOf(searching))).toBe(true)
    expect(entryOf(decideHeld('drop')(searching, NOW))).toMatchObject({
      status: 'failed',
      errorCode: 'OUTCOME_UNKNOWN',
    })
    expect(decideHeld('publish')(searching, NOW)).toMatchObject({ status: 'PROCESSING', startPending: true })
  })

  it('a dropped delivery is no longer held', () => {
    const post = decideHeld('drop', 'bluesky')(undecided(), NOW)
    expect(post.status).toBe('FAILED')
    expect(isHeld(entryOf(post))).toBe(false)
  })

  it('a decision concerns the named delivery, and only one that is held', () => {
    const both = apply(buildPost({ selectedPlatforms: ['bluesky', 'threads'] }), [restore])
    const post = decideHeld('drop', 'threads')(both, NOW)
    expect(post.platformStatuses.map(({ status }) => status)).toEqual(['processing', 'failed'])
    const published = claimed()
    expect(decideHeld('publish')(published, NOW)).toBe(published)
  })
})
