import { createServer, type AddressInfo } from 'node:net'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readMediaFiles } from '../../../../src/commands/posts/read-media-files.ts'
import { createMediaSource } from '../../../../src/integrations/storage/media-source.ts'
import { createObjectStorage } from '../../../../src/integrations/storage/storage.ts'
import { createdPost } from '../../../support/created-post.ts'
import { film } from '../../../support/film.ts'
import { inAnHour, postBody, withCallers, type Caller, type PostsWorld } from '../../../support/posts-api.ts'
import { shared } from '../../../support/shared-worlds.ts'

let world: PostsWorld
let png: Buffer
let cut: Buffer
shared.beforeAll(({ api }) => void (world = withCallers(api)))
beforeAll(async () => {
  png = await sharp({ create: { width: 300, height: 300, channels: 3, background: 'teal' } })
    .png()
    .toBuffer()
  cut = png.subarray(0, png.length - 40)
})

async function uploaded({ userId }: Caller, body: Uint8Array, mimeType: string, key = 'a') {
  const storageKey = `posts/${userId}/${key}`
  await world.context.storage.put({ key: storageKey, body, contentType: mimeType })
  return { storageKey, mimeType, originalFilename: 'mine.bin' }
}
const missing = ({ userId }: Caller) => ({ storageKey: `posts/${userId}/none.png`, mimeType: 'image/png' })
const bodyOf = (item: object, change: object = {}) =>
  postBody({ content: { text: 'x', mediaItems: [item] }, ...change })
const toCodes = (problems: { code: string }[] = []) =>
  problems.map(({ code }) => code).filter((code) => code !== 'PLATFORM_NOT_CONNECTED')

/** Returns the codes of errors and warnings that create and validate report, which are the same. */
async function codesOf(who: Caller, body: object) {
  const validated = (await who.call('POST', '/validate', body)).body.data
  const { status, body: created } = await who.call('POST', '/', body)
  const codes = { errors: toCodes(validated.errors), warnings: toCodes(validated.warnings) }
  expect(status).toBe(codes.errors.length > 0 ? 400 : 201)
  if (status === 400) expect(toCodes(created.errors)).toEqual(codes.errors)
  else expect(toCodes(created.data.warnings)).toEqual(codes.warnings)
  return codes
}

describe('the files of a post', () => {
  it('a whole file has no problems', async () => {
    const ann = await world.caller()
    expect(await codesOf(ann, bodyOf(await uploaded(ann, png, 'image/png')))).toEqual({ errors: [], warnings: [] })
    const item = await uploaded(ann, film(), 'video/mp4', 'b')
    expect(await codesOf(ann, bodyOf(item))).toEqual({ errors: [], warnings: [] })
  })

  it('a key that was never uploaded refuses an immediate post, and warns of a scheduled one', async () => {
    const ann = await world.caller()
    expect(await codesOf(ann, bodyOf(missing(ann)))).toEqual({ errors: ['MEDIA_MISSING'], warnings: [] })
    const scheduled = bodyOf(missing(ann), { scheduledAt: inAnHour() })
    expect(await codesOf(ann, scheduled)).toEqual({ errors: [], warnings: ['MEDIA_MISSING'] })
  })

  it.each<[string, () => Uint8Array, string, string]>([
    ['is cut off', () => cut, 'image/png', 'MEDIA_UNUSABLE'],
    ['is no image', () => Buffer.from('hello'), 'image/png', 'MEDIA_UNUSABLE'],
    ['has no index', () => film({ indexFirst: false }).subarray(0, 900), 'video/mp4', 'MEDIA_UNUSABLE'],
    ['has only sound', () => film({ codec: null }), 'video/mp4', 'MEDIA_UNUSABLE'],
    ['is a QuickTime video named .mp4', () => film({ brand: 'qt  ' }), 'video/mp4', 'MEDIA_TYPE'],
    ['is longer than the platform takes', () => film({ duration: 601 }), 'video/mp4', 'VIDEO_TOO_LONG'],
  ])('a file that %s refuses a post, also a scheduled one, and an edit', async (_, make, mimeType, code) => {
    const ann = await world.caller()
    const item = await uploaded(ann, make(), mimeType)
    expect((await codesOf(ann, bodyOf(item))).errors).toEqual([code])
    expect((await codesOf(ann, bodyOf(item, { scheduledAt: inAnHour() }))).errors).toEqual([code])
    const postId = await createdPost(ann, { scheduledAt: inAnHour() })
    for (const method of ['PATCH', 'PUT'] as const) {
      const { status, body } = await ann.call(method, `/${postId}`, bodyOf(item))
      expect([status, toCodes(body.errors)]).toEqual([400, [code]])
    }
  })

  it.each([
    ['mastodon', 'pixels', { width: 4_096, height: 2_160 }, 'VIDEO_TOO_LARGE'],
    ['mastodon', 'frames a second', { frameRate: 121 }, 'VIDEO_FRAME_RATE'],
    ['threads', 'a row of pixels', { width: 1_922, height: 1_080 }, 'VIDEO_TOO_LARGE'],
    ['instagram', 'a row of pixels', { width: 3_840, height: 2_160 }, 'VIDEO_TOO_LARGE'],
    ['threads', 'frames a second', { frameRate: 120 }, 'VIDEO_FRAME_RATE'],
    ['instagram', 'frames a second', { frameRate: 15 }, 'VIDEO_FRAME_RATE'],
  ] as const)('a video for %s with %s beyond its limits refuses a post', async (platform, _, options, code) => {
    const ann = await world.caller()
    const body = bodyOf(await uploaded(ann, film(options), 'video/mp4'), { selectedPlatforms: [platform] })
    expect((await codesOf(ann, body)).errors).toEqual([code])
  })

  it.each(['threads', 'instagram', 'facebook', 'bluesky'] as const)(
    'a video for %s that a camera wrote, with its index at the end, is a warning where the platform asks for another order',
    async (platform) => {
      const ann = await world.caller()
      const camera = await uploaded(ann, film({ indexFirst: false }), 'video/mp4')
      const expected = ['threads', 'instagram'].includes(platform) ? ['VIDEO_INDEX_LAST'] : []
      const { errors, warnings } = await codesOf(ann, bodyOf(camera, { selectedPlatforms: [platform] }))
      expect([errors, warnings]).toEqual([[], expected])
    },
  )

  it('a draft with a broken file is stored, and refused when it is published', async () => {
    const ann = await world.caller()
    const postId = await createdPost(ann, bodyOf(await uploaded(ann, cut, 'image/png'), { status: 'DRAFT' }))
    const { status, body } = await ann.call('PATCH', `/${postId}`, { status: 'PENDING' })
    expect([status, toCodes(body.errors)]).toEqual([400, ['MEDIA_UNUSABLE']])
    expect(body.errors[0].message).toMatch(/^The file “mine.bin” is cut off or damaged.*Export it again/)
  })

  it('a post is stored with the type of the file', async () => {
    const ann = await world.caller()
    const item = await uploaded(ann, await sharp(png).webp().toBuffer(), 'image/jpeg')
    const postId = await createdPost(ann, bodyOf(item))
    expect((await world.context.posts.find(postId))!.content.mediaItems).toMatchObject([{ mimeType: 'image/webp' }])
    await ann.call('PATCH', `/${postId}`, { content: { mediaItems: [item] } })
    expect((await world.context.posts.find(postId))!.content.mediaItems).toMatchObject([{ mimeType: 'image/webp' }])
  })

  it('validate says nothing of the files of another user', async () => {
    const [ann, bob] = [await world.caller(), await world.caller()]
    const { body } = await bob.call('POST', '/validate', bodyOf(await uploaded(ann, cut, 'image/png')))
    expect(toCodes(body.data.errors)).toEqual(['STORAGE_KEY_INVALID'])
  })
})

describe('a storage that does not answer', () => {
  const silent = createServer(() => {})
  afterAll(() => void silent.close())

  it('files that cannot be read within three seconds are unread', async () => {
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    const access = { accessKeyId: 'a', secretAccessKey: 'b', region: 'r', bucket: 'c', publicUrl: endpoint }
    const storage = createObjectStorage({ ...access, endpoint })
    const userId = 'a'.repeat(24)
    const items = ['1', '2', '3'].map((key) => ({
      storageKey: `posts/${userId}/${key}`,
      storageUrl: '',
      mimeType: 'image/png',
    }))
    const startedAt = performance.now()
    const files = await readMediaFiles({ media: createMediaSource(storage) }, userId, {
      content: { text: '', mediaItems: items },
      platformSpecificContent: {},
    })
    expect(performance.now() - startedAt).toBeLessThan(4_500)
    expect([...files.values()]).toEqual(items.map(() => ({ state: 'unread' })))
    storage.close()
  })
})
