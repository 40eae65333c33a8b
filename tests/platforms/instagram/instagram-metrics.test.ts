import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Credentials } from '../../../src/platforms/contract.ts'
import { instagramWorld, options } from '../shared/containers-support.ts'
import { counts, graphMetricsSuite, readOne, refusal, setLag } from '../shared/graph-metrics-suite.ts'
import { memoryMedia, platformErrorOf } from '../shared/support.ts'

async function start() {
  const world = await instagramWorld(memoryMedia().media)
  return { ...world, publish: ({ accountId }: Credentials) => world.store.publishElsewhere(accountId, 'a post').id }
}

graphMetricsSuite({ start, listPath: 'media', countsPath: '/insights', followersPath: 'fields=followers_count' })

const ALL = { views: 900, reach: 700, saved: 8, likes: 40, comments: 5, shares: 3 }

describe('Instagram', () => {
  let world: Awaited<ReturnType<typeof start>>
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
    await world.control.setMetrics(id, ALL)
  })

  const read = (as = account) => readOne(world, id, as)
  const refuse = (metric: string) =>
    world.control.addFault({ path: metric, action: { status: 400, body: refusal(100) } })
  const unknown = { saved: 8, reach: 700 }

  it('Instagram reports all six counts in one call', async () => {
    const before = (await world.control.requests()).length
    expect(await read()).toEqual({ impressions: 900, reach: 700, saved: 8, likes: 40, comments: 5, shares: 3 })
    expect((await world.control.requests()).length).toBe(before + 1)
  })

  it('metrics that a kind of post lacks are left out', async () => {
    await refuse('shares')
    expect(await read()).toEqual(counts({ ...unknown, impressions: 900, likes: 40, comments: 5 }))
    await refuse('views')
    // The post itself shows likes and comments.
    expect(await read()).toEqual(counts({ ...unknown, likes: 40, comments: 5 }))
    await refuse('reach')
    expect(await read()).toEqual(counts({ likes: 40, comments: 5 }))
  })

  it('counts that are not ready yet are not 0', async () => {
    await setLag(world.instagram, 60_000)
    try {
      expect(await read()).toEqual(counts({ likes: 40, comments: 5 }))
    } finally {
      await setLag(world.instagram, 0)
    }
    expect(await read()).toMatchObject({ impressions: 900 })
  })

  describe('a story', () => {
    beforeEach(async () => {
      id = world.store.publishElsewhere(account.accountId, '').id
      world.store.posts.set(id, { ...world.store.posts.get(id)!, isStory: true })
    })

    it('has views, reach, shares and replies', async () => {
      await world.control.setMetrics(id, { views: 90, reach: 70, shares: 3, replies: 2 })
      expect(await read()).toMatchObject({ impressions: 90, reach: 70, shares: 3, comments: 2, saved: null })
    })

    it('has no insights before its fifth viewer, and other posts of the call have theirs', async () => {
      await world.control.setMetrics(id, { views: 4, reach: 4 })
      const other = world.publish(account)
      await world.control.setMetrics(other, ALL)
      const found = await world.adapter.metrics.read([id, other], account, options())
      expect(found.get(id)).toMatchObject({ impressions: null, reach: null })
      expect(found.get(other)).toMatchObject({ impressions: 900, reach: 700 })
    })
  })

  it('hidden likes are null', async () => {
    const fields = { id, comments_count: 5 }
    await world.control.addFault({ path: '/insights', action: { status: 200, body: { data: [] } } })
    await world.control.addFault({ path: 'like_count', action: { status: 200, body: fields } })
    expect(await read()).toEqual(counts({ comments: 5 }))
  })

  it('only counts that insights omit are read from the post', async () => {
    const data = [{ name: 'likes', period: 'lifetime', values: [{ value: 41 }] }]
    await world.control.addFault({ path: '/insights', action: { status: 200, body: { data } } })
    expect(await read()).toEqual(counts({ likes: 41, comments: 5 }))
  })

  it('a login without insights gets likes and comments', async () => {
    account = await world.newAccount(['instagram_manage_insights'])
    id = world.publish(account)
    await world.control.setMetrics(id, ALL)
    expect(await read()).toEqual(counts({ likes: 40, comments: 5 }))
    expect(await world.adapter.followers(account, options())).toBe(0)
  })

  it.each([
    ['a limit', refusal(80_002), 'rate_limited'],
    ['trouble', refusal(2), 'transient'],
    ['a dead login', refusal(190), 'unauthorized'],
  ])('%s is not counted in part when only insights hit it', async (_, body, expected) => {
    await world.control.addFault({ path: '/insights', action: { status: 400, body } })
    expect(await platformErrorOf(read())).toMatchObject({ class: expected })
  })

  it('a login without any permission is reported', async () => {
    await world.control.addFault({ path: id, action: { status: 400, body: refusal(10) } })
    expect(await platformErrorOf(read())).toMatchObject({ class: 'permission' })
  })

  it('Instagram reports followers', async () => {
    await world.control.setAccountMetrics(account.accountId, { followers: 321 })
    expect(await world.adapter.followers(account, options())).toBe(321)
    await world.control.addFault({ action: { status: 200, body: { id: account.accountId } } })
    expect(await world.adapter.followers(account, options())).toBeNull()
  })

  it.each([
    [100, 33, 1],
    // Posts from before the account was professional have no counts at all.
    [100, 2_108_006, 1],
    [10, undefined, 1],
    [100, undefined, 4],
  ])('a post without insights exists nevertheless (%s, %s)', async (code, subcode, calls) => {
    await world.control.addFault({ path: '/insights', action: { status: 400, body: refusal(code, subcode) } })
    const before = (await world.control.requests()).length
    expect(await read()).toEqual(counts({ likes: 40, comments: 5 }))
    expect((await world.control.requests()).length).toBe(before + calls + 1)
  })

  describe('in the sandbox', () => {
    const ask = async (metric?: string, of = id) => {
      const url = new URL(`${world.instagram.url}/v26.0/${of}/insights`)
      if (metric !== undefined) url.searchParams.set('metric', metric)
      const answer = await fetch(url, { headers: { authorization: `Bearer ${account.accessToken}` } })
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
    }

    beforeEach(async () => {
      account = await world.newAccount()
      id = world.publish(account)
      await world.control.setMetrics(id, { ...ALL, impressions: 901 })
    })

    it("the sandbox returns insights in the platform's shape", async () => {
      const { body } = await ask('views,total_interactions')
      expect(body['data']).toMatchObject([
        { name: 'views', period: 'lifetime', values: [{ value: 901 }], id: `${id}/insights/views/lifetime` },
        { name: 'total_interactions', values: [{ value: 56 }] },
      ])
    })

    it.each([undefined, 'impressions', 'views,plays', 'ig_reels_avg_watch_time'])(
      'the sandbox refuses unsupported metrics (%s)',
      async (metric) => {
        expect(await ask(metric)).toMatchObject({ status: 400, body: { error: { code: 100 } } })
      },
    )

    it("the sandbox returns nothing about other accounts' posts", async () => {
      const theirs = world.publish(await world.newAccount())
      expect(await ask('likes', theirs)).toMatchObject({ body: { error: { error_subcode: 33 } } })
    })
  })
})
