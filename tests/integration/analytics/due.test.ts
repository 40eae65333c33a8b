import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Context } from '../../../src/context.ts'
import { isDue, listDueBounds, type DueBounds } from '../../../src/domain/analytics/collection.ts'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import type { Post } from '../../../src/domain/posts/post.ts'
import { DAY, HOUR, MINUTE } from '../../../src/domain/shared/times.ts'
import { buildPost } from '../../support/posts.ts'
import { accountIdOf, publishedPost, storePosts } from '../../support/published.ts'
import { testContext } from '../../support/servers.ts'

const NOW = new Date('2026-03-10T10:07:00Z')
const ON: Platform[] = ['bluesky', 'mastodon', 'tumblr']
const BOUNDS = listDueBounds(ON, NOW)
const OWNERS = Array.from({ length: 40 }, (_, index) => `owner-${String(index).padStart(2, '0')}`)

let context: Context
let stored: Post[]
beforeAll(async () => {
  context = await testContext()
  stored = mixed(3_000)
  await storePosts(context, stored)
})
afterAll(() => context?.close())

const ago = (ms: number) => new Date(NOW.getTime() - ms)

/** Posts up to 40 days old in every state that an entry can be in, some never published. */
function mixed(count: number): Post[] {
  return Array.from({ length: count }, (_, index) => {
    const userId = OWNERS[(index * 7) % OWNERS.length]!
    if (index % 10 === 0) return buildPost({ userId })
    const post = publishedPost({
      userId,
      on: ['bluesky', 'mastodon', 'threads'],
      completedAt: ago(index * 20 * MINUTE),
    })
    const platformStatuses = post.platformStatuses.map((entry, at) => {
      const turn = (index + at) % 7
      if (turn === 1) return { ...entry, status: 'deleted' as const }
      if (turn === 2) return { ...entry, status: 'failed' as const, platformPostId: null, completedAt: null }
      const metricsDueAt = [null, ago(-MINUTE), NOW, ago(DAY)][turn - 3]
      return metricsDueAt === undefined ? entry : { ...entry, metricsDueAt }
    })
    return { ...post, platformStatuses }
  })
}

const isAnyDue = (post: Post, bounds: DueBounds) => post.platformStatuses.some((entry) => isDue(entry, bounds))
const idsOf = (posts: { _id: string }[]) => posts.map(({ _id }) => _id).toSorted()

describe.each(BOUNDS.map((bounds, index) => ({ index, bounds })))('posts of age class $index', ({ bounds }) => {
  it('listDue returns exactly the due posts, ordered by owner', async () => {
    const due = idsOf(stored.filter((post) => isAnyDue(post, bounds)))
    expect(due.length).toBeGreaterThan(20)
    const listed = await context.published.listDue(bounds, { userId: null, limit: 10_000 })
    expect(idsOf(listed)).toEqual(due)
    const owners = listed.map(({ userId }) => userId)
    expect(owners).toEqual(owners.toSorted())
  })

  it('listDue reads only the posts of its page and does not sort', async () => {
    const { queryPlanner, executionStats } = await context.published
      .dueCursor(bounds, { userId: OWNERS[3]!, limit: 10 })
      .explain('executionStats')
    const plan = JSON.stringify(queryPlanner.winningPlan)
    expect(plan).toContain('IXSCAN')
    expect(plan).not.toMatch(/"stage":"(COLLSCAN|SORT)"/)
    expect(executionStats).toMatchObject({ nReturned: 10 })
    expect(executionStats.totalDocsExamined).toBeLessThan(60)
  })
})

it('due posts of one platform are planned for later without those of others', async () => {
  const userId = OWNERS[9]!
  const listDue = async (platform: Platform) => {
    const listed = await context.published.listDueOfUser(userId, platform, NOW)
    return idsOf(listed)
  }
  const before = await listDue('mastodon')
  const planned = (await listDue('bluesky')).map((postId) => ({ userId, postId, dueAt: ago(-HOUR) }))
  expect(planned.length).toBeGreaterThan(10)
  await context.published.planNext({ platform: 'bluesky', publishedBy: accountIdOf('bluesky', userId) }, planned)
  expect(await listDue('bluesky')).toEqual([])
  expect(await listDue('mastodon')).toEqual(before)
})
