import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Credentials } from '../../../src/platforms/contract.ts'
import { options, threadsWorld, type ThreadsWorld } from '../shared/containers-support.ts'
import { counts, graphMetricsSuite, readOne, refusal, setLag } from '../shared/graph-metrics-suite.ts'
import { memoryMedia, platformErrorOf } from '../shared/support.ts'

async function start() {
  const world = await threadsWorld(memoryMedia().media)
  return {
    ...world,
    publish: ({ accountId }: Credentials) => world.threads.store.publishElsewhere(accountId, 'a post').id,
  }
}

graphMetricsSuite({ start, listPath: 'threads', countsPath: '/insights', followersPath: '/threads_insights' })

describe('Threads', () => {
  let world: ThreadsWorld & Awaited<ReturnType<typeof start>>
  let account: Credentials
  let id: string

  beforeAll(async () => {
    world = await start()
    account = await world.newAccount()
  })
  afterAll(() => world?.stop())
  beforeEach(async () => {
    await world.control.clearFaults()
    id = world.publish(account)
  })

  const read = () => readOne(world, id, account)
  const refuse = (metric: string) =>
    world.control.addFault({ path: metric, action: { status: 400, body: refusal(100) } })

  it('reposts, quotes and forwards count as shares', async () => {
    await world.control.setMetrics(id, { views: 900, likes: 40, replies: 5, reposts: 3, quotes: 2, shares: 10 })
    expect(await read()).toEqual(counts({ likes: 40, shares: 15, comments: 5, impressions: 900 }))
  })

  it('reach and saves are unknown', async () => {
    expect(await read()).toEqual(counts({ likes: 0, shares: 0, comments: 0, impressions: 0 }))
  })

  it('metrics that are not ready yet are left out', async () => {
    await world.control.setMetrics(id, { views: 900, likes: 40, replies: 5, reposts: 3, quotes: 2, shares: 10 })
    await refuse('shares')
    expect(await read()).toEqual(counts({ likes: 40, shares: 5, comments: 5, impressions: 900 }))
    await refuse('views')
    expect(await read()).toEqual(counts({ likes: 40, shares: 5, comments: 5 }))
    await refuse('likes')
    expect(await platformErrorOf(read())).toMatchObject({ class: 'validation' })
  })

  it('reposts have no counts', async () => {
    id = world.threads.store.repostElsewhere(account.accountId).id
    expect(await world.adapter.metrics.read([id], account, options())).toEqual(new Map())
  })

  it('invalid counts are unknown', async () => {
    const data = [
      { name: 'views', values: [] },
      { name: 'likes', values: [{ value: -1 }] },
      { name: 'replies', values: [{ value: '7' }] },
      { name: 'reposts', values: [{ value: 4 }] },
    ]
    await world.control.addFault({ path: '/insights', action: { status: 200, body: { data } } })
    expect(await read()).toEqual(counts({ shares: 4 }))
  })

  it('Threads reports followers', async () => {
    await world.control.setAccountMetrics(account.accountId, { followers: 321 })
    expect(await world.adapter.followers(account, options())).toBe(321)
    await world.control.addFault({ path: '/threads_insights', action: { status: 200, body: { data: [] } } })
    expect(await world.adapter.followers(account, options())).toBeNull()
  })

  it('reading requires the permission for insights', async () => {
    const without = await world.newAccount(['threads_manage_insights'])
    const theirs = world.publish(without)
    expect(await platformErrorOf(readOne(world, theirs, without))).toMatchObject({ class: 'permission' })
    expect(await platformErrorOf(world.adapter.followers(without, options()))).toMatchObject({ class: 'permission' })
  })

  describe('in the sandbox', () => {
    const ask = async (path: string, metric?: string) => {
      const url = new URL(`${world.threads.url}/v1.0/${path}`)
      url.searchParams.set('access_token', account.accessToken)
      if (metric !== undefined) url.searchParams.set('metric', metric)
      const answer = await fetch(url)
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
    }

    it("the sandbox returns insights in the platform's shape", async () => {
      await world.control.setMetrics(id, { comments: 3 })
      const { body } = await ask(`${id}/insights`, 'replies')
      expect(body).toEqual({
        data: [
          {
            name: 'replies',
            period: 'lifetime',
            values: [{ value: 3 }],
            title: 'replies',
            description: expect.any(String),
            id: `${id}/insights/replies/lifetime`,
          },
        ],
      })
      const { body: own } = await ask('me/threads_insights', 'views,likes')
      expect(own['data']).toMatchObject([
        { name: 'views', period: 'day', values: [{ value: 0, end_time: expect.any(String) }] },
        { name: 'likes', period: 'day', total_value: { value: 0 } },
      ])
    })

    it.each([undefined, 'saved', 'views,reach'])('the sandbox refuses unknown metrics (%s)', async (metric) => {
      expect(await ask(`${id}/insights`, metric)).toMatchObject({ status: 400, body: { error: { code: 100 } } })
    })

    it("the sandbox returns nothing about other accounts' posts or earlier times", async () => {
      const theirs = world.publish(await world.newAccount())
      expect(await ask(`${theirs}/insights`, 'likes')).toMatchObject({ body: { error: { error_subcode: 33 } } })
      expect(await ask('me/threads_insights?since=1712991599', 'likes')).toMatchObject({
        body: { error: { code: 100 } },
      })
    })

    it('the sandbox may report counts late', async () => {
      await setLag(world.threads, 60_000)
      try {
        await world.control.setMetrics(id, { likes: 3 })
        expect(await read()).toMatchObject({ likes: 0 })
      } finally {
        await setLag(world.threads, 0)
      }
      expect(await read()).toMatchObject({ likes: 3 })
    })
  })
})
