import { expect, it } from 'vitest'
import { accept } from '../../../../src/domain/posts/delivery-moves.ts'
import { cancel, edit } from '../../../../src/domain/posts/post-moves.ts'
import {
  armLeadMs,
  HIGHEST_DUE_RANK,
  longestArmLeadMs,
  toPublishPlan,
} from '../../../../src/domain/posts/publish-plan.ts'
import type { Platform } from '../../../../src/domain/shared/platforms.ts'
import type { Post } from '../../../../src/domain/posts/post.ts'
import { after, buildClaim, buildPost, T0 } from '../../../support/posts.ts'

const image = { storageKey: 'posts/u/a.png', storageUrl: 'http://s/posts/u/a.png', mimeType: 'image/png' }

it('a plan says when the post is due, armed and prepared', () => {
  const dueAt = after(T0, 120_000)
  const post = buildPost({
    selectedPlatforms: ['bluesky', 'threads'],
    scheduledAt: dueAt,
    platformSpecificContent: { threads: { mediaItems: [image] } },
  })
  expect(toPublishPlan(post)).toEqual({
    postId: post._id,
    userId: post.userId,
    revision: 0,
    dueAt: dueAt.getTime(),
    armAt: dueAt.getTime() - armLeadMs(post._id),
    platforms: [
      { platform: 'bluesky', round: 0 },
      { platform: 'threads', round: 0, prepareAt: dueAt.getTime() - 60_000 },
    ],
  })
})

it('only the first attempt of an immediate text is brief', () => {
  const isBrief = (post: Post) => toPublishPlan(post)?.isBrief ?? false
  const selectedPlatforms: Platform[] = ['bluesky', 'threads']
  const post = buildPost({ selectedPlatforms })
  expect(isBrief(post)).toBe(true)
  expect(isBrief(buildPost({ selectedPlatforms, scheduledAt: after(T0, 1_000) }))).toBe(false)
  expect(isBrief(buildClaim(post, 'bluesky', T0)(post, T0))).toBe(false)
  const platformSpecificContent = { threads: { mediaItems: [image] } }
  expect(isBrief(buildPost({ selectedPlatforms, platformSpecificContent }))).toBe(false)
})

it('an immediate post with a hold is armed and prepared before its end', () => {
  const post = buildPost({
    content: { text: 'Sea', mediaItems: [image] },
    holdSeconds: 60,
    selectedPlatforms: ['threads'],
  })
  const dueAt = T0.getTime() + 60_000
  expect(toPublishPlan(post)).toMatchObject({
    ...{ dueAt, armAt: dueAt - armLeadMs(post._id) },
    platforms: [{ platform: 'threads', prepareAt: T0.getTime() }],
  })
  const text = buildPost({ holdSeconds: 60 })
  expect(toPublishPlan(text)).not.toHaveProperty('isBrief')
  const now = after(T0, 10_000)
  expect(toPublishPlan({ ...edit({ holdSeconds: 0 })(text, now), updatedAt: now })).toMatchObject({ isBrief: true })
})

it('a draft, a cancelled post and an ended post have no plan', () => {
  const post = buildPost()
  expect(toPublishPlan(buildPost({ draft: true }))).toBeNull()
  expect(toPublishPlan({ ...post, status: 'DRAFT' })).toBeNull()
  expect(toPublishPlan({ ...post, dueAt: null })).toBeNull()
  expect(toPublishPlan(cancel()(post, T0))).toBeNull()
  expect(toPublishPlan(accept('bluesky', { platformPostId: '1', platformPostUrl: 'http://p/1' })(post, T0))).toBeNull()
})

it('the arm lead depends on the id and is between 3 s and 10 s', () => {
  expect(armLeadMs('')).toBe(3_000 + (0x811c9dc5 % 7_000))
  expect(armLeadMs('a')).toBe(3_000 + (0xe40c292c % 7_000))
})

it('posts of one second are armed one after the other, 25 per second', () => {
  const lead = (dueRank: number) => armLeadMs('a', dueRank) - armLeadMs('a')
  expect([0, 1, 25, 1_000].map(lead)).toEqual([0, 40, 1_000, 40_000])
  const { dueAt, armAt } = toPublishPlan({ ...buildPost({ scheduledAt: after(T0, 1_000) }), _id: 'a', dueRank: 1_000 })!
  expect(dueAt - armAt).toBe(armLeadMs('a') + 40_000)
})

it('no post is armed more than two minutes ahead', () => {
  expect(longestArmLeadMs()).toBe(120_000)
  for (const dueRank of [HIGHEST_DUE_RANK - 1, HIGHEST_DUE_RANK, 1e6]) {
    expect(armLeadMs('a', dueRank)).toBeLessThanOrEqual(120_000)
    expect(armLeadMs('a', dueRank)).toBeGreaterThan(110_000)
  }
})
