import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { insteadOf } from '../../../sandbox/platforms/foreign-responses.ts'
import type { Published } from '../../../src/domain/posts/post.ts'
import type {
  Credentials,
  DeliveryCheckpoints,
  OutgoingPost,
  PlatformAdapter,
} from '../../../src/platforms/contract.ts'
import { createMastodon } from '../../../src/platforms/mastodon/adapter.ts'
import { PUBLICATION_LIMITS, type PublicationReport } from '../../../src/domain/quotas/publications.ts'
import { PublicationQuotaReached } from '../../../src/platforms/errors.ts'
import { quotaDatabase } from '../../support/quota-databases.ts'
import type { CallQuotas } from '../../../src/platforms/shared/call-quota.ts'
import { HOUR } from '../../../src/domain/shared/times.ts'
import { USER_AGENT } from '../../support/user-agent.ts'
import { call, mastodonWorld, REDIRECT_URI, type MastodonWorld } from './mastodon-support.ts'
import {
  bytesOf,
  memoryFacts,
  memoryMedia,
  newDelivery,
  newPost,
  picture,
  platformErrorOf,
  searchOptions,
} from '../shared/support.ts'
import { partial } from '../../support/partial.ts'
import { chooseFirst } from '../shared/choose-first.ts'
import { film } from '../../support/film.ts'

const STATUSES = '/api/v1/statuses'
const ROOM = { max: 100_000, seconds: 300 }

const { media, add, opened } = memoryMedia()
let world: MastodonWorld
let account: Credentials

const options = () => ({ signal: AbortSignal.timeout(20_000) })

beforeAll(async () => {
  world = await mastodonWorld(media, { rateLimits: { api: ROOM, media: ROOM, statuses: ROOM } })
  account = await world.newAccount()
})
afterAll(() => world?.stop())
beforeEach(() => world.control.clearFaults())

async function publish(
  post: OutgoingPost,
  delivery: DeliveryCheckpoints = newDelivery(),
  as = account,
): Promise<Published> {
  await world.adapter.prepare(post, as, delivery, options())
  return world.adapter.publish(post, as, delivery, options())
}

const reconcile = (post: OutgoingPost, delivery: DeliveryCheckpoints, overrides = {}, as = account) =>
  world.adapter.reconcile(post, as, delivery, searchOptions(overrides))

const withText = async (text: string) => (await world.control.ledger()).filter((entry) => entry.text === text)

async function requestsTo(method: string, path: string): Promise<number> {
  const requests = await world.control.requests()
  return requests.filter((request) => request.method === method && request.path.startsWith(path)).length
}

describe('connect', () => {
  it('the login requests only the needed scopes, with a new challenge each time', async () => {
    const begin = () => world.redirect.begin({ state: 's&1', redirectUri: REDIRECT_URI }, options())
    const [first, second] = await Promise.all([begin(), begin()])
    const url = new URL(first.url)
    expect(`${url.origin}${url.pathname}`).toBe(`${world.mastodon.url}/oauth/authorize`)
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: world.app.clientId,
      redirect_uri: REDIRECT_URI,
      scope: 'read:accounts read:statuses write:statuses write:media',
      state: 's&1',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    expect(second.secrets['verifier']).not.toBe(first.secrets['verifier'])
    expect(first.url).not.toContain(first.secrets['verifier'])
  })

  it("the login returns the user's account", async () => {
    const note = '<p>Sees &amp; hears</p><p>all</p>'
    const { id } = world.mastodon.createAccount({ username: 'oedoen', displayName: ' Ödön ', note })
    const { credentials, profile } = await world.connection(id)
    const host = new URL(world.mastodon.url).host
    expect(credentials).toEqual({
      accountId: id,
      handle: `oedoen@${host}`,
      serviceUrl: world.mastodon.url,
      accessToken: expect.any(String),
    })
    expect(profile).toEqual({
      displayName: 'Ödön',
      handle: `oedoen@${host}`,
      avatar: expect.stringMatching(/^http/),
      description: 'Sees & hears\n\nall',
    })
    expect(await world.adapter.profile({ ...credentials, version: 1 }, options())).toEqual(profile)
  })

  it('a denial is reported without a call', async () => {
    const { id } = world.mastodon.createAccount({ username: 'unwilling' })
    const before = await requestsTo('POST', '/oauth/token')
    const error = await platformErrorOf(world.connection(id, 'deny'))
    expect(error).toMatchObject({ class: 'permission', certain: true, message: 'Access was denied on Mastodon' })
    expect(await requestsTo('POST', '/oauth/token')).toBe(before)
  })

  it.each([
    ['an invented code', { code: 'invented' }, {}],
    ['no code', {}, {}],
    ['the verifier of another attempt', { code: '' }, { verifier: 'x'.repeat(43) }],
  ])('a login is refused with %s', async (_, query: Record<string, string>, secrets: Record<string, string>) => {
    const complete = world.redirect.complete(
      { query, redirectUri: REDIRECT_URI, choose: chooseFirst, secrets: { verifier: 'v', ...secrets } },
      options(),
    )
    expect(await platformErrorOf(complete)).toMatchObject({ class: 'permission', certain: true })
  })

  it('a login with fewer scopes is refused and revoked', async () => {
    const { id } = world.mastodon.createAccount({ username: 'stingy' })
    const body = { access_token: 'little', token_type: 'Bearer', scope: 'read:accounts', created_at: 1 }
    await world.control.addFault({ path: '/oauth/token', times: 1, action: { status: 200, body } })
    const revokes = await requestsTo('POST', '/oauth/revoke')
    expect(await platformErrorOf(world.connection(id))).toMatchObject({ class: 'permission', certain: true })
    expect(await requestsTo('POST', '/oauth/revoke')).toBe(revokes + 1)
  })

  it("an earlier connection's login stays valid when the profile cannot be read", async () => {
    const as = await world.newAccount()
    await world.control.addFault({ path: 'accounts/verify_credentials', times: 1, action: { status: 500 } })
    expect(await platformErrorOf(world.connection(as.accountId))).toMatchObject({ class: 'transient' })
    await publish(newPost('still connected'), newDelivery(), as)
  })

  it('revoking ends the login and can be repeated', async () => {
    const as = await world.newAccount()
    await world.adapter.revoke(as, options())
    await world.adapter.revoke(as, options())
    expect(await platformErrorOf(world.adapter.profile(as, options()))).toMatchObject({
      class: 'unauthorized',
      certain: true,
    })
  })

  it('the token of another instance is sent nowhere', async () => {
    const elsewhere = { ...account, serviceUrl: 'https://mastodon.example' }
    const before = (await world.control.requests()).length
    const works = [
      world.adapter.prepare(newPost('x'), elsewhere, newDelivery(), options()),
      world.adapter.publish(newPost('x'), elsewhere, newDelivery(), options()),
      world.adapter.profile(elsewhere, options()),
      reconcile(newPost('x'), newDelivery(), {}, elsewhere),
    ]
    for (const work of works)
      expect(await platformErrorOf(work)).toMatchObject({ class: 'unauthorized', certain: true })
    await world.adapter.revoke(elsewhere, options())
    expect(await world.control.requests()).toHaveLength(before)
  })
})

describe('posts', () => {
  it('a post is published unchanged on the instance', async () => {
    const text = 'Crème & <b>café</b>\n\nhttps://example.test/a/long/path/that/is/hidden?b=1 #naïve'
    const published = await publish(newPost(text))
    expect(await withText(text)).toMatchObject([{ id: published.platformPostId, media: [] }])
    expect(published.platformPostUrl).toBe(
      `${world.mastodon.url}/@${account.handle.split('@')[0]}/${published.platformPostId}`,
    )
  })

  it('a post that is too long is refused before anything is sent, and links count as 23', async () => {
    const link = `https://example.com/${'x'.repeat(400)}`
    await publish(newPost(`${'x'.repeat(476)} ${link}`))
    const error = await platformErrorOf(publish(newPost(`${'x'.repeat(477)} ${link}`)))
    expect(error).toMatchObject({ class: 'validation', certain: true, message: expect.stringContaining('500') })
  })

  it('posts follow the limits of the instance', async () => {
    const small = await mastodonWorld(media, { maxCharacters: 20, types: ['image/png', 'video/webm'] })
    try {
      const as = await small.newAccount()
      const prepare = (post: OutgoingPost, log = newDelivery()) => small.adapter.prepare(post, as, log, options())
      expect((await platformErrorOf(prepare(newPost('x'.repeat(21))))).message).toContain('at most 20')
      const video = add(film(), 'video/mp4')
      expect((await platformErrorOf(prepare(newPost('', [video])))).message).toContain('video/mp4')
      const log = newDelivery()
      const post = newPost('', [add(await bytesOf(picture(30, 20).jpeg()), 'image/jpeg')])
      await prepare(post, log)
      await small.adapter.publish(post, as, log, options())
      expect((await small.control.ledger())[0]!.media).toEqual([{ type: 'image/png', altText: '' }])
    } finally {
      await small.stop()
    }
  })

  it('what an instance says of pixels, frames and descriptions is its rule, and what keeps it is accepted', async () => {
    const limits = { imagePixels: 600, videoPixels: 1_280 * 720, videoFrameRate: 25, description: 20 }
    const small = await mastodonWorld(media, { limits })
    try {
      const as = await small.newAccount()
      const { media: rules, altText } = await small.adapter.limits(options())
      expect(rules.video).toMatchObject({ pixels: limits.videoPixels, frameRate: { max: 25 } })
      expect(altText).toEqual({ image: 20, video: 20 })
      const items = [
        add(film({ width: 1_280, height: 720, frameRate: 25 }), 'video/mp4', 'x'.repeat(21)),
        add(await bytesOf(picture(300, 200).jpeg()), 'image/jpeg', 'x'.repeat(21)),
      ]
      for (const item of items) await small.adapter.prepare(newPost('', [item]), as, newDelivery(), options())
      const large = add(film({ width: 1_920, height: 1_080 }), 'video/mp4')
      const error = await platformErrorOf(small.adapter.prepare(newPost('', [large]), as, newDelivery(), options()))
      expect(error).toMatchObject({ class: 'validation', certain: true })
    } finally {
      await small.stop()
    }
  })

  it('compatible servers count code points and full links', async () => {
    const options_ = { honoursKeys: false, countsCodePoints: true, maxCharacters: 100, charactersPerUrl: 25 }
    const other = await mastodonWorld(media, options_)
    try {
      const as = await other.newAccount()
      const send = async (text: string) => {
        const [log, post] = [newDelivery(), newPost(text)]
        await other.adapter.prepare(post, as, log, options())
        await other.adapter.publish(post, as, log, options())
      }
      const family = '👨‍👩‍👧‍👦'
      expect([...family]).toHaveLength(7)
      await send(family.repeat(14))
      await send(`https://example.test/${'x'.repeat(79)}`)
      for (const text of [family.repeat(15), `https://example.test/${'x'.repeat(80)}`]) {
        const error = await platformErrorOf(send(text))
        expect(error).toMatchObject({ class: 'validation', message: expect.stringContaining('at most 100') })
      }
      expect(await other.control.ledger()).toHaveLength(2)
    } finally {
      await other.stop()
    }
  })

  it('links count as the instance says', async () => {
    const other = await mastodonWorld(media, { charactersPerUrl: 30 })
    try {
      const as = await other.newAccount()
      const link = `https://example.com/${'x'.repeat(400)}`
      const prepare = (words: number) =>
        other.adapter.prepare(newPost(`${'x'.repeat(words)} ${link}`), as, newDelivery(), options())
      await prepare(469)
      expect((await platformErrorOf(prepare(470))).message).toContain('links counted as 30')
    } finally {
      await other.stop()
    }
  })

  it("a refusal with the server's own reason is invalid, whatever its status", async () => {
    for (const status of [400, 422]) {
      const body = { error: 'Bad Request: status too long, 600 characters provided but limit is 500' }
      await world.control.addFault({ method: 'POST', path: STATUSES, times: 1, action: { status, body } })
      expect(await platformErrorOf(publish(newPost('too long there')))).toMatchObject({
        class: 'validation',
        certain: true,
      })
    }
  })

  it('default limits apply while the instance does not report its own', async () => {
    const mute = await mastodonWorld(media)
    try {
      const as = await mute.newAccount()
      await mute.control.addFault({ path: '/api/v2/instance', action: { status: 200, body: '<html>' } })
      await mute.adapter.prepare(newPost('x'.repeat(500)), as, newDelivery(), options())
      expect(
        await platformErrorOf(mute.adapter.prepare(newPost('x'.repeat(501)), as, newDelivery(), options())),
      ).toMatchObject({
        class: 'validation',
      })
    } finally {
      await mute.stop()
    }
  })
})

describe('media', () => {
  it('images keep the formats that the instance accepts', async () => {
    const items = [
      add(await bytesOf(picture(300, 200).jpeg()), 'image/jpeg'),
      add(await bytesOf(picture(64, 128).png()), 'image/png'),
      add(await bytesOf(picture(50, 50).webp()), 'image/webp'),
    ]
    const { platformPostId } = await publish(newPost('three', items))
    const entry = (await world.control.ledger()).find(({ id }) => id === platformPostId)!
    expect(entry.media.map(({ type }) => type)).toEqual(['image/jpeg', 'image/png', 'image/webp'])
  })

  it('media are polled while the server processes them', async () => {
    const delivery = newDelivery()
    const post = newPost('a film', [add(film({ bytes: 300_000 }), 'video/mp4', 'Waves')])
    await world.adapter.prepare(post, account, delivery, options())
    expect(await requestsTo('GET', '/api/v1/media/')).toBeGreaterThan(0)
    const { platformPostId } = await world.adapter.publish(post, account, delivery, options())
    const entry = (await world.control.ledger()).find(({ id }) => id === platformPostId)!
    expect(entry.media).toEqual([{ type: 'video/mp4', altText: 'Waves' }])
  })

  it('media that take longer are polled by the next attempt and not sent twice', async () => {
    const slow = await mastodonWorld(media, { processingMs: HOUR }, { processingWaitMs: 600 })
    try {
      const as = await slow.newAccount()
      const delivery = newDelivery()
      const item = add(film(), 'video/mp4')
      const post = newPost('slow', [item])
      const prepare = () => slow.adapter.prepare(post, as, delivery, options())
      expect(await platformErrorOf(prepare())).toMatchObject({ class: 'media_not_ready', certain: true })
      expect(await platformErrorOf(slow.adapter.publish(post, as, delivery, options()))).toMatchObject({
        class: 'media_not_ready',
        certain: true,
      })
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOUR })
      await prepare()
      await slow.adapter.publish(post, as, delivery, options())
      expect(opened.filter((key) => key === item.storageKey)).toHaveLength(1)
    } finally {
      vi.useRealTimers()
      await slow.stop()
    }
  })

  it.each([
    [404, 'transient'],
    [422, 'media_fetch_failed'],
  ])('media are uploaded again when the poll gets a %i, whatever its words', async (status, expected) => {
    const item = add(film(), 'video/mp4')
    const delivery = newDelivery()
    const post = newPost(`again after ${status}`, [item])
    await world.control.addFault({ path: '/api/v1/media/', times: 1, action: { status, body: { error: 'Nein.' } } })
    expect(await platformErrorOf(publish(post, delivery))).toMatchObject({ class: expected, certain: true })
    await publish(post, delivery)
    expect(opened.filter((key) => key === item.storageKey)).toHaveLength(2)
  })

  it('an upload that is refused names the file and the reason of the server', async () => {
    const body = { error: 'Gültigkeitsprüfung ist fehlgeschlagen: File ist nicht gültig' }
    for (const [status, message] of [
      [422, 'Mastodon does not accept the image'],
      [413, 'Mastodon refused the image as too large'],
    ] as const) {
      await world.control.addFault({ path: '/api/v2/media', times: 1, action: { status, body } })
      const post = newPost('', [add(await bytesOf(picture(20, 20).png()), 'image/png')])
      const refused = await platformErrorOf(publish(post))
      expect(refused).toMatchObject({ class: 'validation', certain: true, message })
      expect(refused.platformReason!.text).toBe(body.error)
    }
  })
})

/** Publishes a status with the files of a delivery, as another client of the account may. */
async function useFiles(on: MastodonWorld, as: Credentials, uploaded: unknown[]): Promise<void> {
  const { status } = await call(on.mastodon.url, STATUSES, {
    method: 'POST',
    token: as.accessToken,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ status: 'elsewhere', media_ids: uploaded }),
  })
  expect(status).toBe(200)
}

const uploadsOf = ({ handles }: ReturnType<typeof newDelivery>) =>
  [...handles.values()].map((stored) => JSON.parse(stored) as { id: string; isReady: boolean })

describe.each(['en', 'de'] as const)('a server that speaks "%s"', (language) => {
  let other: MastodonWorld
  let as: Credentials
  beforeAll(async () => {
    other = await mastodonWorld(media, { language, processingMs: 3_000 }, { processingWaitMs: 300 })
    as = await other.newAccount()
  })
  afterAll(() => other?.stop())

  const prepare = (post: OutgoingPost, delivery: DeliveryCheckpoints) =>
    other.adapter.prepare(post, as, delivery, options())
  const send = (post: OutgoingPost, delivery: DeliveryCheckpoints) =>
    other.adapter.publish(post, as, delivery, options())

  it('a file that another status uses by now is uploaded again', async () => {
    const items = [
      add(await bytesOf(picture(20, 20).png()), 'image/png'),
      add(await bytesOf(picture(30, 20).png()), 'image/png'),
    ]
    const post = newPost('lost media', items)
    const delivery = newDelivery()
    await prepare(post, delivery)
    await useFiles(other, as, [uploadsOf(delivery)[1]!.id])
    expect(await platformErrorOf(send(post, { ...delivery, isRepeat: true }))).toMatchObject({ certain: false })
    await prepare(post, delivery)
    await send(post, delivery)
    const opens = items.map(({ storageKey }) => opened.filter((key) => key === storageKey).length)
    expect(opens).toEqual([1, 2])
    expect((await other.control.ledger()).find(({ text }) => text === 'lost media')!.media).toHaveLength(2)
  })

  it('a file that is not processed yet is waited for', async () => {
    const post = newPost('early', [add(film(), 'video/mp4')])
    const delivery = newDelivery()
    expect(await platformErrorOf(prepare(post, delivery))).toMatchObject({ class: 'media_not_ready' })
    delivery.handles.set('media.0', JSON.stringify({ ...uploadsOf(delivery)[0], isReady: true }))
    expect(await platformErrorOf(send(post, delivery))).toMatchObject({ class: 'media_not_ready', certain: true })
    expect(uploadsOf(delivery)[0]!.isReady).toBe(false)
    await vi.waitFor(() => prepare(post, delivery), { timeout: 15_000 })
    await send(post, delivery)
  })

  it('a status that is refused while its files cannot be read is retried', async () => {
    const post = newPost('unexplained', [add(await bytesOf(picture(20, 20).png()), 'image/png')])
    const delivery = newDelivery()
    await prepare(post, delivery)
    await useFiles(other, as, [uploadsOf(delivery)[0]!.id])
    await other.control.addFault({ path: '/api/v1/media/', times: 1, action: { status: 503 } })
    expect(await platformErrorOf(send(post, delivery))).toMatchObject({ class: 'transient', certain: true })
  })

  it("a status that is refused for its text fails with the server's sentence", async () => {
    for (const items of [[], [add(await bytesOf(picture(20, 20).png()), 'image/png')]]) {
      const post = newPost('x'.repeat(501), items)
      const delivery = newDelivery()
      await prepare(newPost('short', items), delivery)
      const refused = await platformErrorOf(send(post, delivery))
      expect(refused).toMatchObject({ class: 'validation', certain: true })
      expect(refused.message).not.toMatch(/image|video/)
      expect(refused.platformReason!.text).toMatch(/500/)
    }
  })
})

describe('a status without its files', () => {
  let careless: MastodonWorld
  let as: Credentials
  beforeAll(async () => {
    careless = await mastodonWorld(media, { dropsMedia: true })
    as = await careless.newAccount()
  })
  afterAll(() => careless?.stop())

  /** Prepares a post with two pictures. The server drops this many of them. */
  async function prepareDropped(text: string, dropped: number) {
    const items = [30, 40].map(async (size) => add(await bytesOf(picture(size, size).png()), 'image/png'))
    const [post, delivery] = [newPost(text, await Promise.all(items)), newDelivery()]
    await careless.adapter.prepare(post, as, delivery, options())
    const ids = uploadsOf(delivery).map(({ id }) => id)
    await useFiles(careless, as, ids.slice(0, dropped))
    return { post, delivery }
  }

  it.each([
    [1, 'Mastodon published the post without 1 of its images and videos.'],
    [2, 'Mastodon published the post without its images and videos.'],
  ])('a status that came back without %i of two files carries a warning', async (dropped, warning) => {
    const { post, delivery } = await prepareDropped(`dropped ${dropped}`, dropped)
    expect(await careless.adapter.publish(post, as, delivery, options())).toMatchObject({ warning })
  })

  it('a status with all files carries no warning', async () => {
    const { post, delivery } = await prepareDropped('complete', 0)
    expect(await careless.adapter.publish(post, as, delivery, options())).not.toHaveProperty('warning')
  })

  it('a status with some of its files is found after a lost response, and carries a warning', async () => {
    const { post, delivery } = await prepareDropped('dropped and lost', 1)
    await careless.control.addFault({ method: 'POST', path: STATUSES, times: 1, action: { dropAfterAccept: true } })
    await platformErrorOf(careless.adapter.publish(post, as, delivery, options()))
    expect(await careless.adapter.reconcile(post, as, delivery, searchOptions())).toMatchObject({
      warning: expect.stringContaining('without 1 of'),
    })
  })

  it('a status without any of its files leaves a lost response undecidable', async () => {
    const { post, delivery } = await prepareDropped('all dropped and lost', 2)
    await careless.control.addFault({ method: 'POST', path: STATUSES, times: 1, action: { dropAfterAccept: true } })
    await platformErrorOf(careless.adapter.publish(post, as, delivery, options()))
    expect(await careless.adapter.reconcile(post, as, delivery, searchOptions())).toBe('undecidable')
  })
})

describe('exactly one status', () => {
  it('one status results even if the server ignores the key', async () => {
    const careless = await mastodonWorld(media, { honoursKeys: false })
    try {
      const as = await careless.newAccount()
      const delivery = newDelivery()
      const post = newPost(`no key here https://example.test/some/long/path/of/a/link @${as.handle} #tag`)
      await careless.adapter.prepare(post, as, delivery, options())
      await careless.control.addFault({ method: 'POST', path: STATUSES, times: 1, action: { dropAfterAccept: true } })
      await platformErrorOf(careless.adapter.publish(post, as, delivery, options()))
      const [entry] = await careless.control.ledger()
      expect(await careless.adapter.reconcile(post, as, delivery, searchOptions())).toMatchObject({
        platformPostId: entry!.id,
      })
    } finally {
      await careless.stop()
    }
  })

  it('a status that was deleted before the repeat is not published again', async () => {
    const delivery = newDelivery()
    const as = await world.newAccount()
    const post = newPost('published and deleted')
    const { platformPostId } = await publish(post, delivery, as)
    await world.control.deletePost(platformPostId)
    const repeat = { ...delivery, isRepeat: true }
    expect(await platformErrorOf(world.adapter.publish(post, as, repeat, options()))).toMatchObject({
      class: 'duplicate',
      certain: false,
    })
    expect(await reconcile(post, delivery, {}, as)).toBe('undecidable')
    expect(await withText(post.content.text)).toEqual([])
  })
})

describe('a 404 to the visible call', () => {
  it('a 404 from a proxy is retried, also for a repeat', async () => {
    const as = await world.newAccount()
    for (const isRepeat of [false, true]) {
      const delivery = { ...newDelivery(), isRepeat }
      const post = newPost(`behind a proxy, repeat ${isRepeat}`)
      await world.adapter.prepare(post, as, delivery, options())
      await world.control.addFault({ method: 'POST', path: STATUSES, times: 1, action: insteadOf('a page with 404') })
      expect(await platformErrorOf(world.adapter.publish(post, as, delivery, options()))).toMatchObject({
        class: 'transient',
        certain: false,
        answered: true,
      })
      // The status of the previous round is on record.
      expect(await reconcile(post, delivery, { isTaken: async () => true }, as)).toBe('absent')
      await world.adapter.publish(post, as, delivery, options())
      expect(await withText(post.content.text)).toHaveLength(1)
    }
  })

  it.each([
    ['ignores', 'statusAfterAccept', false],
    ['ignores', 'status', false],
    ['ignores', 'statusAfterAccept', true],
    ['ignores', 'status', true],
    ['honours', 'statusAfterAccept', false],
    ['honours', 'status', false],
  ] as const)(
    'a 404 from a server that %s the key decides nothing, and one status results: %s, repeat: %s',
    async (keys, answered, isRepeat) => {
      const careless = await mastodonWorld(media, { honoursKeys: keys === 'honours' })
      try {
        const [as, post] = [await careless.newAccount(), newPost('published all the same?')]
        const delivery = { ...newDelivery(), isRepeat }
        await careless.adapter.prepare(post, as, delivery, options())
        const action = { [answered]: 404, body: { error: 'Nicht gefunden' } }
        await careless.control.addFault({ method: 'POST', path: STATUSES, times: 1, action })
        const publishing = careless.adapter.publish(post, as, delivery, options())
        expect(await platformErrorOf(publishing)).toMatchObject({ class: 'transient', certain: false, answered: true })
        const found = await careless.adapter.reconcile(post, as, delivery, searchOptions())
        if (found === 'absent') await careless.adapter.publish(post, as, { ...delivery, isRepeat: true }, options())
        expect(found === 'absent').toBe(answered === 'status')
        expect(await careless.control.ledger()).toHaveLength(1)
      } finally {
        await careless.stop()
      }
    },
  )

  it('a status with files is found although a server that ignores the key refused it', async () => {
    const careless = await mastodonWorld(media, { honoursKeys: false })
    try {
      const [as, delivery] = [await careless.newAccount(), newDelivery()]
      const post = newPost('refused all the same', [add(await bytesOf(picture(20, 20).png()), 'image/png')])
      await careless.adapter.prepare(post, as, delivery, options())
      const action = { statusAfterAccept: 422, body: { error: 'Medien 1 nicht gefunden' } }
      await careless.control.addFault({ method: 'POST', path: STATUSES, times: 1, action })
      const refused = await platformErrorOf(careless.adapter.publish(post, as, delivery, options()))
      expect(refused).toMatchObject({ certain: false, answered: true })
      const [entry] = await careless.control.ledger()
      expect(await careless.adapter.reconcile(post, as, delivery, searchOptions())).toMatchObject({
        platformPostId: entry!.id,
      })
    } finally {
      await careless.stop()
    }
  })

  it('a status is found although a 404 came to its repeat', async () => {
    const as = await world.newAccount()
    const delivery = { ...newDelivery(), isRepeat: true }
    const post = newPost('repeated, published and not found')
    const action = { statusAfterAccept: 404, body: { error: 'Record not found' } }
    await world.control.addFault({ method: 'POST', path: STATUSES, times: 1, action })
    expect(await platformErrorOf(publish(post, delivery, as))).toMatchObject({ class: 'duplicate', certain: false })
    const [entry] = await withText(post.content.text)
    expect(await reconcile(post, delivery, {}, as)).toMatchObject({ platformPostId: entry!.id })
  })
})

describe('the search for a published status', () => {
  it('a status is recognised by its displayed text when its source cannot be read', async () => {
    await world.control.addFault({ path: '/source', action: { status: 404, body: { error: 'Record not found' } } })
    const delivery = newDelivery()
    const text = `shown: <b>a & b</b>\n\nhttps://example.test/long/enough/to/be/hidden/at/its/end?q=1&r=2 @${account.handle} #tag`
    const post = newPost(text)
    const published = await publish(post, delivery)
    expect(await reconcile(post, delivery)).toEqual(published)
    expect(await reconcile(newPost(`${text}!`), delivery)).toBe('undecidable')
  })

  it('a status of another application is not taken', async () => {
    const as = await world.newAccount()
    const owner = world.mastodon.createAccount({ username: as.handle.split('@')[0]! })
    expect(owner.id).toBe(as.accountId)
    world.mastodon.publishElsewhere(owner, 'the very same words')
    expect(await reconcile(newPost('the very same words'), newDelivery(), {}, as)).toBe('absent')
  })

  it('every status may be ours if the server reports neither the application nor edits', async () => {
    const other = await mastodonWorld(media, { reportsEdits: false })
    try {
      const as = await other.newAccount()
      await other.control.addFault({ path: 'apps/verify_credentials', action: { status: 403, body: { error: 'no' } } })
      other.mastodon.publishElsewhere(
        other.mastodon.createAccount({ username: as.handle.split('@')[0]! }),
        'written elsewhere',
      )
      expect(await other.adapter.reconcile(newPost('ours'), as, newDelivery(), searchOptions())).toBe('undecidable')
    } finally {
      await other.stop()
    }
  })

  it("the application's name is learnt from an accepted post and survives a restart", async () => {
    const facts = memoryFacts()
    const server = { namesApplication: false, honoursKeys: false, reportsEdits: false }
    const other = await mastodonWorld(media, server, { facts })
    const { clientId, clientSecret } = other.app
    const restarted = createMastodon({
      instanceUrl: other.mastodon.url,
      clientId,
      clientSecret,
      publishTimeoutMs: 1_500,
      media,
      facts,
      userAgent: USER_AGENT,
    })
    try {
      const as = await other.newAccount()
      const log = newDelivery()
      await other.adapter.publish(newPost('teaches the name'), as, log, options())
      const owner = other.mastodon.createAccount({ username: as.handle.split('@')[0]! })
      other.mastodon.publishElsewhere(owner, 'written with the web client')
      const isTaken = async (id: string) => id === (await other.control.ledger())[0]!.id
      const reconcileWith = (adapter: PlatformAdapter) =>
        adapter.reconcile(newPost('lost'), as, newDelivery(), searchOptions({ isTaken }))
      expect(await reconcileWith(other.adapter)).toBe('absent')
      await expect.poll(() => facts.facts.size).toBe(1)
      expect(await reconcileWith(restarted.adapter)).toBe('absent')
    } finally {
      await restarted.close()
      await other.stop()
    }
  })

  it('an unedited status with other text does not matter, whoever published it', async () => {
    const as = await world.newAccount()
    await publish(newPost('of a post that its user deleted meanwhile'), newDelivery(), as)
    expect(await reconcile(newPost('never sent'), newDelivery(), {}, as)).toBe('absent')
    // A server may normalize texts.
    expect(await reconcile(newPost('Of a post that its user -- deleted meanwhile.'), newDelivery(), {}, as)).toBe(
      'undecidable',
    )
  })

  it('a rewritten status of ours is undecidable', async () => {
    const as = await world.newAccount()
    const delivery = newDelivery()
    const post = newPost('before')
    const { platformPostId } = await publish(post, delivery, as)
    world.mastodon.rewrite(platformPostId, 'after')
    expect(await reconcile(post, delivery, {}, as)).toBe('undecidable')
  })

  it('statuses on record for others are skipped, and the oldest of equal ones is taken', async () => {
    const as = await world.newAccount()
    const post = newPost('twins')
    const [first, second, third] = [
      await publish(post, newDelivery(), as),
      await publish(post, newDelivery(), as),
      await publish(post, newDelivery(), as),
    ]
    const delivery = newDelivery()
    expect(await reconcile(post, delivery, { isTaken: async (id: string) => id === first.platformPostId }, as)).toEqual(
      second,
    )
    expect(await reconcile(post, delivery, { isTaken: async () => true }, as)).toBe('absent')
    expect(third).not.toEqual(second)
  })

  it('each of many unknown outcomes is found', async () => {
    const as = await world.newAccount()
    const many = Array.from({ length: 15 }, (_, index) => ({
      post: newPost(`in doubt ${index}`),
      delivery: newDelivery(),
    }))
    const published: Published[] = []
    for (const { post, delivery } of many) published.push(await publish(post, delivery, as))
    for (const [index, { post, delivery }] of many.entries()) {
      expect(await reconcile(post, delivery, {}, as)).toEqual(published[index])
    }
  })

  it('pictures with the same text are distinguished', async () => {
    const as = await world.newAccount()
    const items = [add(await bytesOf(picture(20, 20).png()), 'image/png')]
    const [one, other] = [newDelivery(), newDelivery()]
    const post = newPost('same words', items)
    const published = await publish(post, one, as)
    await world.adapter.prepare(post, as, other, options())
    expect(await reconcile(post, one, {}, as)).toEqual(published)
    expect(await reconcile(post, other, {}, as)).toBe('undecidable')
    expect(await reconcile(newPost('same words'), newDelivery(), {}, as)).toBe('undecidable')
  })

  describe('a server that shows files under other ids', () => {
    let other: MastodonWorld
    let as: Credentials
    beforeAll(async () => void (other = await mastodonWorld(media, { renamesMedia: true })))
    afterAll(() => other?.stop())
    beforeEach(async () => void (as = await other.newAccount()))

    /** Publishes a post whose response is lost. */
    async function lose(post: OutgoingPost): Promise<DeliveryCheckpoints> {
      const delivery = newDelivery()
      await other.adapter.prepare(post, as, delivery, options())
      await other.control.addFault({ method: 'POST', path: STATUSES, times: 1, action: { dropAfterAccept: true } })
      await platformErrorOf(other.adapter.publish(post, as, delivery, options()))
      return delivery
    }
    const find = (post: OutgoingPost, delivery: DeliveryCheckpoints, isTaken = async (_: string) => false) =>
      other.adapter.reconcile(post, as, delivery, searchOptions({ isTaken }))
    const png = async (altText?: string) => add(await bytesOf(picture(20, 20).png()), 'image/png', altText)
    const idOf = async ({ content }: OutgoingPost) =>
      (await other.control.ledger()).find(({ text }) => text === content.text)!.id

    it('a status is found by number, kinds and descriptions, before and after a published one', async () => {
      for (const text of ['renamed', 'renamed later']) {
        const post = newPost(text, [await png(' Two\nlines '), await png()])
        expect(await find(post, await lose(post))).toMatchObject({ platformPostId: await idOf(post) })
        const [published, delivery] = [newPost(`${text}, published`, [await png()]), newDelivery()]
        await other.adapter.prepare(published, as, delivery, options())
        await other.adapter.publish(published, as, delivery, options())
      }
    })

    it('a video is found', async () => {
      const post = newPost('renamed video', [add(film(), 'video/mp4', 'Waves')])
      expect(await find(post, await lose(post))).toMatchObject({ platformPostId: await idOf(post) })
    })

    it('files with the same words are distinguished by number, kind and description', async () => {
      const post = newPost('same words', [await png('one')])
      const delivery = await lose(post)
      const others = [[await png('other')], [await png('one'), await png('one')], [add(film(), 'video/mp4', 'one')], []]
      for (const items of others) expect(await find(newPost('same words', items), delivery)).toBe('undecidable')
      expect(await find(post, delivery)).toMatchObject({ platformPostId: await idOf(post) })
      expect(await find(post, delivery, async () => true)).toBe('absent')
    })
  })

  it('a status with the ids of the files comes before an older one with equal files', async () => {
    const fresh = await mastodonWorld(media)
    try {
      const as = await fresh.newAccount()
      const post = newPost('pictures', [add(await bytesOf(picture(20, 20).png()), 'image/png')])
      const deliveries = [newDelivery(), newDelivery()]
      for (const delivery of deliveries) {
        await fresh.adapter.prepare(post, as, delivery, options())
        await fresh.control.addFault({ method: 'POST', path: STATUSES, times: 1, action: { dropAfterAccept: true } })
        await platformErrorOf(fresh.adapter.publish(post, as, delivery, options()))
      }
      const [, second] = await fresh.control.ledger()
      const found = await fresh.adapter.reconcile(post, as, deliveries[1]!, searchOptions())
      expect(found).toMatchObject({ platformPostId: second!.id })
    } finally {
      await fresh.stop()
    }
  })

  it('the search starts at the first call', async () => {
    const as = await world.newAccount()
    const post = newPost('said before')
    await publish(post, newDelivery(), as)
    const later = newDelivery(new Date(Date.now() + 120_000))
    expect(await reconcile(post, later, {}, as)).toBe('absent')
  })

  it('a status is found behind many others, and undecidable behind too many', async () => {
    const as = await world.newAccount()
    const delivery = newDelivery()
    const post = newPost('the first of many')
    const published = await publish(post, delivery, as)
    const owner = world.mastodon.createAccount({ username: as.handle.split('@')[0]! })
    for (let index = 0; index < 100; index++) world.mastodon.publishElsewhere(owner, `noise ${index}`)
    expect(await reconcile(post, delivery, {}, as)).toEqual(published)
    for (let index = 0; index < 100; index++) world.mastodon.publishElsewhere(owner, `noise ${index}`)
    expect(await reconcile(post, delivery, {}, as)).toBe('undecidable')
  })

  it('a status is absent once the call can no longer take effect, which a key shortens', async () => {
    const careless = await mastodonWorld(media, { honoursKeys: false })
    try {
      const post = newPost('not yet')
      const reconcileAfter = async (on: MastodonWorld, seconds: number, wasAnswered: boolean) => {
        const overrides = { calledAt: new Date(Date.now() - seconds * 1_000), wasAnswered }
        return on.adapter.reconcile(post, await on.newAccount(), newDelivery(), searchOptions(overrides))
      }
      for (const wasAnswered of [true, false]) {
        expect(await reconcileAfter(world, 20, wasAnswered)).toBe('in-flight')
        expect(await reconcileAfter(world, 40, wasAnswered)).toBe('absent')
      }
      expect(await reconcileAfter(careless, 20, true)).toBe('in-flight')
      expect(await reconcileAfter(careless, 40, true)).toBe('absent')
      expect(await reconcileAfter(careless, 9 * 60, false)).toBe('in-flight')
      expect(await reconcileAfter(careless, 11 * 60, false)).toBe('absent')
    } finally {
      await careless.stop()
    }
  })

  it.each([
    ['4.5.0', true],
    ['4.4.0-beta.1+glitch', true],
    ['4.2.10+hometown-1.1.1', true],
    ['0.19.1+git-5a2f9c0', false],
    ['2.7.2 (compatible; Pleroma 2.6.0)', false],
    ['4.0.0 (not true Mastodon; snac/2.74)', false],
    ['', false],
  ])('the key of a server that calls itself "%s" is trusted: %s', async (version, isTrusted) => {
    const other = await mastodonWorld(media, { version })
    try {
      const called = { calledAt: new Date(Date.now() - 60_000), wasAnswered: false }
      const found = await other.adapter.reconcile(
        newPost('?'),
        await other.newAccount(),
        newDelivery(),
        searchOptions(called),
      )
      expect(found).toBe(isTrusted ? 'absent' : 'in-flight')
    } finally {
      await other.stop()
    }
  })
})

describe('refusals', () => {
  it.each([
    [401, 'The access token is invalid', 'unauthorized', true],
    [401, 'The access token was revoked', 'unauthorized', true],
    [401, 'This API requires an authenticated user', 'unauthorized', true],
    [403, 'This action is not allowed', 'permission', true],
    [403, 'This action is outside the authorized scopes', 'permission', true],
    [408, '', 'transient', false],
    [410, 'Gone', 'not_found', true],
    [413, '', 'transient', false],
    [413, 'Payload Too Large', 'validation', true],
    [422, 'Validation failed: Text character limit of 500 exceeded', 'validation', true],
    [422, 'Es können nicht mehr als 4 Dateien angehängt werden', 'validation', true],
    [422, 'Something new', 'validation', true],
    [418, 'A new refusal', 'validation', true],
    [418, '', 'transient', false],
    [401, '', 'transient', false],
    [403, '', 'transient', false],
    [404, '', 'transient', false],
    [429, 'Too many requests', 'rate_limited', true],
    [500, 'There was a problem', 'transient', false],
    [502, '', 'transient', false],
    [503, 'There was a temporary problem serving your request, please try again', 'transient', false],
    [504, '', 'transient', false],
    [302, '', 'transient', false],
  ])('%i "%s" is %s', async (status, error, expected, certain) => {
    const delivery = newDelivery()
    const post = newPost('refused')
    await world.adapter.prepare(post, account, delivery, options())
    await world.control.addFault({
      method: 'POST',
      path: STATUSES,
      times: 1,
      action: { status, body: error === '' ? '<html>' : { error } },
    })
    const refused = await platformErrorOf(world.adapter.publish(post, account, delivery, options()))
    expect(refused).toMatchObject({ class: expected, certain })
    expect(refused.message).toContain('Mastodon')
    expect(refused.message).not.toContain('<html>')
  })

  it('a login that may do nothing at the moment is blocked, whatever is refused and in whose words', async () => {
    const action = { status: 403, body: { error: 'Dein Zugang ist deaktiviert' } }
    const delivery = newDelivery()
    await world.adapter.prepare(newPost('blocked'), account, delivery, options())
    await world.control.addFault({ action })
    const blocked = { class: 'blocked_by_platform', certain: true }
    const works = [
      world.adapter.publish(newPost('blocked'), account, delivery, options()),
      world.adapter.profile(account, options()),
      world.adapter.metrics.read(['1'], account, options()),
    ]
    for (const error of await Promise.all(works.map(platformErrorOf))) {
      expect(error).toMatchObject(blocked)
      expect(error.platformReason!.text).toBe(action.body.error)
    }
  })

  const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000)
  it.each([
    ['when the limit begins anew', () => ({ 'x-ratelimit-reset': inMinutes(5).toISOString().replace('Z', '000Z') })],
    ['the same as unix seconds', () => ({ 'x-ratelimit-reset': String(Math.floor(inMinutes(5).getTime() / 1_000)) })],
    ['a wait in seconds', () => ({ 'retry-after': '300', 'x-ratelimit-reset': inMinutes(9).toISOString() })],
  ])('429 states the wait by %s', async (_, headers: () => Record<string, string>) => {
    await world.control.addFault({
      path: '/api/v2/media',
      times: 1,
      action: { status: 429, body: { error: 'Too many requests' }, headers: headers() },
    })
    const post = newPost('', [add(await bytesOf(picture(20, 20).png()), 'image/png')])
    const { retryAfterMs, ...error } = await platformErrorOf(publish(post))
    expect(error).toMatchObject({ class: 'rate_limited' })
    expect(retryAfterMs! / 60_000).toBeCloseTo(5, 1)
  })

  it('the limit of new statuses that responses state reaches the ledger, and a wait for it is one for the quota', async () => {
    const reports: [string, readonly PublicationReport[]][] = []
    const database = await quotaDatabase()
    const quotas: CallQuotas = {
      ...database.createQuotas(),
      publications: partial({ report: async (...one) => void reports.push(one) }),
    }
    // A window that does not end during the test.
    const rateLimits = { api: ROOM, media: ROOM, statuses: { max: 2, seconds: 100_000_000 } }
    const small = await mastodonWorld(media, { rateLimits }, { quotas })
    try {
      const as = await small.newAccount()
      const post = (text: string) => {
        const delivery = newDelivery()
        return small.adapter
          .prepare(newPost(text), as, delivery, options())
          .then(() => small.adapter.publish(newPost(text), as, delivery, options()))
      }
      await post('one')
      await post('two')
      const { key, limits } = small.adapter.publicationQuota(as)!
      expect(limits).toEqual(PUBLICATION_LIMITS.mastodon)
      expect(reports.map(([of, [report]]) => [of, report!.limit, report!.remaining])).toEqual([
        [key, 2, 1],
        [key, 2, 0],
      ])
      const refused = await platformErrorOf(post('three'))
      expect(refused).toBeInstanceOf(PublicationQuotaReached)
      expect(refused.retryAfterMs).toBeGreaterThan(5 * 60_000)
    } finally {
      await small.stop()
      await database.close()
    }
  })

  it('a server error does not wait for the rate limit, which every response states', async () => {
    const headers = { 'x-ratelimit-reset': inMinutes(5).toISOString() }
    await world.control.addFault({ method: 'POST', path: STATUSES, times: 1, action: { status: 503, headers } })
    expect((await platformErrorOf(publish(newPost('later')))).retryAfterMs).toBeUndefined()
  })

  it('a response with another shape is uncertain', async () => {
    const scheduled = { id: '1', scheduled_at: '2030-01-01T00:00:00.000Z', params: {}, media_attachments: [] }
    await world.control.addFault({ method: 'POST', path: STATUSES, times: 1, action: { status: 200, body: scheduled } })
    expect(await platformErrorOf(publish(newPost('odd')))).toMatchObject({ class: 'transient', certain: false })
  })
})

describe('options of a post', () => {
  const statusOf = async ({ platformPostId }: Published) =>
    (await (
      await fetch(`${world.mastodon.url}${STATUSES}/${platformPostId}`, {
        headers: { authorization: `Bearer ${account.accessToken}` },
      })
    ).json()) as Record<string, unknown>

  it('a status has its visibility, content warning, language and poll', async () => {
    const poll = { options: ['Yes', 'No'], expiresIn: 3_600, multiple: true, hideTotals: true }
    const mastodon = { visibility: 'private' as const, spoilerText: 'Numbers', language: 'de', poll }
    expect(await statusOf(await publish({ ...newPost('with options'), options: { mastodon } }))).toMatchObject({
      ...{ visibility: 'private', spoiler_text: 'Numbers', sensitive: true, language: 'de' },
      poll: { multiple: true, options: [{ title: 'Yes', votes_count: null }, { title: 'No' }] },
    })
  })

  it('the content warning counts with the text', async () => {
    const mastodon = { spoilerText: 'w'.repeat(250) }
    const withText = (length: number) => publish({ ...newPost('t'.repeat(length)), options: { mastodon } })
    expect(await statusOf(await withText(250))).toMatchObject({ spoiler_text: mastodon.spoilerText })
    expect(await platformErrorOf(withText(251))).toMatchObject({ class: 'validation', certain: true })
  })

  it('a reply has the visibility of its thread, and no poll', async () => {
    const poll = { options: ['Yes', 'No'], expiresIn: 3_600 }
    const options = { mastodon: { visibility: 'unlisted' as const, poll } }
    const { platformPostId: id } = await publish({ ...newPost('asks'), options })
    const reply = { ...newPost('continues'), options, replyTo: { rootId: id, parentId: id } }
    expect(await statusOf(await publish(reply))).toMatchObject({
      visibility: 'unlisted',
      poll: null,
      in_reply_to_id: id,
    })
  })
})

describe('edits', () => {
  const edit = async ({ platformPostId }: Published, post: OutgoingPost) =>
    (await world.adapter.planEdit(platformPostId, post, account, options()))?.()
  const read = async ({ platformPostId }: Published) => {
    const answer = await fetch(`${world.mastodon.url}${STATUSES}/${platformPostId}`, {
      headers: { 'user-agent': 'test' },
    })
    return (await answer.json()) as Record<string, unknown>
  }

  it('an edit keeps the warning, the sensitivity and the language', async () => {
    const mastodon = { spoilerText: 'Careful', sensitive: true, language: 'de' }
    const post = { ...newPost('Vorher'), options: { mastodon } }
    const published = await publish(post)
    await edit(published, { ...post, content: { ...post.content, text: 'Nachher' } })
    const kept = { spoiler_text: 'Careful', sensitive: true, language: 'de' }
    expect(await read(published)).toMatchObject({ content: '<p>Nachher</p>', ...kept })
  })

  it('an edit that would restart a poll is refused', async () => {
    const poll = { options: ['Yes', 'No'], expiresIn: 3_600 }
    const post = { ...newPost('A question'), options: { mastodon: { poll } } }
    const published = await publish(post)
    const error = await platformErrorOf(edit(published, { ...post, content: { ...post.content, text: 'Another' } }))
    expect(error).toMatchObject({ class: 'validation', certain: true })
    expect(await read(published)).toMatchObject({
      edited_at: null,
      poll: { options: [{ title: 'Yes' }, { title: 'No' }] },
    })
  })

  it('a server without edits refuses them', async () => {
    const post = newPost('On an old server')
    const published = await publish(post)
    await world.control.addFault({
      method: 'PUT',
      path: STATUSES,
      action: { status: 404, body: { error: 'Not Found' } },
    })
    const error = await platformErrorOf(edit(published, { ...post, content: { ...post.content, text: 'Edited' } }))
    expect(error).toMatchObject({ class: 'validation', message: 'This server edits no posts' })
  })
})
