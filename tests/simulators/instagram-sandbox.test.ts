import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { film } from '../support/film.ts'
import { picture } from '../platforms/shared/containers-support.ts'
import { metaWorld, SCOPES, type MetaWorld } from '../platforms/shared/meta-support.ts'
import { storedMedia } from '../platforms/shared/support.ts'

const DAY_MS = 86_400_000

let world: MetaWorld
let stored: Awaited<ReturnType<typeof storedMedia>>
let square: string

beforeAll(async () => {
  stored = await storedMedia()
  world = await metaWorld({ processingMs: 400, instagramQuota: { posts: 2, containers: 6 } })
  square = await addressOf(await picture(400, 400))
})
afterAll(async () => {
  await world?.stop()
  stored?.close()
})

const addressOf = async (bytes: Uint8Array, type = 'image/jpeg') => (await stored.add(bytes, type)).storageUrl

type Params = Record<string, string>

async function newUser(declined = {}, scopes = SCOPES) {
  const { person, pages } = world.newPerson()
  const id = pages[0]!.instagramId!
  const token = await world.logIn(person.id, declined, scopes)
  return {
    id,
    token,
    own: (method: 'GET' | 'POST', path: string, params: Params = {}) =>
      world.graph(method, `/${id}${path}`, params, token),
    get: (node: string, fields: string) => world.graph('GET', `/${node}`, { fields }, token),
  }
}

let user: Awaited<ReturnType<typeof newUser>>
beforeEach(async () => void (user = await newUser()))

const make = (params: Params) => user.own('POST', '/media', params)
const idOf = async (params: Params) => (await make(params)).body['id'] as string
const publish = (id: string) => user.own('POST', '/media_publish', { creation_id: id })
const codeOf = (id: string) => async () => (await user.get(id, 'status_code')).body['status_code']
const refused = (code: number, subcode?: number) => ({
  code,
  body: { error: { code, ...(subcode !== undefined && { error_subcode: subcode }) } },
})

describe('a container', () => {
  it.each<[string, () => Promise<Params>, number, number?]>([
    ['nothing to show', async () => ({ caption: 'words' }), 100],
    ['a type there is not', async () => ({ media_type: 'POEM', video_url: square }), 100, 2_207_023],
    ['a video by its old type', async () => ({ media_type: 'VIDEO', video_url: square }), 100, 2_207_023],
    ['a file that cannot be had', async () => ({ image_url: 'http://127.0.0.1:1/a.jpg' }), 9_004, 2_207_052],
    [
      'PNG',
      async () => ({ image_url: await addressOf(await picture(400, 400, { type: 'png' }), 'image/png') }),
      36_001,
      2_207_005,
    ],
    ['a panorama', async () => ({ image_url: await addressOf(await picture(800, 400)) }), 36_003, 2_207_009],
    ['a tower', async () => ({ image_url: await addressOf(await picture(400, 800)) }), 36_003, 2_207_009],
    ['a file too large', async () => ({ image_url: await addressOf(await largeJpeg()) }), 36_000, 2_207_004],
    ['a caption too long', async () => ({ image_url: square, caption: 'a'.repeat(2_201) }), 36_004, 2_207_010],
    ['too many mentions', async () => ({ image_url: square, caption: '@a '.repeat(21) }), 100, 2_207_040],
    ['too many hashtags', async () => ({ image_url: square, caption: '#a '.repeat(31) }), 100],
    ['a description too long', async () => ({ image_url: square, alt_text: 'a'.repeat(1_001) }), 100],
    ['a story with a caption', async () => ({ media_type: 'STORIES', image_url: square, caption: 'words' }), 100],
    ['a story of two files', async () => ({ media_type: 'STORIES', image_url: square, video_url: square }), 100],
    ['a story with collaborators', async () => ({ media_type: 'STORIES', image_url: square, collaborators: 'a' }), 100],
    ['four collaborators', async () => ({ image_url: square, collaborators: 'a,b,c,d' }), 100],
    ['a picture with a cover', async () => ({ image_url: square, thumb_offset: '1' }), 100],
    ['a tag without a place', async () => ({ image_url: square, user_tags: '[{"username":"ann"}]' }), 100],
    ['a tag outside', async () => ({ image_url: square, user_tags: '[{"username":"ann","x":1.1,"y":0}]' }), 100],
    [
      'a reel with a cover after its end',
      async () => ({ media_type: 'REELS', video_url: await addressOf(film(), 'video/mp4'), thumb_offset: '899000' }),
      1,
      2_207_057,
    ],
    ['a carousel of one', async () => ({ media_type: 'CAROUSEL', children: '1' }), 100, 2_207_028],
    ['a carousel of what is not there', async () => ({ media_type: 'CAROUSEL', children: '1,2' }), 100],
  ])('a container is not created from %s', async (_, params, code, subcode) => {
    expect(await make(await params())).toMatchObject(refused(code, subcode))
  })

  /** A JPEG may carry any bytes after its end. */
  async function largeJpeg(): Promise<Uint8Array> {
    return Buffer.concat([await picture(400, 400), Buffer.alloc(8_388_609)])
  }

  it('a container of a file that is no video fails', async () => {
    const id = await idOf({ media_type: 'REELS', video_url: square })
    await expect.poll(codeOf(id)).toBe('ERROR')
    expect((await user.get(id, 'status')).body['status']).toContain('2207026')
    expect(await publish(id)).toMatchObject(refused(9_007, 2_207_027))
  })

  it('a container is published only after its processing, and reports that then', async () => {
    const id = await idOf({ media_type: 'REELS', video_url: await addressOf(film(), 'video/mp4'), caption: 'waves' })
    expect(await codeOf(id)()).toBe('IN_PROGRESS')
    expect(await publish(id)).toMatchObject(refused(9_007, 2_207_027))
    await expect.poll(codeOf(id)).toBe('FINISHED')
    const { body } = await publish(id)
    expect(await codeOf(id)()).toBe('PUBLISHED')
    const read = await user.get(body['id'] as string, 'caption,permalink,media_type,media_product_type')
    expect(read.body).toMatchObject({ caption: 'waves', media_type: 'VIDEO', media_product_type: 'REELS' })
    expect(await (await fetch(read.body['permalink'] as string)).text()).toContain('waves')
    expect(await (await fetch(world.meta.instagram.url)).text()).toContain('waves')
    const { body: list } = await user.own('GET', '/media', { fields: 'id,caption' })
    expect(list['data']).toEqual([{ id: body['id'], caption: 'waves' }])
  })

  it('a container may keep its status to itself, and may be lost', async () => {
    const id = await idOf({ image_url: square })
    world.meta.instagramStore.silence(id)
    expect((await user.get(id, 'id,status_code,status')).body).toEqual({ id })
    world.meta.instagramStore.silence(id, false)
    expect((await user.get(id, 'id,status_code')).body).toMatchObject({ id, status_code: expect.any(String) })
    world.meta.instagramStore.lose(id)
    expect(await user.get(id, 'status_code')).toMatchObject(refused(100, 33))
    expect(await publish(id)).toMatchObject(refused(24, 2_207_006))
  })

  it.each([
    ['shorter than 3 seconds', film({ duration: 2 })],
    ['longer than 15 minutes', film({ duration: 901 })],
    ['without an index', film({ indexFirst: false }).subarray(0, 900)],
    ['with sound only', film({ codec: null })],
    ['with its index at the end', film({ indexFirst: false })],
    ['wider than 1,920 pixels', film({ width: 1_922, height: 1_080 })],
    ['with more than 60 frames a second', film({ frameRate: 61 })],
    ['with an unknown codec', film({ codec: 'vp09' })],
  ])('a reel %s fails its processing', async (_, bytes) => {
    const id = await idOf({ media_type: 'REELS', video_url: await addressOf(bytes, 'video/mp4') })
    await expect.poll(codeOf(id)).toBe('ERROR')
    expect((await user.get(id, 'status')).body['status']).toContain('2207026')
  })

  it('a container expires after a day', async () => {
    const id = await idOf({ image_url: square })
    world.meta.instagramStore.age(id, DAY_MS + 1_000)
    expect(await codeOf(id)()).toBe('EXPIRED')
    expect(await publish(id)).toMatchObject(refused(24, 2_207_008))
  })

  it('a carousel accepts finished children of its own account, each once', async () => {
    const child = () => idOf({ image_url: square, is_carousel_item: 'true', alt_text: 'A square' })
    const [one, two] = [await child(), await child()]
    const children = `${one},${two}`
    expect(await make({ media_type: 'CAROUSEL', children })).toMatchObject(refused(9_007, 2_207_027))
    for (const id of [one, two]) await expect.poll(codeOf(id)).toBe('FINISHED')
    expect(await make({ media_type: 'CAROUSEL', children: `${one},${one}` })).toMatchObject(refused(100))
    expect(await publish(one)).toMatchObject(refused(24, 2_207_006))
    const stranger = await newUser()
    expect(await stranger.own('POST', '/media', { media_type: 'CAROUSEL', children })).toMatchObject(refused(100))
    expect((await make({ media_type: 'CAROUSEL', children, caption: 'both' })).status).toBe(200)
  })
})

describe('quotas of a day', () => {
  it('the daily quota limits posts', async () => {
    const ids = [
      await idOf({ image_url: square }),
      await idOf({ image_url: square }),
      await idOf({ image_url: square }),
    ]
    for (const id of ids) await expect.poll(codeOf(id)).toBe('FINISHED')
    for (const id of ids.slice(0, 2)) expect((await publish(id)).status).toBe(200)
    expect(await publish(ids[2]!)).toMatchObject(refused(9, 2_207_042))
    const { body } = await user.own('GET', '/content_publishing_limit', { fields: 'quota_usage,config' })
    expect(body['data']).toEqual([{ quota_usage: 2, config: { quota_total: 2, quota_duration: 86_400 } }])
  })

  it('the daily quota limits containers', async () => {
    for (let n = 0; n < 6; n++) expect((await make({ image_url: square })).status).toBe(200)
    expect(await make({ image_url: square })).toMatchObject(refused(9, 2_207_042))
  })
})

describe('a comment', () => {
  it('a comment is listed below its post, the newest first', async () => {
    const commenter = await newUser({}, [...SCOPES, 'instagram_manage_comments'])
    const { id } = world.meta.instagramStore.publishElsewhere(commenter.id, 'a post')
    const comment = (message: string) => world.graph('POST', `/${id}/comments`, { message }, commenter.token)
    const ids = [(await comment('one')).body['id'], (await comment('two')).body['id']]
    const list = await world.graph('GET', `/${id}/comments`, { fields: 'id,text,username' }, commenter.token)
    const username = (await commenter.get(commenter.id, 'username')).body['username']
    expect(list.body['data']).toEqual([
      { id: ids[1], text: 'two', username },
      { id: ids[0], text: 'one', username },
    ])
    expect((await commenter.get(id, 'comments_count')).body).toMatchObject({ comments_count: 2 })
    expect(await comment('x'.repeat(2_201))).toMatchObject(refused(100))
    expect(await comment(' ')).toMatchObject(refused(100))
    expect(await world.graph('POST', '/12345/comments', { message: 'x' }, commenter.token)).toMatchObject(
      refused(100, 33),
    )
  })

  it('a comment is neither written nor read without its permission', async () => {
    const { id } = world.meta.instagramStore.publishElsewhere(user.id, 'a post')
    expect(await world.graph('POST', `/${id}/comments`, { message: 'x' }, user.token)).toMatchObject(refused(200))
    expect(await world.graph('GET', `/${id}/comments`, {}, user.token)).toMatchObject(refused(200))
  })
})

describe('an account', () => {
  it('an account is published on by its own person only, with the required scope', async () => {
    const other = await newUser({ decline: ['instagram_content_publish'] })
    const path = `/${other.id}/media`
    expect(await world.graph('POST', path, { image_url: square }, user.token)).toMatchObject(refused(100, 33))
    expect(await other.own('POST', '/media', { image_url: square })).toMatchObject(refused(200))
    expect(await world.graph('POST', path, { image_url: square })).toMatchObject(refused(104))
  })

  it('an account hides its containers and posts from other accounts', async () => {
    const other = await newUser()
    const id = await idOf({ image_url: square })
    expect(await other.get(id, 'status_code')).toMatchObject(refused(100, 33))
    expect(await other.own('POST', '/media_publish', { creation_id: id })).toMatchObject(refused(24, 2_207_006))
  })
})
