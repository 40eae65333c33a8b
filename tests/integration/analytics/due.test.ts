import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Context } from '../../../src/context.ts'
import {
  findAgeClass,
  parseAgeClasses,
  listDueBounds,
  isDue,
  toSlot,
  type DueBounds,
} from '../../../src/domain/analytics/collection.ts'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import type { Post } from '../../../src/domain/posts/post.ts'
import { DAY, HOUR, MINUTE } from '../../../src/domain/shared/times.ts'
import { buildPost } from '../../support/posts.ts'
import { publishedPost, storePosts } from '../../support/published.ts'
import { testContext } from '../../support/servers.ts'

const NOW = new Date('2026-03-10T10:07:00Z')
const AGES = parseAgeClasses('1:15,7:60,30:360')
const ON: Platform[] = ['bluesky', 'mastodon', 'tumblr']
const BOUNDS = listDueBounds(AGES, ON, NOW)
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
      const metricsSlot = [toSlot(NOW, 15 * MINUTE), toSlot(NOW, HOUR), toSlot(ago(DAY), 6 * HOUR)][turn - 3]
      return metricsSlot ? { ...entry, metricsSlot } : entry
    })
    return { ...post, platformStatuses }
  })
}

const isAnyDue = (post: Post, bounds: DueBounds) => post.platformStatuses.some((entry) => isDue(entry, bounds))
const idsOf = (posts: { _id: string }[]) => posts.map(({ _id }) => _id).toSorted()

describe('ages and slots', () => {
  it('slots of 15 minutes, an hour and six hours follow from the configured age classes', () => {
    const everyAt = (ageMs: number) => findAgeClass(AGES, ago(ageMs), NOW).everyMs / MINUTE
    expect([0, DAY - 1, DAY, 7 * DAY - 1, 7 * DAY, 29 * DAY, 400 * DAY].map(everyAt)).toEqual([
      15, 15, 60, 60, 360, 360, 360,
    ])
    expect(toSlot(NOW, 15 * MINUTE)).toEqual(new Date('2026-03-10T10:00:00Z'))
    expect(toSlot(NOW, 6 * HOUR)).toEqual(new Date('2026-03-10T06:00:00Z'))
    expect(parseAgeClasses('2:5')).toEqual([{ fromMs: 0, untilMs: 2 * DAY, everyMs: 5 * MINUTE }])
    for (const wrong of ['', '1', '1:0', '7:60,1:15', 'a:b', '0:5']) expect(() => parseAgeClasses(wrong)).toThrow(Error)
  })
})

describe.each(BOUNDS.map((bounds, index) => ({ index, bounds })))('age class $index', ({ bounds }) => {
  it('listDue returns exactly the due posts, ordered by owner', async () => {
    const due = idsOf(stored.filter((post) => isAnyDue(post, bounds)))
    expect(due.length).toBeGreaterThan(20)
    const listed = await context.published.listDue(bounds, { userId: null, limit: 10_000 })
    expect(idsOf(listed)).toEqual(due)
    const owners = listed.map(({ userId }) => userId)
    expect(owners).toEqual(owners.toSorted())
  })

  it('listDueOf returns the remaining due posts of an owner in the order of their ids', async () => {
    const [userId] = OWNERS as [string]
    const due = idsOf(stored.filter((post) => post.userId === userId && isAnyDue(post, bounds)))
    const half = due[Math.floor(due.length / 2)] ?? null
    const rest = await context.published.listDueOf(userId, bounds, { postId: half, limit: 10_000 })
    expect(rest.map(({ _id }) => _id)).toEqual(due.filter((id) => half === null || id > half))
  })

  it('listDue reads only the index keys of its page and does not sort', async () => {
    const { queryPlanner, executionStats } = await context.published
      .dueCursor(bounds, { userId: OWNERS[3]!, limit: 10 })
      .explain('executionStats')
    const plan = JSON.stringify(queryPlanner.winningPlan)
    expect(plan).toContain('IXSCAN')
    expect(plan).not.toMatch(/"stage":"(COLLSCAN|SORT)"/)
    expect(executionStats).toMatchObject({ nReturned: 10 })
    expect(executionStats.totalKeysExamined).toBeLessThan(60)
  })

  it('markDueDone marks all due posts of an account on one platform and no others', async () => {
    const userId = OWNERS[9]!
    const one = { ...bounds, platforms: ['bluesky' as const] }
    const listDue = async (wanted: DueBounds) =>
      idsOf(await context.published.listDueOf(userId, wanted, { postId: null, limit: 999 }))
    const others = { ...bounds, platforms: ['mastodon' as const] }
    const before = await listDue(others)
    await context.published.markDueDone(userId, { platform: 'bluesky' }, one)
    expect(await listDue(one)).toEqual([])
    expect(await listDue(others)).toEqual(before)
  })
})
