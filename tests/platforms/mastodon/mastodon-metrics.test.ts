import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { consent } from '../../../sandbox/platforms/shared/consent.ts'
import { NO_COUNTS } from '../../../src/domain/analytics/analytics.ts'
import type { Credentials } from '../../../src/platforms/contract.ts'
import { call, mastodonWorld, REDIRECT_URI, type MastodonWorld } from './mastodon-support.ts'
import { memoryMedia, newDelivery, newPost, platformErrorOf } from '../shared/support.ts'
import { quotaDatabase } from '../../support/quota-databases.ts'

const STATUSES = '/api/v1/statuses'
const OWN_ACCOUNT = '/api/v1/accounts/verify_credentials'
const ROOM = { max: 100_000, seconds: 300 }
const NOTHING_YET = { ...NO_COUNTS, likes: 0, shares: 0, comments: 0 }

const { media } = memoryMedia()
let world: MastodonWorld
let account: Credentials

const options = () => ({ signal: AbortSignal.timeout(20_000) })
const read = (ids: string[], as = account, at = world) => at.adapter.metrics.read(ids, as, options())
const followers = (as = account) => world.adapter.followers(as, options())

async function publish(as = account, at = world): Promise<string> {
  const [post, delivery] = [newPost('counted'), newDelivery()]
  await at.adapter.prepare(post, as, delivery, options())
  return (await at.adapter.publish(post, as, delivery, options())).platformPostId
}

async function requestsTo(path: string, at = world): Promise<number> {
  return (await at.control.requests()).filter((one) => one.method === 'GET' && one.path.startsWith(path)).length
}

beforeAll(async () => {
  world = await mastodonWorld(media, { rateLimits: { api: ROOM, statuses: ROOM } })
  account = await world.newAccount()
})
afterAll(() => world?.stop())
beforeEach(() => world.control.clearFaults())

describe('the counts of posts', () => {
  it('counts are those of the instance: quotes count as shares, and unknown counts are null', async () => {
    const id = await publish()
    await world.control.setMetrics(id, { likes: 5, shares: 2, quotes: 1, comments: 3 })
    const counts = { likes: 5, shares: 3, comments: 3, impressions: null, reach: null, saved: null }
    expect(await read([id])).toEqual(new Map([[id, counts]]))
  })

  it('counts of many posts need one call', async () => {
    const ids = await Promise.all(Array.from({ length: world.adapter.metrics.perCall }, () => publish()))
    await world.control.setMetrics(ids[1]!, { likes: 1 })
    const before = await requestsTo(STATUSES)
    const counts = await read(ids)
    expect([...counts.keys()].sort()).toEqual(ids.toSorted())
    expect(counts.get(ids[1]!)).toEqual({ ...NOTHING_YET, likes: 1 })
    expect(await requestsTo(STATUSES)).toBe(before + 1)
  })

  it('invalid counts are null', async () => {
    const id = await publish()
    const none = { id, favourites_count: null, reblogs_count: '2', quotes_count: 1, replies_count: -1 }
    const answer = (body: object) => world.control.addFault({ path: STATUSES, times: 1, action: { status: 200, body } })
    await answer({ ...none, replies_count: 3 })
    expect(await read([id])).toEqual(new Map([[id, { ...NO_COUNTS, comments: 3 }]]))
    await answer({ ...none, favourites_count: 1e300, reblogs_count: 2, quotes_count: -1, replies_count: 0 })
    expect(await read([id])).toEqual(new Map([[id, { ...NO_COUNTS, comments: 0 }]]))
    await answer(none)
    expect(await read([id])).toEqual(new Map())
  })

  it('counts are read however long the posts are', async () => {
    const ids = [await publish(), await publish()]
    const body = ids.map((id) => ({ id, favourites_count: 1, content: 'a'.repeat(1_500_000) }))
    await world.control.addFault({ path: STATUSES, action: { status: 200, body } })
    expect([...(await read(ids)).keys()]).toEqual(ids)
  })

  it('counts are complete on servers without quotes', async () => {
    const id = await publish()
    const body = { id, favourites_count: 1, reblogs_count: 2, replies_count: 3 }
    await world.control.addFault({ path: STATUSES, action: { status: 200, body } })
    expect((await read([id])).get(id)).toEqual({ ...NO_COUNTS, likes: 1, shares: 2, comments: 3 })
  })

  it('counts are read one by one on servers without the batch endpoint', async () => {
    const old = await mastodonWorld(media, { showsSeveral: false })
    try {
      const as = await old.newAccount()
      const ids = [await publish(as, old), await publish(as, old), await publish(as, old)]
      await old.control.setMetrics(ids[2]!, { shares: 4, quotes: 7 })
      await old.control.deletePost(ids[0]!)
      expect(await read(ids, as, old)).toEqual(
        new Map<string, unknown>([
          [ids[0]!, 'deleted'],
          [ids[1]!, NOTHING_YET],
          [ids[2]!, { ...NOTHING_YET, shares: 4 }],
        ]),
      )
      await read(ids.slice(1), as, old)
      expect(await requestsTo(`${STATUSES}?`, old)).toBe(1)
    } finally {
      await old.stop()
    }
  })

  it("counts are read one by one after a proxy's error, and in a batch the next time", async () => {
    const ids = [await publish(), await publish()]
    const action = { status: 404, body: '<html>Not found</html>' }
    await world.control.addFault({ path: `${STATUSES}?`, times: 1, action })
    expect([...(await read(ids)).keys()]).toEqual(ids)
    const before = await requestsTo(STATUSES)
    await read(ids)
    expect(await requestsTo(STATUSES)).toBe(before + 1)
  })
})

describe('a missing batch endpoint', () => {
  it.each([
    [404, { error: 'Not Found' }],
    [405, { error: 'Method Not Allowed' }],
    [405, '405 method not allowed'],
    [501, ''],
  ])('a missing batch endpoint is not requested again after %i %j', async (status, body) => {
    const other = await mastodonWorld(media)
    try {
      const as = await other.newAccount()
      const ids = [await publish(as, other), await publish(as, other)]
      await other.control.addFault({ path: `${STATUSES}?`, action: { status, body } })
      expect([...(await read(ids, as, other)).keys()]).toEqual(ids)
      await read(ids, as, other)
      expect(await requestsTo(`${STATUSES}?`, other)).toBe(1)
    } finally {
      await other.stop()
    }
  })
})

describe('a missing status', () => {
  it.each([
    ['alone', 0],
    ['among others', 2],
  ])('a missing status is deleted: %s', async (_, others) => {
    const deleted = await publish()
    const existing = await Promise.all(Array.from({ length: others }, () => publish()))
    await world.control.deletePost(deleted)
    const counts = await read([deleted, ...existing])
    expect(counts.get(deleted)).toBe('deleted')
    expect(existing.map((id) => counts.get(id))).toEqual(existing.map(() => NOTHING_YET))
  })

  it.each([
    ['is in trouble', 500, { error: 'Oops' }, 'transient'],
    ['knows the login no more', 401, { error: 'The access token was revoked' }, 'unauthorized'],
    ['asks to wait', 429, { error: 'Too many requests' }, 'rate_limited'],
    ['answers with a page', 200, '<html>Welcome</html>', 'transient'],
  ])('a status does not count as deleted when the server %s', async (_, status, body, errorClass) => {
    const id = await publish()
    await world.control.deletePost(id)
    await world.control.addFault({ path: OWN_ACCOUNT, action: { status, body } })
    expect(await platformErrorOf(read([id]))).toMatchObject({ class: errorClass })
  })

  it('a status does not count as deleted when only a proxy says so', async () => {
    const id = await publish()
    await world.control.addFault({ path: STATUSES, action: { status: 404, body: '<html>Not found</html>' } })
    expect(await platformErrorOf(read([id]))).toMatchObject({ class: 'transient' })
  })

  it('a status is left out when the login belongs to another account', async () => {
    const [id, other] = [await publish(), await publish()]
    await world.control.deletePost(id)
    const moved = { ...account, accountId: '1' }
    expect([...(await read([id, other], moved)).keys()]).toEqual([other])
  })
})

describe('the followers', () => {
  it('the follower count is null when it is not reported', async () => {
    const body = { id: account.accountId, username: 'ann', followers_count: -1 }
    await world.control.addFault({ path: OWN_ACCOUNT, action: { status: 200, body } })
    expect(await followers()).toBeNull()
  })
})

describe('refused reads', () => {
  it('a missing scope is reported', async () => {
    const as = await withScope('read:accounts write:statuses')
    const ids = [await publish(as), await publish(as)]
    for (const requestedIds of [ids, [ids[0]!]]) {
      expect(await platformErrorOf(read(requestedIds, as))).toMatchObject({ class: 'permission' })
    }
  })

  it('a login that may not even read its account is blocked', async () => {
    const as = await withScope('write:statuses')
    const id = await publish(as)
    for (const work of [() => read([id], as), () => followers(as)]) {
      expect(await platformErrorOf(work())).toMatchObject({ class: 'blocked_by_platform', certain: true })
    }
  })

  it('a rate limit is reported with its wait', async () => {
    const small = await mastodonWorld(media, { rateLimits: { api: { max: 1, seconds: 300 } } })
    try {
      const error = await platformErrorOf(read(['1', '2'], await small.newAccount(), small))
      expect(error).toMatchObject({ class: 'rate_limited' })
      expect(error.retryAfterMs).toBeGreaterThan(0)
      expect(error.retryAfterMs).toBeLessThanOrEqual(300_000)
    } finally {
      await small.stop()
    }
  })

  it('a server that the account is not on is never called', async () => {
    const before = (await world.control.requests()).length
    const elsewhere = { ...account, serviceUrl: 'https://elsewhere.example' }
    expect(await platformErrorOf(read(['1'], elsewhere))).toMatchObject({ class: 'unauthorized' })
    expect(await platformErrorOf(followers(elsewhere))).toMatchObject({ class: 'unauthorized' })
    expect(await world.control.requests()).toHaveLength(before)
  })
})

it("reading leaves half of a login's rate limit to publishing", async () => {
  const max = 20
  const database = await quotaDatabase()
  const quotas = database.createQuotas()
  const server = { showsSeveral: false, rateLimits: { api: { max, seconds: 300 } } }
  const small = await mastodonWorld(media, server, { quotas })
  try {
    const [as, other] = [await small.newAccount(), await small.newAccount()]
    const ids = Array.from({ length: max }, (_, index) => String(index + 1))
    const error = await platformErrorOf(read(ids, as, small))
    expect(error).toMatchObject({ class: 'rate_limited', certain: true })
    expect(error.retryAfterMs).toBeGreaterThan(0)
    expect(error.retryAfterMs).toBeLessThanOrEqual(300_000)
    const requests = await requestsTo(STATUSES, small)
    expect(requests).toBeLessThan(max - 4)
    expect(await platformErrorOf(small.adapter.followers(as, options()))).toMatchObject({ class: 'rate_limited' })
    expect(await requestsTo(STATUSES, small)).toBe(requests)
    await expect(small.adapter.followers(other, options())).resolves.toBe(0)
    expect(await read([await publish(as, small)], other, small)).toHaveProperty('size', 1)
  } finally {
    await small.stop()
    await database.close()
  }
})

/** A connection from before this service requested its current scopes. */
async function withScope(scope: string): Promise<Credentials> {
  const { id, username } = world.mastodon.createAccount({ username: `narrow${Date.now()}` })
  const { url, secrets } = await world.redirect.begin({ state: 's', redirectUri: REDIRECT_URI }, options())
  const page = new URL(url)
  page.searchParams.set('scope', scope)
  const code = new URL(await consent(page.href, id, 'allow')).searchParams.get('code')!
  const { clientId, clientSecret } = world.app
  const { body } = await call(world.mastodon.url, '/oauth/token', {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uri: REDIRECT_URI,
      code_verifier: secrets['verifier']!,
    }),
  })
  const { access_token: accessToken } = body as { access_token: string }
  return { accountId: id, handle: username, serviceUrl: world.mastodon.url, accessToken, version: 1 }
}
