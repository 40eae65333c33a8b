import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Context } from '../../../src/context.ts'
import { findDueLane, type Lane } from '../../../src/domain/analytics/collection.ts'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import type { Post } from '../../../src/domain/posts/post.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/domain/shared/times.ts'
import { buildPost } from '../../support/posts.ts'
import { accountIdOf, publishedPost, storePosts } from '../../support/published.ts'
import { testContext } from '../../support/servers.ts'

const NOW = new Date('2026-03-10T10:07:00Z')
const LANES: Lane[] = [
  { platform: 'bluesky', server: null },
  { platform: 'mastodon', server: 'https://one.test' },
  { platform: 'mastodon', server: 'https://two.test' },
]
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
      const server = entry.platform === 'mastodon' && { server: LANES[1 + (index % 2)]!.server! }
      return { ...entry, ...server, ...(metricsDueAt !== undefined && { metricsDueAt }) }
    })
    return { ...post, platformStatuses }
  })
}

const isAnyDue = (post: Post, { platform, server }: Lane) =>
  post.platformStatuses.some((entry) => {
    const lane = findDueLane(entry, NOW)
    return lane?.platform === platform && lane.server === server
  })
const idsOf = (posts: { _id: string }[]) => posts.map(({ _id }) => _id).toSorted()
const listDue = async (lane: Lane, owner: string) => idsOf(await context.published.listDue(lane, owner, NOW))

describe.each(LANES)('due posts on $platform $server', (lane) => {
  it('listDue returns exactly the due posts of the lane, ordered by owner', async () => {
    const due = stored.filter((post) => isAnyDue(post, lane))
    expect(due.length).toBeGreaterThan(20)
    const listed = await context.published.listDue(lane, { after: '' }, NOW)
    expect(idsOf(listed)).toEqual(idsOf(due))
    const owners = listed.map(({ userId }) => userId)
    expect(owners).toEqual(owners.toSorted())
    const [after, until] = [OWNERS[3]!, OWNERS[7]!]
    const between = due.filter(({ userId }) => userId > after && userId <= until)
    expect(idsOf(await context.published.listDue(lane, { after, until }, NOW))).toEqual(idsOf(between))
    expect(await listDue(lane, OWNERS[5]!)).toEqual(idsOf(due.filter(({ userId }) => userId === OWNERS[5])))
  })

  it('listDue reads only the posts of its page and does not sort', async () => {
    const { queryPlanner, executionStats } = await context.published
      .dueCursor(lane, { after: OWNERS[3]! }, NOW, 10)
      .explain('executionStats')
    const plan = JSON.stringify(queryPlanner.winningPlan)
    expect(plan).toContain('IXSCAN')
    expect(plan).not.toMatch(/"stage":"(COLLSCAN|SORT)"/)
    expect(executionStats).toMatchObject({ nReturned: 10 })
    expect(executionStats.totalDocsExamined).toBeLessThan(30)
  })
})

it('findDueServer returns each server with due posts once', async () => {
  const servers = async (platform: Platform) => {
    const found: (string | null)[] = []
    for (;;) {
      const server = await context.published.findDueServer(platform, found, NOW)
      if (server === undefined) return found
      found.push(server)
    }
  }
  expect(await servers('mastodon')).toEqual(['https://one.test', 'https://two.test'])
  expect(await servers('bluesky')).toEqual([null])
  expect(await servers('tumblr')).toEqual([])
})

it('a claimed post is not due before its lease ends, and two collectors share no post', async () => {
  const [, lane] = LANES as [Lane, Lane]
  const userId = OWNERS[4]!
  const due = await listDue(lane, userId)
  expect(due.length).toBeGreaterThan(5)
  const publisher = { ...lane, publishedBy: accountIdOf(lane.platform, userId) }
  const claim = (postIds: string[], leaseMs: number) =>
    context.published.claim(publisher, { userId, postIds, until: ago(-leaseMs) }, NOW)
  expect([...(await claim(due.slice(0, 2), 30 * SECOND))]).toEqual(due.slice(0, 2))
  expect(await claim(due.slice(0, 2), 31 * SECOND)).toEqual(new Set())
  const claims = await Promise.all([claim(due, 31 * SECOND), claim(due, 32 * SECOND), claim(due, 33 * SECOND)])
  expect(claims.flatMap((ids) => [...ids]).toSorted()).toEqual(due.slice(2))
  expect(await listDue(lane, userId)).toEqual([])
  expect(idsOf(await context.published.listDue(lane, userId, ago(-40 * SECOND)))).toEqual(due)
})

it('due posts of one platform are planned for later without those of others', async () => {
  const userId = OWNERS[9]!
  const [bluesky, ...others] = LANES as [Lane, ...Lane[]]
  const listOthers = () => Promise.all(others.map((lane) => listDue(lane, userId)))
  const before = await listOthers()
  const planned = (await listDue(bluesky, userId)).map((postId) => ({ userId, postId, dueAt: ago(-HOUR) }))
  expect(planned.length).toBeGreaterThan(10)
  await context.published.planNext({ platform: 'bluesky', publishedBy: accountIdOf('bluesky', userId) }, planned)
  expect(await listDue(bluesky, userId)).toEqual([])
  expect(await listOthers()).toEqual(before)
})
