import { describe, expect, it } from 'vitest'
import { accept } from '../../../../src/domain/posts/delivery-moves.ts'
import { deferChanges, toChangeWaitMs } from '../../../../src/domain/posts/published-changes.ts'
import { markRemoved, requestRemoval } from '../../../../src/domain/posts/take-back.ts'
import { after, buildPost, T0 } from '../../../support/posts.ts'

const SECOND = 1_000

describe('a change that has to wait', () => {
  it('is due when it is tried again', () => {
    const published = { platformPostId: '1', platformPostUrl: 'https://bsky.test/1' }
    const pending = requestRemoval('user')(accept('bluesky', published)(buildPost(), T0), T0)
    const later = after(T0, 60 * SECOND)
    expect(deferChanges(later)(pending, T0).changeDueAt).toEqual(later)
    const removed = markRemoved('bluesky')(pending, T0)
    expect(deferChanges(later)(removed, T0)).toBe(removed)
  })

  it('waits a quarter of its age, at most 10 minutes, and as long as the platform asks', () => {
    const waitMs = (ageMs: number, statedMs: number) =>
      toChangeWaitMs({ requestedAt: T0 }, statedMs, after(T0, ageMs)) / SECOND
    expect(waitMs(0, SECOND)).toBe(1)
    expect(waitMs(60 * SECOND, SECOND)).toBe(15)
    expect(waitMs(86_400 * SECOND, SECOND)).toBe(600)
    expect(waitMs(86_400 * SECOND, 3_600 * SECOND)).toBe(3_600)
  })
})
