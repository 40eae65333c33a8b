import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inventHistory, storeHistory } from '../../../../sandbox/analytics-history.ts'
import { createResponseCache } from '../../../../src/api/analytics/response-cache.ts'
import { MINUTE } from '../../../../src/domain/shared/times.ts'
import { signIn } from '../../../support/api.ts'
import { startFleet, type Fleet } from '../../../support/fleet.ts'

describe('the response cache of a process', () => {
  let now = new Date('2026-03-01T12:00:00Z')
  const cacheOf = (maxEntries: number, maxSize = 32_000) =>
    createResponseCache({ now: () => now, maxEntries, maxSize, maxAgeMs: MINUTE })
  const counting = () => {
    let count = 0
    return async () => ({ count: (count += 1) })
  }
  type Answer = ReturnType<typeof cacheOf>
  const countOf = async (answer: Answer, key: string, version: number, work: ReturnType<typeof counting>) =>
    (await answer(key, version, work)).count

  it('a response is computed once per version, also for concurrent calls', async () => {
    const [answer, work] = [cacheOf(10), counting()]
    expect(await Promise.all([1, 2].map(() => countOf(answer, 'a', 3, work)))).toEqual([1, 1])
    expect(await countOf(answer, 'a', 3, work)).toBe(1)
    expect(await countOf(answer, 'b', 3, work)).toBe(2)
    expect(await countOf(answer, 'a', 4, work)).toBe(3)
    expect(await countOf(answer, 'a', 4, work)).toBe(3)
  })

  it('a response expires after its maximum age', async () => {
    const [answer, work] = [cacheOf(10), counting()]
    await answer('a', 1, work)
    now = new Date(now.getTime() + MINUTE)
    expect(await countOf(answer, 'a', 1, work)).toBe(1)
    now = new Date(now.getTime() + 1)
    expect(await countOf(answer, 'a', 1, work)).toBe(2)
  })

  it('a failed computation is retried', async () => {
    const answer = cacheOf(10)
    await expect(answer('a', 1, () => Promise.reject(new Error('away')))).rejects.toThrow('away')
    expect(await countOf(answer, 'a', 1, counting())).toBe(1)
  })

  it('the least recently used response is evicted when the cache is full', async () => {
    const [answer, work] = [cacheOf(2), counting()]
    for (const key of ['a', 'b', 'a', 'c']) await answer(key, 1, work)
    expect([await countOf(answer, 'a', 1, work), await countOf(answer, 'b', 1, work)]).toEqual([1, 4])
  })

  it('a caller gets its response even when it is evicted before it is ready', async () => {
    const [answer, work] = [cacheOf(1), counting()]
    expect(await Promise.all(['a', 'b', 'c'].map((key) => countOf(answer, key, 1, work)))).toEqual([1, 2, 3])
  })

  it('the cache is bounded in total size, and an entry takes at most its share', async () => {
    const answer = cacheOf(10_000, 32_000)
    const work = (length: number) => {
      let count = 0
      return async () => ({ count: (count += 1), text: 'x'.repeat(length) })
    }
    const [short, long] = [work(900), work(1_100)]
    for (let time = 1; time <= 2; time++) {
      expect(await countOf(answer, 'short', 1, short)).toBe(1)
      expect(await countOf(answer, 'long', 1, long)).toBe(time)
    }
    for (let nth = 0; nth < 35; nth++) await answer(`other ${nth}`, 1, work(900))
    expect(await countOf(answer, 'short', 1, short)).toBe(2)
  })
})

describe('the response caches of two API processes', () => {
  let fleet: Fleet
  beforeAll(async () => {
    fleet = await startFleet(2)
  })
  afterAll(() => fleet.close())

  it('both processes show a new snapshot immediately and compute nothing before', async () => {
    const { context, members } = fleet
    const [history] = [...inventHistory({ users: 1, posts: 10, snapshots: 8 }, { end: new Date() })]
    const { headers } = await signIn(context, { _id: history!.userId })
    await storeHistory(context.database.connection, history!)
    const likes = () =>
      Promise.all(
        members.map(async ({ address }) => {
          const response = await fetch(`${address}/api/analytics/posts/top?sortBy=likes&limit=1`, { headers })
          const { data } = (await response.json()) as { data: { metrics: { likes: number } }[] }
          return data[0]!.metrics.likes
        }),
      )
    const before = await likes()
    expect(before[0]).toBe(before[1])

    const { _id, ...seen } = history!.postSnapshots.at(-1)!
    const at = new Date()
    const newest = { ...seen, slot: at, takenAt: at, likes: 1_000_000 }
    const store = (raise: boolean) =>
      context.database.transaction(async (session) => {
        await context.snapshots.save([newest], session)
        if (raise) await context.users.raiseAnalyticsVersion(history!.userId, session)
      })
    await store(false)
    expect(await likes()).toEqual(before)
    await store(true)
    expect(await likes()).toEqual([1_000_000, 1_000_000])
  })
})
