import { createServer, type ServerResponse } from 'node:http'
import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { closeServer, listenOnLoopback } from '../../../sandbox/platforms/listen.ts'
import type { LinkChoice, Published } from '../../../src/domain/posts/post.ts'
import { createPages } from '../../../src/integrations/pages/pages.ts'
import type { Credentials, OutgoingPost } from '../../../src/platforms/contract.ts'
import { createHttpClient } from '../../../src/platforms/shared/http.ts'
import { USER_AGENT } from '../../support/user-agent.ts'
import {
  bytesOf,
  LOST_CALLS,
  LOST_RESPONSES,
  memoryMedia,
  newDelivery,
  newPost,
  picture,
  platformErrorOf,
  postsOf,
  searchOptions,
} from '../shared/support.ts'
import { blueskyWorld, type BlueskyWorld } from './bluesky-support.ts'

/** The cards of links on Bluesky: each is made before the post is due, and never delays or prevents it. */

const PUT = 'com.atproto.repo.putRecord'
const { media, add } = memoryMedia()
const pages = createPages({
  http: createHttpClient({ userAgent: USER_AGENT, connections: 4, readsExcerpts: true }),
  isAllowedOrigin: () => true,
})

let world: BlueskyWorld
let { bluesky, control, adapter, owner } = {} as BlueskyWorld
let account: Credentials
let site: { server: ReturnType<typeof createServer>; url: string }
let answers = new Map<string, (response: ServerResponse) => void>()
let requests: string[] = []
let image: Uint8Array

beforeAll(async () => {
  const server = createServer(({ url }, response) => {
    requests.push(url!)
    const answer = answers.get(url!)
    if (answer) answer(response)
    else response.writeHead(404).end()
  })
  site = { server, url: await listenOnLoopback(server) }
  image = await bytesOf(picture(1_200, 630).png())
  world = await blueskyWorld(media, { pages })
  ;({ bluesky, control, adapter, owner } = world)
  account = await world.logIn(owner)
})
afterAll(async () => {
  await pages.close()
  await closeServer(site.server)
  await world?.stop()
})
beforeEach(async () => {
  await control.clearFaults()
  requests = []
  const head =
    '<title>plain</title><meta property="og:title" content="How we built it">' +
    '<meta property="og:description" content="A long read"><meta property="og:image" content="/image.png">'
  answers = new Map([
    ['/article', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end(head)],
    ['/image.png', (response) => response.writeHead(200, { 'content-type': 'image/png' }).end(image)],
  ])
})

const options = () => ({ signal: AbortSignal.timeout(20_000) })
const article = () => `${site.url}/article`

function newLinkPost(text: string, link?: LinkChoice): OutgoingPost {
  return { ...newPost(text), ...(link && { link }) }
}

async function publish(post: OutgoingPost, delivery = newDelivery()): Promise<Published> {
  await adapter.prepare(post, account, delivery, options())
  return adapter.publish(post, account, delivery, options())
}

interface ExternalEmbed {
  $type: string
  external?: { uri: string; title: string; description: string; thumb?: { mimeType: string; size: number } }
  record?: unknown
  media?: ExternalEmbed
}

async function embedOf({ platformPostId }: Published): Promise<ExternalEmbed | undefined> {
  const record = (await postsOf(bluesky.pdsUrl, owner)).find(({ uri }) => uri === platformPostId)!
  return record.value.embed as unknown as ExternalEmbed | undefined
}

const CARD = () => ({
  $type: 'app.bsky.embed.external',
  external: {
    ...{ uri: article(), title: 'How we built it', description: 'A long read' },
    thumb: { mimeType: 'image/jpeg', size: expect.any(Number) },
  },
})

describe('a card', () => {
  it('the first link of a text becomes a card with an image', async () => {
    const published = await publish(newLinkPost(`Read ${article()} and ${site.url}/other`))
    expect(published.warning).toBeUndefined()
    const embed = await embedOf(published)
    expect(embed).toMatchObject(CARD())
    expect(embed!.external!.thumb!.size).toBeLessThanOrEqual(1_000_000)
    expect(requests).toEqual(['/article', '/image.png'])
  })

  it('an image above a megabyte becomes a thumb below it', async () => {
    const noise = { type: 'gaussian' as const, mean: 128, sigma: 60 }
    image = await bytesOf(
      sharp({ create: { width: 1_100, height: 1_100, channels: 3, background: 'teal', noise } }).png(),
    )
    expect(image.length).toBeGreaterThan(1_000_000)
    const { external } = (await embedOf(await publish(newLinkPost(`Noise ${article()}`))))!
    expect(external!.thumb).toMatchObject({ mimeType: 'image/jpeg' })
    expect(external!.thumb!.size).toBeLessThanOrEqual(1_000_000)
    image = await bytesOf(picture(1_200, 630).png())
  })

  it('the texts and the image that the author chose replace those of the page, which is not read then', async () => {
    const own = {
      ...add(await bytesOf(picture(40, 20).png()), 'image/png'),
      altText: 'own',
    }
    const link = { url: article(), title: 'Mine', description: 'My words', image: own }
    const published = await publish(newLinkPost('no link here', link))
    expect(await embedOf(published)).toMatchObject({
      external: { uri: article(), title: 'Mine', description: 'My words', thumb: { mimeType: 'image/jpeg' } },
    })
    expect(requests).toEqual([])
    const titled = await publish(newLinkPost('no link here, too', { url: article(), title: 'Mine' }))
    expect(await embedOf(titled)).toMatchObject({ external: { title: 'Mine', description: 'A long read' } })
  })

  it('a card is the media beside a quoted post', async () => {
    const quoted = await publish(newPost('worth quoting'))
    const quoting = newLinkPost(`quoting and linking ${article()}`)
    const published = await publish({ ...quoting, options: { bluesky: { quoteUrl: quoted.platformPostId } } })
    expect(await embedOf(published)).toMatchObject({
      $type: 'app.bsky.embed.recordWithMedia',
      record: { record: { uri: quoted.platformPostId } },
      media: CARD(),
    })
  })

  it.each([
    ['with images', () => newPost(`with an image ${article()}`, [add(image as Uint8Array<ArrayBuffer>, 'image/png')])],
    ['whose author wants none', () => newLinkPost(`without a card ${article()}`, 'none')],
    ['without a link', () => newPost('no link at all')],
  ])('a post %s has no card', async (_, make) => {
    const published = await publish(make())
    expect(published.warning).toBeUndefined()
    expect((await embedOf(published))?.$type).not.toBe('app.bsky.embed.external')
    expect(requests).toEqual([])
  })
})

describe('a page that cannot be read', () => {
  const html = { 'content-type': 'text/html' }
  it.each<[string, (response: ServerResponse) => unknown, RegExp]>([
    ['is missing', (response) => response.writeHead(404).end(), /the page answered with the status 404/],
    ['hangs', () => undefined, /the page did not answer in time/],
    ['has no title', (response) => response.writeHead(200, html).end('<p>x</p>'), /the page has no title/],
    ['is no page', (response) => response.writeHead(200, { 'content-type': 'video/mp4' }).end(), /is no web page/],
  ])('a post is published without its card when the page %s, with a warning', async (what, answer, warning) => {
    answers.set('/article', answer)
    const startedAt = performance.now()
    const delivery = newDelivery()
    const post = newLinkPost(`${what}: ${article()}`)
    const published = await publish(post, delivery)
    expect(published.warning).toMatch(/^Bluesky published the post without the card of its link: /)
    expect(published.warning).toMatch(warning)
    expect(await embedOf(published)).toBeUndefined()
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    expect(await adapter.reconcile(post, account, delivery, searchOptions())).toEqual(published)
  })

  it('a card with a title is published as its author wrote it, with a warning', async () => {
    answers.delete('/article')
    const published = await publish(newLinkPost('gone', { url: article(), title: 'Mine' }))
    expect(published.warning).toBe(
      'Bluesky published the card of the link as you wrote it, because the page answered with the status 404.',
    )
    expect(await embedOf(published)).toMatchObject({ external: { title: 'Mine', description: '' } })
  })

  it.each<[string, (response: ServerResponse) => unknown, string]>([
    ['is missing', (response) => response.writeHead(404).end(), 'which answered with the status 404.'],
    ['is no image', (response) => response.end('<svg/>'), 'which is no image.'],
    ['is cut off', (response) => response.end(Buffer.from(image).subarray(0, 200)), 'which could not be converted.'],
  ])('a card is published without its image when that %s, with a warning', async (what, answer, warning) => {
    answers.set('/image.png', answer)
    const published = await publish(newLinkPost(`image ${what}: ${article()}`))
    expect(published.warning).toBe(`Bluesky published the card of the link without its image, ${warning}`)
    const { external } = (await embedOf(published))!
    expect(external).toEqual({ uri: article(), title: 'How we built it', description: 'A long read' })
  })
})

describe('repeats', () => {
  it('a page is read once, whatever it says when the delivery is prepared again', async () => {
    const delivery = newDelivery()
    const post = newLinkPost(`read once ${article()}`)
    await adapter.prepare(post, account, delivery, options())
    answers.clear()
    await adapter.prepare(post, account, delivery, options())
    expect(await embedOf(await adapter.publish(post, account, delivery, options()))).toMatchObject(CARD())
    expect(requests).toEqual(['/article', '/image.png'])
  })

  it('a page that was not read is not read later either, so that every call writes an equal record', async () => {
    answers.set('/article', (response) => response.writeHead(503).end())
    const delivery = newDelivery()
    const post = newLinkPost(`not read ${article()}`)
    await adapter.prepare(post, account, delivery, options())
    answers.set('/article', (response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<title>T</title>'),
    )
    expect((await publish(post, delivery)).warning).toMatch(/503/)
  })

  it.each([
    ...LOST_RESPONSES.slice(0, 2).map(([name, action]) => [`the server has the post and ${name}`, action] as const),
    ...LOST_CALLS.slice(1, 2).map(([name, action]) => [`the server has no post and ${name}`, action] as const),
  ])('a repeat writes an equal record with its card when %s', async (name, action) => {
    const delivery = newDelivery()
    const post = newLinkPost(`lost (${name}) ${article()}`)
    await adapter.prepare(post, account, delivery, options())
    await control.addFault({ path: PUT, times: 1, action })
    expect(await platformErrorOf(adapter.publish(post, account, delivery, options()))).toMatchObject({
      certain: false,
    })
    answers.clear()
    const published = await publish(post, { ...delivery, isRepeat: true })
    expect(await embedOf(published)).toMatchObject(CARD())
    const own = await postsOf(bluesky.pdsUrl, owner)
    expect(own.filter(({ value }) => value.text === post.content.text)).toHaveLength(1)
  })

  it('an image that the server lost is uploaded again', async () => {
    const delivery = newDelivery()
    const post = newLinkPost(`lost image ${article()}`)
    await adapter.prepare(post, account, delivery, options())
    await control.addFault({
      ...{ path: PUT, times: 1 },
      action: { status: 400, body: { error: 'BlobNotFound', message: 'Could not find blob' } },
    })
    expect(await platformErrorOf(adapter.publish(post, account, delivery, options()))).toMatchObject({
      class: 'media_not_ready',
      certain: true,
    })
    expect(await embedOf(await publish(post, delivery))).toMatchObject(CARD())
    expect(requests).toEqual(['/article', '/image.png', '/image.png'])
  })
})
