import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Credentials } from '../../../src/platforms/contract.ts'
import { options } from '../shared/containers-support.ts'
import { facebookWorld, type FacebookWorld } from './facebook-support.ts'
import { counts, graphMetricsSuite, readOne, refusal, setLag } from '../shared/graph-metrics-suite.ts'
import { SCOPES } from '../shared/meta-support.ts'
import { newDelivery, newPost, platformErrorOf, storedMedia, withVersion } from '../shared/support.ts'
import { film } from '../../support/film.ts'

let stored: Awaited<ReturnType<typeof storedMedia>>
beforeAll(async () => {
  stored = await storedMedia()
})
afterAll(() => stored?.close())

async function start(client: Parameters<typeof facebookWorld>[2] = {}) {
  const world = await facebookWorld(stored.media, {}, client)
  return {
    ...world,
    /** A page whose person granted more or fewer permissions than the service requests. */
    async newLogin(scopes: string[], decline: string[] = []): Promise<Credentials> {
      const { page, token } = await world.newPage(scopes, { decline })
      return withVersion({ accountId: page.id, handle: page.id, accessToken: token })
    },

    publish: ({ accountId }: Credentials) => world.meta.publishElsewhere({ id: accountId }, 'a post').id,
  }
}

graphMetricsSuite({
  start: () => start(),
  listPath: 'published_posts',
  countsPath: 'fields=reactions',
  followersPath: 'fields=followers_count',
})

const WITH_INSIGHTS = [...SCOPES, 'read_insights']

describe('Facebook', () => {
  let world: FacebookWorld & Awaited<ReturnType<typeof start>>
  let account: Credentials
  let id: string

  beforeAll(async () => {
    world = await start()
  })
  afterAll(() => world?.stop())
  beforeEach(async () => {
    await world.control.clearFaults()
    account = await world.newLogin(WITH_INSIGHTS)
    await world.control.setAccountMetrics(account.accountId, { followers: 100 })
    id = world.publish(account)
    await world.control.setMetrics(id, { reactions: 40, comments: 5, shares: 3, impressions: 900, reach: 700 })
  })

  const read = (as = account, postId = id) => readOne(world, postId, as)
  const insightsAsked = async () =>
    (await world.control.requests()).filter(({ path }) => path.includes(`/${id}/insights`)).length
  const engagement = { likes: 40, comments: 5, shares: 3 }

  it('Facebook reports five counts to a login with insights', async () => {
    expect(await read()).toEqual(counts({ ...engagement, impressions: 900, reach: 700 }))
  })

  it('likes are summed by kind when the post does not state them', async () => {
    const kinds = (value: unknown) => ({
      status: 200,
      body: { data: [{ name: 'post_reactions_by_type_total', period: 'lifetime', values: [{ value }] }] },
    })
    await world.control.addFault({ path: 'reactions', action: { status: 403, body: refusal(10) }, times: 2 })
    await world.control.addFault({ path: '/insights', times: 1, action: kinds({ like: 2, love: 3 }) })
    expect(await read()).toEqual(counts({ likes: 5, shares: 3 }))
    await world.control.addFault({ path: '/insights', times: 1, action: kinds({ like: 2, love: 'many' }) })
    expect(await read()).toEqual(counts({ shares: 3 }))
    expect(await read()).toEqual(counts({ likes: 40, shares: 3, impressions: 900, reach: 700 }))
  })

  it('lifetime values are used instead of daily ones', async () => {
    const span = (period: string, value: number) => ({ name: 'post_media_view', period, values: [{ value }] })
    const data = [span('day', 1), span('lifetime', 900), span('days_28', 2)]
    await world.control.addFault({ path: '/insights', action: { status: 200, body: { data } } })
    expect(await read()).toMatchObject({ impressions: 900, reach: null })
  })

  it('a login without insights gets the reactions, and insights are not requested again', async () => {
    account = await world.newLogin(SCOPES)
    id = world.publish(account)
    await world.control.setMetrics(id, engagement)
    expect(await read()).toEqual(counts(engagement))
    expect(await insightsAsked()).toBe(1)
    expect(await read()).toEqual(counts(engagement))
    expect(await insightsAsked()).toBe(1)
    // A new connection may have more permissions.
    await read({ ...account, version: account.version + 1 })
    expect(await insightsAsked()).toBe(2)
  })

  it.each([10, 200])('code %i of insights means unknown', async (code) => {
    await world.control.addFault({ path: '/insights', action: { status: 403, body: refusal(code) } })
    expect(await read()).toEqual(counts(engagement))
  })

  it('a login with more permissions gets all five counts, and one without them gets three', async () => {
    const other = await start({ extraScopes: ['read_insights', 'public_profile'] })
    try {
      for (const [decline, expected] of [
        [[], { ...engagement, impressions: 900, reach: 700 }],
        [['read_insights'], engagement],
      ] as const) {
        const { person, pages } = other.newPerson()
        const as = withVersion((await other.connection(person.id, { decline: [...decline] })).credentials)
        await other.control.setAccountMetrics(pages[0]!.id, { followers: 100 })
        const postId = other.publish(as)
        await other.control.setMetrics(postId, { ...engagement, impressions: 900, reach: 700 })
        expect(await readOne(other, postId, as)).toEqual(counts(expected))
      }
    } finally {
      await other.stop()
    }
  })

  it('omitted shares count as 0', async () => {
    expect(await read(account, world.publish(account))).toMatchObject({ likes: 0, comments: 0, shares: 0 })
  })

  it('a page without views or insights still has the other counts', async () => {
    const refuse = (path: string) => world.control.addFault({ path, action: { status: 400, body: refusal(100) } })
    await refuse('post_media_view')
    expect(await read()).toEqual(counts({ ...engagement, reach: 700 }))
    await refuse('/insights')
    expect(await read()).toEqual(counts(engagement))
    await world.control.clearFaults()
    // Other posts may have what one post lacks.
    expect(await read()).toMatchObject({ impressions: 900 })
    await world.control.setAccountMetrics(account.accountId, { followers: 99 })
    expect(await read()).toEqual(counts(engagement))
  })

  it('counts that are not ready yet are not 0', async () => {
    await setLag(world.meta.facebook, 60_000)
    try {
      expect(await read()).toEqual(counts(engagement))
    } finally {
      await setLag(world.meta.facebook, 0)
    }
  })

  it('comments are left out without the permission to read them, and are not requested again', async () => {
    account = await world.newLogin(SCOPES)
    id = world.publish(account)
    await world.control.setMetrics(id, engagement)
    const refuse = (path: string) => world.control.addFault({ path, action: { status: 403, body: refusal(10) } })
    await refuse('comments')
    expect(await read()).toEqual(counts({ likes: 40, shares: 3 }))
    await refuse('reactions')
    expect(await read()).toEqual(counts({ shares: 3 }))
    const before = (await world.control.requests()).length
    expect(await read(account, world.publish(account))).toEqual(counts({ shares: 0 }))
    expect((await world.control.requests()).length).toBe(before + 1)
  })

  it("reading requires the permission for the page's content", async () => {
    account = await world.newLogin(SCOPES, ['pages_read_engagement'])
    const before = (await world.control.requests()).length
    const postId = world.publish(account)
    for (const calls of [3, 6]) {
      expect(await platformErrorOf(read(account, postId))).toMatchObject({ class: 'permission' })
      expect((await world.control.requests()).length).toBe(before + calls)
    }
  })

  it('unreported counts are null', async () => {
    await world.control.addFault({ path: 'fields=reactions', action: { status: 200, body: { id } } })
    expect(await read()).toEqual(counts({ likes: 40, impressions: 900, reach: 700 }))
    await world.control.addFault({ path: '/insights', action: { status: 200, body: { data: [] } } })
    expect(await read()).toBeUndefined()
  })

  it('a limit of insights alone is reported, and nothing is remembered for it', async () => {
    await world.control.addFault({ path: '/insights', times: 1, action: { status: 400, body: refusal(80_001) } })
    expect(await platformErrorOf(read())).toMatchObject({ class: 'rate_limited', retryAfterMs: 900_000 })
    expect(await read()).toMatchObject({ impressions: 900 })
  })

  it('followers are read from either field', async () => {
    expect(await world.adapter.followers!(account, options())).toBe(100)
    const body = { id: account.accountId, fan_count: 90 }
    await world.control.addFault({ path: 'fan_count', times: 1, action: { status: 200, body } })
    expect(await world.adapter.followers!(account, options())).toBe(90)
    await world.control.addFault({ path: 'fan_count', action: { status: 200, body: { id: account.accountId } } })
    expect(await world.adapter.followers!(account, options())).toBeNull()
  })

  describe('a video', () => {
    beforeEach(async () => {
      const post = newPost('a video', [await stored.add(film(), 'video/mp4')])
      const delivery = newDelivery()
      await world.adapter.prepare(post, account, delivery, options())
      id = (await world.adapter.publish(post, account, delivery, options())).platformPostId
    })

    it('a video is counted by the post that shows it', async () => {
      await world.control.setMetrics(id, { likes: 7, reach: 70 })
      expect(await read()).toEqual(counts({ likes: 7, comments: 0, shares: 0, impressions: 0, reach: 70 }))
      expect((await world.control.requests()).at(-1)?.path).toContain(`_${id}/insights`)
    })

    it('a video shown as a reel reports its own plays', async () => {
      await world.control.setMetrics(id, { likes: 7, reach: 70, impressions: 90 })
      const action = { status: 400, body: refusal(100) }
      await world.control.addFault({ path: `_${id}/insights`, action })
      expect(await read()).toEqual(counts({ likes: 7, comments: 0, shares: 0, impressions: 90, reach: 70 }))
      await world.control.addFault({ path: 'video_insights', action })
      expect(await read()).toEqual(counts({ likes: 7, comments: 0, shares: 0 }))
    })

    it('a video without a post is not deleted', async () => {
      const action = { status: 400, body: refusal(100, 33) }
      await world.control.addFault({ path: `${account.accountId}_${id}`, action })
      await expect.poll(() => read()).toBeUndefined()
    })

    it('a video can be deleted', async () => {
      await world.control.deletePost(id)
      expect(await read()).toBe('deleted')
    })
  })

  describe('in the sandbox', () => {
    const ask = (metric?: string) =>
      world.graph('GET', `/${id}/insights`, metric === undefined ? {} : { metric }, account.accessToken)

    it("the sandbox returns insights in the platform's shape", async () => {
      const { body } = await ask('post_media_view,post_reactions_by_type_total')
      expect(body['data']).toMatchObject([
        { name: 'post_media_view', period: 'lifetime', values: [{ value: 900 }] },
        { name: 'post_reactions_by_type_total', values: [{ value: { like: 40 } }] },
      ])
    })

    it.each([
      [undefined, 3_001],
      ['post_impressions', 100],
    ])('the sandbox refuses unknown metrics (%s)', async (metric, code) => {
      expect(await ask(metric)).toMatchObject({ status: 400, code })
    })

    it("the sandbox refuses insights without permission, with the platform's wording", async () => {
      account = await world.newLogin(SCOPES)
      id = world.publish(account)
      expect(await ask('post_media_view')).toMatchObject({
        status: 400,
        body: {
          error: { code: 10, type: 'OAuthException', message: expect.stringMatching(/^\(#10\) .*read_insights/) },
        },
      })
    })

    it('the sandbox returns nothing to other logins', async () => {
      account = await world.newLogin(WITH_INSIGHTS)
      expect(await ask('post_media_view')).toMatchObject({ body: { error: { error_subcode: 33 } } })
    })
  })
})
