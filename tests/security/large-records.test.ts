import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { checkUploads } from '../../src/commands/media/upload-quota.ts'
import { HOUR, MINUTE } from '../../src/domain/shared/times.ts'
import type { Post } from '../../src/domain/posts/post.ts'
import { newId } from '../../src/store/shared/schema.ts'
import { apiWorld, signIn, type ApiWorld, type SignedIn } from '../support/api.ts'

const QUOTA_BYTES = 30_000_000

let world: ApiWorld
let shiftMs = 0
const clock = { ...systemClock, now: () => new Date(Date.now() + shiftMs) }
beforeAll(async () => {
  world = await apiWorld({ UPLOAD_QUOTA_BYTES: QUOTA_BYTES }, { clock })
})
afterAll(() => world?.close())

async function later<T>(ms: number, act: () => Promise<T>): Promise<T> {
  shiftMs += ms
  try {
    return await act()
  } finally {
    shiftMs -= ms
  }
}

const send = (who: SignedIn, method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) =>
  world.app.inject({ method, url, headers: who.headers, ...(payload ? { payload } : {}) })

const draft = (text: string, mediaItems: object[] = []) => ({
  content: { text, mediaItems },
  selectedPlatforms: ['bluesky'],
  status: 'DRAFT',
})

describe('a page of posts', () => {
  it('a page is bounded in bytes, has all requested posts, and shortens only posts larger than their share', async () => {
    const who = await signIn(world.context)
    const { postId } = (await send(who, 'POST', '/api/posts', draft('Good morning'))).json().data
    const posts = world.context.database.connection.collection<Post>('posts')
    const stored = (await posts.findOne({ _id: postId }))!
    const large = {
      content: { ...stored.content, text: 'ä'.repeat(100_000) },
      platformSpecificContent: { tumblr: { text: 'x'.repeat(500_000) } },
    }
    await posts.insertMany(Array.from({ length: 60 }, () => ({ ...stored, ...large, _id: newId() })))

    const all = await send(who, 'GET', '/api/posts?limit=200')
    expect(all.statusCode).toBe(200)
    expect(Buffer.byteLength(all.body)).toBeLessThan(3 * 1_048_576)
    const { data } = all.json()
    expect([data.posts.length, data.total, data.limit, data.totalPages]).toEqual([61, 61, 200, 1])
    const [whole, short] = [true, false].map((isWhole) =>
      data.posts.filter((post: { isShortened?: boolean }) => (post.isShortened !== true) === isWhole),
    )
    expect(whole).toMatchObject([{ _id: postId, content: { text: 'Good morning' } }])
    expect(short).toHaveLength(60)
    expect(short[0]).toMatchObject({ content: { text: 'ä'.repeat(500) }, platformSpecificContent: {} })

    const second = (await send(who, 'GET', '/api/posts?limit=2&page=2')).json().data
    expect([second.posts.length, second.total, second.totalPages]).toEqual([2, 61, 31])
    expect(second.posts[0].content.text).toHaveLength(100_000)
    expect(second.posts[0]).not.toHaveProperty('isShortened')
    const read = (await send(who, 'GET', `/api/posts/${short[0]._id}`)).json().data.post
    expect(read.platformSpecificContent.tumblr.text).toHaveLength(500_000)
  })

  it('a new post of more than 400,000 bytes of text never appears, whatever makes it grow', async () => {
    const who = await signIn(world.context)
    const text = '\u{1f4a9}'.repeat(60_000)
    const overrides = { tumblr: { text } }
    const refused = await send(who, 'POST', '/api/posts', { ...draft(text), platformSpecificContent: overrides })
    expect([refused.statusCode, refused.json().errors[0].code]).toEqual([400, 'POST_TOO_LARGE'])
    const { postId } = (await send(who, 'POST', '/api/posts', draft(text))).json().data
    const grown = await send(who, 'PATCH', `/api/posts/${postId}`, { platformSpecificContent: overrides })
    expect([grown.statusCode, grown.json().errors[0].code]).toEqual([400, 'POST_TOO_LARGE'])
    expect((await send(who, 'PATCH', `/api/posts/${postId}`, { content: { text: 'short' } })).statusCode).toBe(200)
  })
})

describe('a data export', () => {
  it('an export runs once per user at a time', async () => {
    const who = await signIn(world.context)
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(who, 'GET', '/api/profile/export')))
    expect(answers.map(({ statusCode }) => statusCode).toSorted((one, other) => one - other)).toEqual([
      200, 429, 429, 429, 429,
    ])
    const refused = answers.find(({ statusCode }) => statusCode === 429)!
    expect([refused.json().code, refused.headers['retry-after']]).toEqual(['RATE_LIMITED', '5'])
    expect((await send(who, 'GET', '/api/profile/export')).statusCode).toBe(200)
  })
})

describe('the uploads of a user', () => {
  const MEGABYTES = 1_000_000
  const request = (who: SignedIn, sizeBytes?: number) =>
    send(who, 'POST', '/api/posts/media/upload', { contentType: 'image/png', ...(sizeBytes ? { sizeBytes } : {}) })
  const used = async (who: SignedIn) => (await world.context.uploads.usageOf(who.user._id)).bytes

  async function put(url: string, bytes: number): Promise<number> {
    const headers = { 'content-type': 'image/png' }
    return (await fetch(url, { method: 'PUT', headers, body: new Uint8Array(bytes) })).status
  }

  it('unused uploads never exceed the quota, even when ten start concurrently', async () => {
    const who = await signIn(world.context)
    const answers = await Promise.all(Array.from({ length: 10 }, () => request(who, 10 * MEGABYTES)))
    const refused = answers.filter(({ statusCode }) => statusCode !== 200)
    expect(answers.length - refused.length).toBeLessThanOrEqual(3)
    for (const answer of refused) expect(answer.json()).toMatchObject({ statusCode: 403, code: 'UPLOAD_QUOTA_REACHED' })
    expect(await used(who)).toBeLessThanOrEqual(QUOTA_BYTES)
    const avatar = await send(who, 'POST', '/api/profile/upload-url', {
      contentType: 'image/png',
      sizeBytes: 5 * MEGABYTES,
    })
    expect([200, 403]).toContain(avatar.statusCode)
  })

  it('an upload stops counting while a post uses it and counts again afterwards', async () => {
    const who = await signIn(world.context)
    const keys: string[] = []
    for (let count = 0; count < 3; count += 1) keys.push((await request(who, 10 * MEGABYTES)).json().data.storageKey)
    const refused = (await request(who, 1)).json()
    expect(refused).toMatchObject({ code: 'UPLOAD_QUOTA_REACHED', usage: QUOTA_BYTES, limit: QUOTA_BYTES })
    expect(refused.message).toContain('30 of 30 MB')
    const items = keys.map((storageKey) => ({ storageKey, mimeType: 'image/png' }))
    const { postId } = (await send(who, 'POST', '/api/posts', draft('Three pictures', items))).json().data
    expect((await request(who, 1)).statusCode).toBe(200)
    await send(who, 'PATCH', `/api/posts/${postId}`, { content: { mediaItems: items.slice(0, 1) } })
    expect(await used(who)).toBe(20 * MEGABYTES + 1)
    await send(who, 'DELETE', `/api/posts/${postId}`)
    expect((await request(who, 1)).json().code).toBe('UPLOAD_QUOTA_REACHED')
  })

  it('an upload has its announced size, or at most the limit of its type without one', async () => {
    const who = await signIn(world.context)
    const sized = (await request(who, 1_000)).json().data
    expect([await put(sized.uploadUrl, 1_001), await put(sized.uploadUrl, 1_000)]).toEqual([403, 200])
    const [small, large] = [(await request(who)).json().data, (await request(who)).json().data]
    expect([await put(small.uploadUrl, 2_000), await put(large.uploadUrl, 10 * MEGABYTES + 1)]).toEqual([200, 200])
    await later(2 * MINUTE, () => checkUploads(world.context, 1_000))
    const { storage } = world.context
    expect([await storage.sizeOf(small.storageKey), await storage.sizeOf(large.storageKey)]).toEqual([2_000, null])
    // The upload URL still works, so its share stays reserved; the stored size counts after it expires.
    expect(await used(who)).toBe(1_000 + 20 * MEGABYTES)
    await later(2 * HOUR, () => checkUploads(world.context, 1_000))
    expect(await used(who)).toBe(3_000)
  })

  it('at most forty uploads without a size start in 15 minutes', async () => {
    const who = await signIn(world.context)
    await world.context.uploads.insert({ _id: newId(), userId: who.user._id, bytes: 1, maxBytes: 1, isSized: true })
    for (let count = 0; count < 40; count += 1) {
      await world.context.uploads.insert({ _id: newId(), userId: who.user._id, bytes: 1, maxBytes: 1, isSized: false })
    }
    const refused = await request(who)
    expect(refused.json()).toMatchObject({ statusCode: 429, code: 'RATE_LIMITED', bucket: 'unsized_uploads' })
    expect(refused.headers['retry-after']).toBe('900')
    expect((await request(who, 1_000)).statusCode).toBe(200)
    expect((await later(16 * MINUTE, () => request(who))).statusCode).toBe(200)
  })
})
