import { createHash, randomUUID } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { closeServer, listenOnLoopback } from '../../../../sandbox/platforms/listen.ts'
import { mediaKey } from '../../../../src/domain/media/storage-keys.ts'
import { film } from '../../../support/film.ts'
import { applyAll, importClient } from '../../../support/imports.ts'
import { INACTIVE_ORCHESTRATOR } from '../../../support/inactive-orchestrator.ts'
import { postBody, postsWorld, type Caller, type PostsWorld } from '../../../support/posts-api.ts'

/** What posts name on the public web: the link that becomes a card, and media by their addresses. */

let world: PostsWorld
let ann: Caller
let site: { server: ReturnType<typeof createServer>; url: string }
let answers = new Map<string, (response: ServerResponse) => unknown>()
let requests: string[] = []
let png: Buffer

beforeAll(async () => {
  const server = createServer(({ url }, response) => {
    requests.push(url!)
    response.on('error', () => undefined)
    const answer = answers.get(url!)
    if (answer) answer(response)
    else response.writeHead(404).end()
  })
  site = { server, url: await listenOnLoopback(server) }
  png = await sharp({ create: { width: 30, height: 20, channels: 3, background: 'teal' } })
    .png()
    .toBuffer()
  world = await postsWorld({ orchestrator: INACTIVE_ORCHESTRATOR }, { ALLOWED_PRIVATE_SERVERS: site.url })
})
afterAll(async () => {
  await world?.close()
  await closeServer(site.server)
})
beforeEach(async () => {
  ann = await world.caller()
  requests = []
  answers = new Map([
    ['/a.png', (response) => response.end(png)],
    ['/film.mp4', (response) => response.end(film())],
    ['/page', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<title>T</title>')],
  ])
})

const at = (path: string) => `${site.url}${path}`
const draft = (content: object) => postBody({ content: { text: 'x', ...content }, status: 'DRAFT' })
const byAddress = (path = '/a.png', more: object = {}) => ({ sourceUrl: at(path), mimeType: 'image/png', ...more })

async function readPost(postId: string) {
  return (await ann.call('GET', `/${postId}`)).body.data.post
}

async function create(body: object) {
  const { status, body: created } = await ann.call('POST', '/', body)
  expect([status, created.errors]).toEqual([201, undefined])
  return readPost(created.data.postId)
}

async function upload() {
  const { storageKey } = (await create(draft({ mediaItems: [byAddress()] }))).content.mediaItems[0]
  return { storageKey, mimeType: 'image/png' }
}

describe('the link of a post', () => {
  it('a choice is stored and returned as it was sent, in the content and in overrides', async () => {
    const image = { ...(await upload()), altText: 'teal' }
    const card = { url: 'https://example.com/x', title: 'Mine', description: 'My words', image }
    const platformSpecificContent = { bluesky: { link: card }, threads: { link: 'auto' } }
    const post = await create({ ...draft({ link: 'none' }), platformSpecificContent })
    expect(post.content.link).toBe('none')
    expect(post.platformSpecificContent.bluesky.link).toEqual({
      ...card,
      image: { ...image, storageUrl: world.context.storage.publicUrl(image.storageKey) },
    })
    expect(post.platformSpecificContent.threads).toEqual({ link: 'auto' })
    expect((await create(draft({}))).content).not.toHaveProperty('link')
  })

  it('the image of a link is in use, and cannot be deleted', async () => {
    const image = await upload()
    const listed = async () => (await ann.call('GET', '/media?limit=100')).body.data.media as { storageKey: string }[]
    const link = { url: 'https://example.com/x', image }
    const post = await create(postBody({ content: { text: 'x', link }, scheduledAt: '2090-01-01T00:00:00Z' }))
    expect((await listed()).find(({ storageKey }) => storageKey === image.storageKey)).toMatchObject({
      posts: expect.arrayContaining([expect.objectContaining({ postId: post._id })]),
    })
    const id = image.storageKey.split('/').at(-1)
    expect(await ann.call('DELETE', `/media/${id}`)).toMatchObject({ status: 409, body: { code: 'MEDIA_IN_USE' } })
  })

  it.each<[string, unknown, string, string]>([
    ['another word', 'first', 'content.link', 'NOT_ALLOWED'],
    ['no web address', { url: 'ftp://example.com/' }, 'content.link.url', 'URL_INVALID'],
    ['a password', { url: 'https://a:b@example.com/' }, 'content.link.url', 'URL_INVALID'],
    ['an unknown field', { url: 'https://example.com/', titel: 'x' }, 'content.link.titel', 'UNKNOWN_FIELD'],
    ['a long title', { url: 'https://example.com/', title: 'x'.repeat(301) }, 'content.link.title', 'TOO_LONG'],
    [
      'the image of another user',
      { url: 'https://example.com/', image: { storageKey: 'posts/x/y.png', mimeType: 'image/png' } },
      'content.link.image.storageKey',
      'STORAGE_KEY_INVALID',
    ],
  ])('a link with %s is refused', async (_, link, path, code) => {
    const { status, body } = await ann.call('POST', '/', draft({ link }))
    expect([status, body.errors[0]]).toEqual([400, expect.objectContaining({ path, code })])
  })

  it('an image of a link that is missing refuses the post at its path', async () => {
    const image = { storageKey: `posts/${ann.userId}/none.png`, mimeType: 'image/png' }
    const { body } = await ann.call(
      'POST',
      '/',
      postBody({ content: { text: 'x', link: { url: at('/page'), image } } }),
    )
    expect(body.errors).toEqual([expect.objectContaining({ path: 'content.link.image', code: 'MEDIA_MISSING' })])
  })
})

describe('the preview of a link', () => {
  const preview = (url: string) => ann.call('GET', `/link-preview?url=${encodeURIComponent(url)}`)

  it('a page is described', async () => {
    const { status, body } = await preview(at('/page'))
    expect([status, body.data]).toEqual([200, { url: at('/page'), title: 'T', description: null, imageUrl: null }])
  })

  it.each([
    ['/none', 'The page answered with the status 404. Check the address, or write the card yourself.'],
    ['/a.png', 'The page has no title. Check the address, or write the card yourself.'],
  ])('the reason is returned for a page that cannot be read: %s', async (path, message) => {
    expect(await preview(at(path))).toMatchObject({ status: 422, body: { code: 'LINK_UNREADABLE', message } })
  })

  it('a private address is refused without a call', async () => {
    const { status, body } = await preview('http://169.254.169.254/latest/meta-data/')
    expect([status, body.message]).toEqual([422, expect.stringContaining('is not at a public address')])
  })

  it('previews are limited per user', async () => {
    const { limits } = world.context
    for (let taken = 0; taken < 200; taken++) await limits.linkPreview.take(ann.userId)
    expect(await preview(at('/page'))).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } })
  })
})

/** Sends an image up to an offset and cuts the connection, and from then on what the client asks for, if it is the same version. */
function sendUntil(offset: number, { etag, file = png }: { etag: string; file?: Buffer }) {
  return (response: ServerResponse) => {
    const { range = '', 'if-range': version } = response.req.headers
    const start = version === etag ? Number(/^bytes=(\d+)-$/.exec(range)?.[1]) : 0
    const total = file.length
    const ofRange = { 'content-range': `bytes ${start}-${total - 1}/${total}` }
    response.writeHead(start > 0 ? 206 : 200, { etag, 'content-length': total - start, ...(start > 0 && ofRange) })
    if (start > 0) response.end(file.subarray(start))
    else response.write(file.subarray(0, offset), () => response.destroy())
  }
}

/** An MP4 file of this size, with bytes that no player needs. */
function filmOf(sizeBytes: number): Buffer {
  const whole = Buffer.alloc(sizeBytes, 7)
  const used = film().copy(whole)
  whole.writeUInt32BE(sizeBytes - used, used)
  whole.write('free', used + 4, 'latin1')
  return whole
}

describe('media by address', () => {
  it('a video of 100 MB whose connection breaks is resumed, and stored as it is', async () => {
    const whole = filmOf(100_000_000)
    answers.set('/large.mp4', sendUntil(60_000_000, { etag: '"1"', file: whole }))
    const post = await create(draft({ mediaItems: [byAddress('/large.mp4', { mimeType: 'video/mp4' })] }))
    const [{ storageKey, sizeBytes, mimeType }] = post.content.mediaItems
    expect([requests, sizeBytes, mimeType]).toEqual([['/large.mp4', '/large.mp4'], whole.length, 'video/mp4'])
    const { stream } = (await world.context.storage.open(storageKey))!
    const hash = createHash('sha256')
    for await (const piece of stream) hash.update(piece)
    expect(hash.digest('hex')).toBe(createHash('sha256').update(whole).digest('hex'))
  })

  it('an image is fetched once and stored like an upload, wherever a post names it', async () => {
    const item = byAddress('/a.png', { altText: 'teal' })
    const post = await create({
      ...draft({ mediaItems: [item], segments: [{ text: 'y', mediaItems: [item] }] }),
      platformSpecificContent: { bluesky: { mediaItems: [item], link: { url: at('/page'), image: item } } },
    })
    const [stored] = post.content.mediaItems
    expect(stored).toMatchObject({
      ...{ mimeType: 'image/png', altText: 'teal', originalFilename: 'a.png', sizeBytes: png.length },
      storageKey: expect.stringMatching(new RegExp(`^posts/${ann.userId}/[0-9a-f-]{36}\\.png$`)),
    })
    expect(stored).not.toHaveProperty('sourceUrl')
    expect(post.content.segments[0].mediaItems).toEqual([stored])
    expect(post.platformSpecificContent.bluesky).toMatchObject({ mediaItems: [stored], link: { image: stored } })
    expect(requests).toEqual(['/a.png'])
    const object = await world.context.storage.open(stored.storageKey)
    expect(Buffer.from(await new Response(object!.stream).arrayBuffer())).toEqual(png)
    const { media, quota } = (await ann.call('GET', '/media')).body.data
    expect(media).toHaveLength(1)
    expect(quota.used).toBe(0)
  })

  it('a video is fetched, and an update fetches media, too', async () => {
    const { _id } = await create(draft({}))
    const video = byAddress('/film.mp4', { mimeType: 'video/mp4', originalFilename: 'mine.mp4' })
    for (const [method, content] of [
      ['PATCH', { mediaItems: [video] }],
      ['PUT', { text: 'x', mediaItems: [video] }],
    ] as const) {
      const body = method === 'PUT' ? draft(content) : { content }
      expect((await ann.call(method, `/${_id}`, body)).status).toBe(200)
      expect((await readPost(_id)).content.mediaItems[0]).toMatchObject({
        ...{ mimeType: 'video/mp4', originalFilename: 'mine.mp4' },
        storageKey: expect.stringMatching(/\.mp4$/),
      })
    }
  })

  it('the type of the file counts where the declared one is wrong', async () => {
    const post = await create(draft({ mediaItems: [byAddress('/a.png', { mimeType: 'image/jpeg' })] }))
    expect(post.content.mediaItems[0]).toMatchObject({ mimeType: 'image/png' })
  })

  it('a check of a post fetches nothing', async () => {
    const { status, body } = await ann.call('POST', '/validate', draft({ mediaItems: [byAddress()] }))
    expect([status, body.data.errors, requests]).toEqual([200, [], []])
  })

  it('a refused post fetches nothing', async () => {
    const body = draft({ mediaItems: [byAddress(), { mimeType: 'image/png' }] })
    expect((await ann.call('POST', '/', body)).status).toBe(400)
    expect(requests).toEqual([])
  })

  it('a post with too many addresses or files is refused before anything is fetched or read, also by the check', async () => {
    const read = vi.spyOn(world.context.media, 'readFile')
    const addresses = Array.from({ length: 21 }, (_, index) => byAddress(`/a.png?${index}`))
    const segments = [
      { text: '', mediaItems: addresses.slice(0, 11) },
      { text: '', mediaItems: addresses.slice(11) },
    ]
    const item = { storageKey: mediaKey(ann.userId, randomUUID(), 'image/png'), mimeType: 'image/png' }
    const many = { text: '', mediaItems: Array.from({ length: 20 }, () => item) }
    const refused = [{ segments }, { segments: Array.from({ length: 16 }, () => many) }]
    const { _id } = await create(draft({}))
    for (const content of refused) {
      const body = postBody({ content: { text: 'x', ...content } })
      const validation = await ann.call('POST', '/validate', body)
      expect(validation.body.data.errors.map(({ code }: { code: string }) => code)).toContain('POST_TOO_LARGE')
      for (const [method, path] of [
        ['POST', '/'],
        ['PUT', `/${_id}`],
        ['PATCH', `/${_id}`],
      ] as const) {
        const { status, body: answer } = await ann.call(method, path, body)
        expect([status, answer.errors.at(-1).code]).toEqual([400, 'POST_TOO_LARGE'])
      }
    }
    expect([requests, read.mock.calls]).toEqual([[], []])
    read.mockRestore()
  })

  it('a repeat with the same idempotency key fetches nothing', async () => {
    const body = draft({ mediaItems: [byAddress()] })
    const send = () => ann.call('POST', '/', body, { 'idempotency-key': 'one' })
    expect([(await send()).status, (await send()).status, requests]).toEqual([201, 200, ['/a.png']])
  })

  it.each<[string, (response: ServerResponse) => unknown, string, RegExp]>([
    ['is missing', (response) => response.writeHead(404).end(), 'image/png', /answered with the status 404/],
    ['is a page', (response) => response.end('<title>T</title>'), 'image/png', /is no image in image\/jpeg/],
    ['is of another kind', (response) => response.end(png), 'video/mp4', /is no video in video\/mp4/],
    [
      'is a video above 100 MB',
      (response) => response.writeHead(200, { 'content-length': '100000001' }).write('x'),
      'video/mp4',
      /is larger than 100 MB. Upload it instead/,
    ],
    [
      'is a video above 10 MB without a length',
      (response) => {
        response.write(film())
        response.end(Buffer.alloc(10_000_000))
      },
      'video/mp4',
      /is larger than 10 MB. Upload it instead/,
    ],
    [
      'ends early',
      (response) => {
        response.writeHead(200, { 'content-length': png.length }).write(png.subarray(0, -9))
        setImmediate(() => response.destroy())
      },
      'image/png',
      /closed the connection/,
    ],
    [
      'changes while it is read',
      (response) => sendUntil(png.length - 9, { etag: `"${requests.length}"` })(response),
      'image/png',
      /closed the connection/,
    ],
    [
      'is an image above 10 MB without a length',
      (response) => response.end(Buffer.alloc(10_000_001)),
      'image/png',
      /is larger than 10 MB/,
    ],
    ['hangs', (response) => response.writeHead(200).write('x'), 'image/png', /did not a(nswer|rrive) in time/],
  ])('a file that %s refuses the post at its path, and nothing is stored', async (_, answer, mimeType, reason) => {
    answers.set('/bad', answer)
    const body = draft({ segments: [{ text: 'y', mediaItems: [byAddress('/bad', { mimeType })] }] })
    const refused = await ann.call('POST', '/', body)
    expect(refused).toMatchObject({ status: 422, body: { code: 'MEDIA_UNREADABLE' } })
    const path = 'content.segments.0.mediaItems.0.sourceUrl'
    expect(refused.body.errors).toEqual([{ path, code: 'MEDIA_UNREADABLE', message: expect.stringMatching(reason) }])
    expect((await ann.call('GET', '/')).body.data.posts).toEqual([])
    expect((await ann.call('GET', '/media')).body.data.media).toEqual([])
  })

  it('the connection is closed when the file is not stored', async () => {
    const closed = Promise.withResolvers<void>()
    answers.set('/slow.png', (response) => {
      response.writeHead(200, { 'content-length': 9_000_000 }).write(Buffer.concat([png, Buffer.alloc(8_192)]))
      response.on('close', () => closed.resolve())
    })
    const usage = vi.spyOn(world.context.uploads, 'usageOf').mockResolvedValue({ bytes: 1e15, openUnsized: 0 })
    const refused = await ann.call('POST', '/', draft({ mediaItems: [byAddress('/slow.png')] }))
    usage.mockRestore()
    expect(refused).toMatchObject({ status: 403, body: { code: 'UPLOAD_QUOTA_REACHED' } })
    await closed.promise
  })

  it('a file that is damaged refuses a post that is no draft', async () => {
    answers.set('/cut.png', (response) => response.end(png.subarray(0, png.length - 40)))
    const { status, body } = await ann.call(
      'POST',
      '/',
      postBody({ content: { text: 'x', mediaItems: [byAddress('/cut.png')] } }),
    )
    expect([status, body.errors[0].code]).toEqual([400, 'MEDIA_UNUSABLE'])
  })

  it.each([
    ['neither a key nor an address', { mimeType: 'image/png' }, 'storageKey', 'REQUIRED'],
    [
      'both',
      { storageKey: 'posts/x/y.png', sourceUrl: 'https://example.com/x.png', mimeType: 'image/png' },
      'sourceUrl',
      'URL_INVALID',
    ],
    ['no web address', { sourceUrl: 'file:///etc/passwd', mimeType: 'image/png' }, 'sourceUrl', 'URL_INVALID'],
  ])('a media item with %s is refused', async (_, item, field, code) => {
    const { status, body } = await ann.call('POST', '/', draft({ mediaItems: [item] }))
    expect([status, body.errors[0]]).toEqual([
      400,
      expect.objectContaining({ path: `content.mediaItems.0.${field}`, code }),
    ])
  })

  it('an address on the private network is not fetched', async () => {
    const item = { sourceUrl: 'https://10.0.0.1/a.png', mimeType: 'image/png' }
    const { status, body } = await ann.call('POST', '/', draft({ mediaItems: [item] }))
    expect([status, body.message]).toEqual([422, expect.stringContaining('is not at a public address')])
  })

  it('the rows of an import are fetched when its posts are created, and only the row without its file fails', async () => {
    const client = importClient(world.app, ann)
    const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
    const row = (item: object, text: string) => ({
      ...{ content: { text, mediaItems: [item] }, selectedPlatforms: ['bluesky'], scheduledAt },
    })
    const planned = await client.sendJson([row(byAddress(), 'one'), row(byAddress('/none.png'), 'two')])
    expect([planned.status, requests]).toEqual([201, []])
    const { id: importId } = planned.body.data
    await client.call('POST', `/api/imports/${importId}/apply`)
    await applyAll(world.context, ann.userId, importId)
    const [created, failed] = await client.rows(importId)
    expect(created!.status).toBe('created')
    expect((await readPost(created!.postId!)).content.mediaItems).toMatchObject([{ originalFilename: 'a.png' }])
    expect(failed).toMatchObject({
      ...{ status: 'failed', postId: null },
      errors: [{ path: 'content.mediaItems.0.sourceUrl', code: 'MEDIA_UNREADABLE' }],
    })
  })
})
