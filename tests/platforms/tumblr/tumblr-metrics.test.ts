import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NO_COUNTS } from '../../../src/domain/analytics/analytics.ts'
import type { Credentials } from '../../../src/platforms/contract.ts'
import { memoryMedia, newDelivery, newPost, platformErrorOf } from '../shared/support.ts'
import { tumblrWorld, type TumblrWorld } from './tumblr-support.ts'
import { quotaDatabase } from '../../support/quota-databases.ts'

const NOTHING_YET = { ...NO_COUNTS, likes: 0, shares: 0, comments: 0 }
const ROOM = { perHour: 1_000_000, perDay: 1_000_000 }

const { media } = memoryMedia()
let world: TumblrWorld
let account: Credentials

const options = () => ({ signal: AbortSignal.timeout(20_000) })
const read = (ids: string[], as = account, at = world) => at.adapter.metrics.read(ids, as, options())
const followers = (as = account, at = world) => at.adapter.followers(as, options())
const publish = (as = account, at = world) => at.tumblr.publishElsewhere({ uuid: as.accountId }, 'counted').id

async function requestsDuring(work: () => Promise<unknown>): Promise<string[]> {
  const before = (await world.control.requests()).length
  await work()
  return (await world.control.requests()).slice(before).map(({ path }) => path.replace(/^.*\/blog\/[^/]+/, ''))
}

beforeAll(async () => {
  world = await tumblrWorld(media, { limits: ROOM })
  account = await world.newAccount()
})
afterAll(() => world?.stop())
beforeEach(() => world.control.clearFaults())

describe('the counts of posts', () => {
  it('counts are the notes by kind, and unknown counts are null', async () => {
    const [post, delivery] = [newPost('published by us'), newDelivery()]
    await world.adapter.prepare(post, account, delivery, options())
    const { platformPostId: id } = await world.adapter.publish(post, account, delivery, options())
    await world.control.setMetrics(id, { likes: 5, shares: 2, comments: 3 })
    const counts = { likes: 5, shares: 2, comments: 3, impressions: null, reach: null, saved: null }
    expect(await read([id])).toEqual(new Map([[id, counts]]))
  })

  it('counts need one call for many posts, and one more for each post with notes', async () => {
    const ids = [publish(), publish(), publish()]
    await world.control.setMetrics(ids[1]!, { likes: 1 })
    let counts = new Map<string, unknown>()
    const requests = await requestsDuring(async () => (counts = await read(ids)))
    expect(counts).toEqual(
      new Map([
        [ids[0], NOTHING_YET],
        [ids[1], { ...NOTHING_YET, likes: 1 }],
        [ids[2], NOTHING_YET],
      ]),
    )
    expect(requests).toEqual(['/posts?npf=true&limit=20', `/notes?id=${ids[1]}&mode=conversation`])
  })

  it('counts are read however long the posts are', async () => {
    const ids = [publish(), publish()]
    const posts = ids.map((id) => ({ id_string: id, note_count: 0, content: 'a'.repeat(1_500_000) }))
    await world.control.addFault({ path: '/posts?', action: { status: 200, body: { response: { posts } } } })
    expect([...(await read(ids)).keys()]).toEqual(ids)
  })

  it('counts are read for posts that are not among the newest', async () => {
    const ids = [publish(), publish(), publish()]
    await world.control.setMetrics(ids[0]!, { shares: 2 })
    const { perCall } = world.adapter.metrics
    const callsFor = async (postIds: string[]) => {
      let counts = new Map<string, unknown>()
      const requests = await requestsDuring(async () => (counts = await read(postIds)))
      expect(counts).toEqual(new Map(postIds.map((id, index) => [id, { ...NOTHING_YET, shares: index === 0 ? 2 : 0 }])))
      return requests.filter((path) => path.startsWith('/posts'))
    }
    for (let count = 0; count < perCall - 1; count++) publish()
    const [first, second] = ['/posts?npf=true&limit=20', '/posts?npf=true&limit=20&offset=20']
    const singly = (id: string) => `/posts?npf=true&id=${id}&notes_info=true`
    expect(await callsFor(ids)).toEqual([first, second])
    // The last one is read by itself: another listing would save nothing.
    expect(await callsFor([ids[0]!, ids[2]!])).toEqual([first, singly(ids[0]!)])
    for (let count = 0; count < 4 * perCall; count++) publish()
    expect(await callsFor(ids)).toHaveLength(3 + ids.length)
  })

  it.each([
    ['no kind is reported', { notes: [], total_notes: 8 }, undefined],
    ['one kind is not reported', { notes: [], total_notes: 8, total_likes: 5 }, { ...NO_COUNTS, likes: 5 }],
    [
      'there are more of one kind than of all',
      { notes: [], total_likes: 9, total_reblogs: 2 },
      { ...NO_COUNTS, likes: 9, shares: 2 },
    ],
    [
      'all is a part of them in this mode',
      { notes: [], total_notes: 1, total_likes: 5, total_reblogs: 2 },
      { ...NO_COUNTS, likes: 5, shares: 2, comments: 1 },
    ],
    [
      'a like arrived meanwhile',
      { notes: [], total_notes: 9, total_likes: 6, total_reblogs: 2 },
      { ...NO_COUNTS, likes: 6, shares: 2, comments: 1 },
    ],
  ])('counts that cannot be read are null: %s', async (_, response, expected) => {
    const id = publish()
    await world.control.setMetrics(id, { likes: 5, reblogs: 2, replies: 1 })
    await world.control.addFault({ path: '/notes', action: { status: 200, body: { response } } })
    expect((await read([id])).get(id)).toEqual(expected)
  })

  it.each([403, 404])('a post is left out when its notes are not readable (%i)', async (status) => {
    const [id, other] = [publish(), publish()]
    await world.control.setMetrics(id, { likes: 5 })
    await world.control.addFault({
      path: '/notes',
      action: { status, body: { meta: { status, msg: 'x' }, response: [] } },
    })
    expect(await read([id, other])).toEqual(new Map([[other, NOTHING_YET]]))
  })

  it('replies are unknown when the post does not state its number of notes', async () => {
    const id = publish()
    await world.control.setMetrics(id, { likes: 5, replies: 2 })
    const response = { posts: [{ id_string: id }] }
    await world.control.addFault({ path: '/posts?', action: { status: 200, body: { response } } })
    expect((await read([id])).get(id)).toEqual({ ...NO_COUNTS, likes: 5, shares: 0 })
  })
})

describe('a post that the blog does not show', () => {
  it.each([
    ['alone', 0],
    ['among others', 2],
  ])('a post is deleted if its author does not have it either: %s', async (_, others) => {
    const deleted = publish()
    const existing = Array.from({ length: others }, () => publish())
    await world.control.deletePost(deleted)
    const counts = await read([deleted, ...existing])
    expect(counts.get(deleted)).toBe('deleted')
    expect(existing.map((id) => counts.get(id))).toEqual(existing.map(() => NOTHING_YET))
  })

  it('a post is not searched beyond the last listing', async () => {
    const small = await world.newAccount()
    const deleted = [publish(small), publish(small)]
    for (const id of deleted) await world.control.deletePost(id)
    const requests = await requestsDuring(async () => expect((await read(deleted, small)).size).toBe(2))
    expect(requests.filter((path) => path.includes('limit='))).toHaveLength(1)
  })

  it('a post that its author made private is left out', async () => {
    const [hidden, shown] = [publish(), publish()]
    world.tumblr.makePrivate(hidden)
    expect([...(await read([hidden, shown])).keys()]).toEqual([shown])
  })

  it('a post is left out when the blog cannot be found', async () => {
    const id = publish()
    const renamed = { ...account, accountId: 't:gone' }
    expect(await read([id], renamed)).toEqual(new Map())
    const several = [id, publish()]
    expect(await requestsDuring(async () => expect(await read(several, renamed)).toEqual(new Map()))).toHaveLength(1)
  })

  it.each([
    ['is in trouble', 500, { response: [] }],
    ['answers with a page', 200, '<html>Welcome</html>'],
  ])('a post does not count as deleted when Tumblr %s about the blog', async (_, status, body) => {
    const id = publish()
    await world.control.deletePost(id)
    await world.control.addFault({ path: '/info', action: { status, body } })
    expect(await platformErrorOf(read([id]))).toMatchObject({ class: 'transient' })
  })
})

it.each(['/posts?', '/posts/', '/info'])('a post does not count as deleted when a proxy says so (%s)', async (path) => {
  const id = publish()
  await world.control.deletePost(id)
  await world.control.addFault({ path, action: { status: 404, body: '<html>Not found</html>' } })
  expect(await platformErrorOf(read([id]))).toMatchObject({ class: 'transient' })
})

describe('the followers', () => {
  it('the follower count is null when it is not reported', async () => {
    const blogs = [{ name: account.handle, uuid: account.accountId, primary: true, followers: 'many' }]
    await world.control.addFault({
      path: '/user/info',
      action: { status: 200, body: { response: { user: { blogs } } } },
    })
    expect(await followers()).toBeNull()
  })

  it('the follower count is refused when the blog has left the account', async () => {
    const error = await platformErrorOf(followers({ ...account, accountId: 't:gone' }))
    expect(error).toMatchObject({ class: 'permission' })
  })
})

describe('refused reads', () => {
  it('a single 401 does not end a login', async () => {
    const id = publish()
    await world.control.addFault({ path: '/posts', times: 1, action: { status: 401, body: { response: [] } } })
    expect(await platformErrorOf(read([id]))).toMatchObject({ class: 'transient' })
  })

  it.each([
    [
      'not allowed',
      { status: 403, body: { meta: { status: 403, msg: 'Forbidden' }, response: [] } },
      { class: 'permission' },
    ],
    ['too much', { status: 429, headers: { 'retry-after': '7' } }, { class: 'rate_limited', retryAfterMs: 7_000 }],
    ['another thing', { status: 200, body: { response: { posts: 5, user: 6 } } }, { class: 'transient' }],
  ])('a refusal is reported as what it is: %s', async (_, action, expected) => {
    const ids = [publish(), publish()]
    await world.control.addFault({ method: 'GET', action })
    expect(await platformErrorOf(read(ids))).toMatchObject(expected)
    expect(await platformErrorOf(followers())).toMatchObject(expected)
  })
})

it("reading leaves half of Tumblr's rate limit to publishing, and a user a quarter of it to others", async () => {
  const perHour = 12
  const database = await quotaDatabase()
  const small = await tumblrWorld(media, { limits: { perHour } }, { quotas: database.createQuotas() })
  try {
    const as = { ...(await small.newAccount()), userId: 'one' }
    const id = publish(as, small)
    let answered = 0
    let error: unknown
    while (error === undefined && answered <= perHour) {
      await read([id], as, small).then(
        () => answered++,
        (refusal: unknown) => (error = refusal),
      )
    }
    expect(error).toMatchObject({ class: 'rate_limited', certain: true })
    expect((error as { retryAfterMs: number }).retryAfterMs).toBeGreaterThan(0)
    expect((error as { retryAfterMs: number }).retryAfterMs).toBeLessThanOrEqual(3_600_000)
    expect(await platformErrorOf(followers(as, small))).toMatchObject({ class: 'rate_limited' })
    const requests = (await small.control.requests()).filter(({ path }) => path.startsWith('/v2/'))
    expect(requests).toHaveLength(perHour / 2)
    expect(await platformErrorOf(small.adapter.profile(as, options()))).toMatchObject({ class: 'rate_limited' })
    const readQuota = (userId: string) => small.adapter.readPublicationQuota({ ...as, userId }, options())
    // Connecting made a call, and no user had it then.
    for (let calls = requests.length - 1; calls < perHour * 0.75; calls++) await readQuota('one')
    expect(await platformErrorOf(readQuota('one'))).toMatchObject({ class: 'rate_limited' })
    await readQuota('other')
  } finally {
    await small.stop()
    await database.close()
  }
})
