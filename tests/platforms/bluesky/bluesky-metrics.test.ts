import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NO_COUNTS } from '../../../src/domain/analytics/analytics.ts'
import type { Credentials } from '../../../src/platforms/contract.ts'
import { memoryMedia, newDelivery, newPost, platformErrorOf } from '../shared/support.ts'
import { blueskyWorld, type BlueskyWorld } from './bluesky-support.ts'
import { quotaDatabase } from '../../support/quota-databases.ts'

const GET_POSTS = 'app.bsky.feed.getPosts'
const GET_RECORD = 'com.atproto.repo.getRecord'
const NOTHING_YET = { ...NO_COUNTS, likes: 0, shares: 0, comments: 0, saved: 0 }

let world: BlueskyWorld
let { bluesky, control, adapter } = {} as BlueskyWorld
let account: Credentials

const options = () => ({ signal: AbortSignal.timeout(20_000) })
const read = (ids: string[], as = account) => adapter.metrics.read(ids, as, options())
const followers = () => adapter.followers(account, options())

async function publish(as = account): Promise<string> {
  const [post, delivery] = [newPost('counted'), newDelivery()]
  await adapter.prepare(post, as, delivery, options())
  return (await adapter.publish(post, as, delivery, options())).platformPostId
}

async function postControl(path: string, body?: object): Promise<void> {
  const answer = await fetch(`${bluesky.control}${path}`, { method: 'POST', body: JSON.stringify(body ?? {}) })
  expect(answer.status).toBe(200)
}

async function requestsTo(method: string): Promise<number> {
  return (await control.requests()).filter(({ path }) => path.includes(method)).length
}

beforeAll(async () => {
  world = await blueskyWorld(memoryMedia().media)
  ;({ bluesky, control, adapter } = world)
  account = await world.newAccount()
})

afterAll(() => world?.stop())

beforeEach(async () => {
  await control.clearFaults()
  await postControl('/app-view', { lagMs: 0 })
})

describe('the counts of posts', () => {
  it('counts are those of the network: quotes count as shares, and unknown counts are null', async () => {
    const uri = await publish()
    await control.setMetrics(uri, { likes: 5, reposts: 2, quotes: 1, comments: 3, saved: 4 })
    expect(await read([uri])).toEqual(
      new Map([[uri, { likes: 5, shares: 3, comments: 3, impressions: null, reach: null, saved: 4 }]]),
    )
  })

  it('counts of many posts need one call', async () => {
    const uris = [await publish(), await publish(), await publish()]
    await control.setMetrics(uris[1]!, { likes: 1 })
    const before = await requestsTo(GET_POSTS)
    const counts = await read(uris)
    expect([...counts.keys()]).toEqual(uris)
    expect(counts.get(uris[1]!)).toEqual({ ...NOTHING_YET, likes: 1 })
    expect(await requestsTo(GET_POSTS)).toBe(before + 1)
  })

  it('one call requests as many posts as Bluesky accepts', async () => {
    const { perCall } = adapter.metrics
    const uris = (count: number) =>
      Array.from({ length: count }, (_, index) => `at://${account.accountId}/app.bsky.feed.post/${index}`)
    await expect(read(uris(perCall))).resolves.toBeInstanceOf(Map)
    expect(await platformErrorOf(read(uris(perCall + 1)))).toMatchObject({ class: 'validation' })
  })

  it('omitted counts are 0, except bookmarks, which older servers do not know', async () => {
    const uri = await publish()
    await control.addFault({ path: GET_POSTS, action: { status: 200, body: { posts: [{ uri }] } } })
    expect((await read([uri])).get(uri)).toEqual({ ...NOTHING_YET, saved: null })
  })

  it('invalid counts are null', async () => {
    const uri = await publish()
    const none = { likeCount: 'many', repostCount: -1, quoteCount: 2, replyCount: 1.5, bookmarkCount: null }
    const answer = (posts: object[]) =>
      control.addFault({ path: GET_POSTS, times: 1, action: { status: 200, body: { posts } } })
    await answer([{ uri, ...none, likeCount: 3 }])
    expect(await read([uri])).toEqual(new Map([[uri, { ...NO_COUNTS, likes: 3 }]]))
    await answer([{ uri, ...none }])
    expect(await read([uri])).toEqual(new Map())
  })

  it('counts follow new activity after the lag', async () => {
    const uri = await publish()
    await read([uri])
    await postControl('/app-view', { lagMs: 60_000 })
    await control.setMetrics(uri, { likes: 9 })
    await control.deletePost(uri)
    const other = await publish()
    expect(await read([uri, other])).toEqual(new Map([[uri, NOTHING_YET]]))
    await postControl('/app-view', { lagMs: 0 })
    expect(await read([uri, other])).toEqual(
      new Map<string, unknown>([
        [uri, 'deleted'],
        [other, NOTHING_YET],
      ]),
    )
  })
})

describe('a post that the network does not show', () => {
  it("a post is left out while its account's own server has it", async () => {
    const [hidden, shown] = [await publish(), await publish()]
    await postControl(`/posts/${encodeURIComponent(hidden)}/hide`)
    expect([...(await read([hidden, shown])).keys()]).toEqual([shown])
  })

  it('a post of another account is left out', async () => {
    const uri = await publish(await world.newAccount())
    await control.deletePost(uri)
    expect(await read([uri])).toEqual(new Map())
  })

  it.each([
    ['trouble', 500, { error: 'InternalServerError' }, 'transient'],
    ['a limit', 429, { error: 'RateLimitExceeded' }, 'rate_limited'],
  ])('a post does not count as deleted because of %s', async (_, status, body, errorClass) => {
    const uri = await publish()
    await control.deletePost(uri)
    await control.addFault({ path: GET_RECORD, action: { status, body } })
    expect(await platformErrorOf(read([uri]))).toMatchObject({ class: errorClass })
  })

  it('a post does not count as deleted because of an answer to a different question', async () => {
    const uri = await publish()
    await control.deletePost(uri)
    const body = { error: 'InvalidRequest', message: 'Could not find repo' }
    await control.addFault({ path: GET_RECORD, action: { status: 400, body } })
    expect(await read([uri])).toEqual(new Map())
  })
})

describe('the followers', () => {
  it('the follower count is null when it is not reported', async () => {
    const { accountId: did, handle } = account
    await control.addFault({ path: 'getProfile', action: { status: 200, body: { did, handle } } })
    expect(await followers()).toBeNull()
  })
})

describe('refused reads', () => {
  it('an expired access token is reported as such and never as deleted posts', async () => {
    const ended = await world.newAccount()
    const uri = await publish(ended)
    await control.expire(ended.accountId)
    expect(await platformErrorOf(read([uri], ended))).toMatchObject({ class: 'unauthorized', certain: true })
    expect(await platformErrorOf(adapter.followers(ended, options()))).toMatchObject({ class: 'unauthorized' })
  })

  it.each([
    ['not allowed', 403, { error: 'Forbidden' }, { class: 'permission' }],
    ['another thing', 200, { posts: 'none' }, { class: 'transient' }],
  ])('a refusal is reported as what it is: %s', async (_, status, body, expected) => {
    await control.addFault({ path: '/xrpc/app.bsky', action: { status, body } })
    expect(await platformErrorOf(read([await publish()]))).toMatchObject(expected)
    expect(await platformErrorOf(followers())).toMatchObject(expected)
  })
})

it("reading leaves half of a server's rate limit to publishing, and a user a quarter of it to others", async () => {
  const database = await quotaDatabase()
  const other = world.createClient({ quotas: database.createQuotas() })
  try {
    const uri = await publish()
    const headers = (remaining: number, reset: number) => ({
      'ratelimit-limit': '20',
      'ratelimit-remaining': `${remaining}`,
      'ratelimit-reset': `${Math.floor(Date.now() / 1_000) + reset}`,
    })
    const user = { ...account, userId: 'one' }
    const ask = () => other.adapter.metrics!.read([uri], user, options())
    let session = await world.newAccount()
    const renew = async (userId: string) => {
      session = { ...session, ...(await other.adapter.renew!({ ...session, userId }, options())) }
    }
    // A server whose limit is not known is called without a count until it states one, for a window that has not ended.
    for (const stated of [headers(0, -1), headers(19, 60)]) {
      const action = { status: 200, headers: stated, body: { posts: [{ uri }] } }
      await control.addFault({ path: GET_POSTS, times: 1, action })
      expect(await ask()).toHaveProperty('size', 1)
    }
    for (let calls = 0; calls < 10; calls++) expect(await ask()).toHaveProperty('size', 1)
    const before = await requestsTo(GET_POSTS)
    const error = await platformErrorOf(ask())
    expect(error).toMatchObject({ class: 'rate_limited', certain: true })
    expect(error.retryAfterMs).toBeGreaterThan(0)
    expect(error.retryAfterMs).toBeLessThanOrEqual(300_000)
    expect(await platformErrorOf(other.adapter.followers!(account, options()))).toMatchObject({ class: 'rate_limited' })
    expect(await requestsTo(GET_POSTS)).toBe(before)
    expect(await platformErrorOf(other.adapter.profile(user, options()))).toMatchObject({ class: 'rate_limited' })
    for (let calls = 0; calls < 5; calls++) await renew('one')
    expect(await platformErrorOf(renew('one'))).toMatchObject({ class: 'rate_limited' })
    await renew('other')
  } finally {
    await other.close()
    await database.close()
  }
})
