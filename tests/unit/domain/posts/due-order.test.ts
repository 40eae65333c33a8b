import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toBurstDelayMs, warnOfBurst } from '../../../../src/domain/posts/due-order.ts'
import { after, T0 } from '../../../support/posts.ts'

const LIMITS = { atInstant: 250, perSecond: 15 }

it('as many posts of a user as the limit allows are due at the instant, and the others in order of their rank', () => {
  expect([0, 249, 250, 264, 265, 4_999].map((rank) => toBurstDelayMs(rank, LIMITS))).toEqual([
    0, 0, 67, 1_000, 1_067, 316_667,
  ])
})

it('no second after the instant has more posts than the limit', () => {
  const limits = fc.record({ atInstant: fc.integer({ min: 1, max: 50 }), perSecond: fc.integer({ min: 1, max: 50 }) })
  fc.assert(
    fc.property(limits, fc.integer({ min: 1, max: 500 }), (burst, posts) => {
      const delays = Array.from({ length: posts }, (_, rank) => toBurstDelayMs(rank, burst))
      expect(delays.filter((delay) => delay === 0)).toHaveLength(Math.min(posts, burst.atInstant))
      const perSecond = Map.groupBy(
        delays.filter((delay) => delay > 0),
        (delay) => Math.ceil(delay / 1_000),
      )
      for (const due of perSecond.values()) expect(due.length).toBeLessThanOrEqual(burst.perSecond)
    }),
  )
})

it('the warning states to the second when the post is published, and there is none without a delay', () => {
  const post = { scheduledAt: T0, dueAt: after(T0, 89_067), timezone: 'UTC' }
  const [warning] = warnOfBurst(post, LIMITS)
  expect(warning).toMatchObject({ path: 'scheduledAt', code: 'TIME_CROWDED', nextFreeAt: post.dueAt.toISOString() })
  expect(warning!.message).toMatch(/^More than 250 of your posts .* published at 1 March 2026, 12:01:30 \(UTC\)\./)
  for (const dueAt of [T0, null]) expect(warnOfBurst({ ...post, dueAt }, LIMITS)).toEqual([])
  expect(warnOfBurst({ ...post, scheduledAt: null }, LIMITS)).toEqual([])
})
