import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Fault } from '../../../sandbox/platforms/faults.ts'
import type { MediaItem, Published } from '../../../src/domain/posts/post.ts'
import type { Credentials, DeliveryCheckpoints, OutgoingPost } from '../../../src/platforms/contract.ts'
import { facebookWorld, PUBLISH_TIMEOUT_MS, type FacebookWorld } from './facebook-support.ts'
import { REDIRECT_URI, SCOPES, VERSION } from '../shared/meta-support.ts'
import {
  bytesOf,
  newDelivery,
  newPost,
  picture,
  platformErrorOf,
  searchOptions,
  storedMedia,
  withVersion,
} from '../shared/support.ts'
import { chooseFirst } from '../shared/choose-first.ts'
import { film } from '../../support/film.ts'

const FEED = '/feed'

let stored: Awaited<ReturnType<typeof storedMedia>>
let world: FacebookWorld
let account: Credentials

const options = () => ({ signal: AbortSignal.timeout(20_000) })

beforeAll(async () => {
  stored = await storedMedia()
  world = await facebookWorld(stored.media)
  account = await world.newAccount()
})
afterAll(async () => {
  stored?.close()
  await world?.stop()
})
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

const ledgerOf = async ({ accountId }: Credentials) =>
  (await world.control.ledger()).filter((entry) => entry.account === accountId)
const withText = async (text: string) => (await world.control.ledger()).filter((entry) => entry.text === text)

async function requestsTo(method: string, part: string): Promise<number> {
  const requests = await world.control.requests()
  return requests.filter((request) => request.method === method && request.path.includes(part)).length
}

const png = async (altText?: string): Promise<MediaItem> =>
  stored.add(await bytesOf(picture(20, 20).png()), 'image/png', altText)

/** An error response of the graph. */
const refusal = (code: number, subcode?: number, message = `(#${code}) No`) => ({
  error: { message, type: 'OAuthException', code, ...(subcode !== undefined && { error_subcode: subcode }) },
})

describe('connect', () => {
  it('the login requests the documented permissions', async () => {
    const { url, secrets } = await world.redirect.begin({ state: 's&1', redirectUri: REDIRECT_URI }, options())
    const { origin, pathname, searchParams } = new URL(url)
    expect(`${origin}${pathname}`).toBe(`${world.meta.facebook.url}/${VERSION}/dialog/oauth`)
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: world.app.id,
      redirect_uri: REDIRECT_URI,
      state: 's&1',
      scope: SCOPES.join(','),
      response_type: 'code',
    })
    expect(secrets).toEqual({})
  })

  it("the login brings the first page and its Instagram account with the person's token", async () => {
    const { person, pages } = world.newPerson({ pages: 2 })
    const { credentials, profile, companions } = await world.connection(person.id)
    const [first] = pages
    expect(credentials).toEqual({ accountId: first!.id, handle: first!.username, accessToken: expect.any(String) })
    expect(profile).toEqual({
      displayName: first!.name,
      handle: first!.username,
      avatar: expect.stringMatching(/^http/),
    })
    const { endsAt, ...linked } = companions!.instagram!.credentials
    expect(linked).toEqual({
      accountId: first!.instagramId,
      handle: companions!.instagram!.profile.handle,
      accessToken: expect.any(String),
    })
    expect((endsAt!.getTime() - Date.now()) / 86_400_000).toBeCloseTo(60, 1)
    expect(companions!.instagram!.profile).toMatchObject({ displayName: 'Ann of Instagram' })
    expect(linked.accessToken).not.toBe(credentials.accessToken)
    expect(await world.adapter.profile(withVersion(credentials), options())).toEqual(profile)
  })

  it('the login reports when there is no Instagram account', async () => {
    const { person } = world.newPerson({ instagram: false })
    expect((await world.connection(person.id)).companions).toEqual({ instagram: null })
  })

  it("the page's id replaces a missing user name, and sixty days replace a missing expiry", async () => {
    const { person, pages } = world.meta.createPerson({
      name: 'Bare',
      pages: [{ name: 'Bare page', instagram: { username: 'bare' } }],
    })
    const token = await world.logIn(person.id)
    const body = { access_token: token, token_type: 'bearer' }
    await world.control.addFault({ path: '/oauth/access_token', times: 2, action: { status: 200, body } })
    const { credentials, companions } = await world.connection(person.id)
    expect(credentials.handle).toBe(pages[0]!.id)
    const { endsAt } = companions!.instagram!.credentials
    expect((endsAt!.getTime() - Date.now()) / 86_400_000).toBeCloseTo(60, 1)
  })

  it('a denial is reported without a call', async () => {
    const { person } = world.newPerson()
    const before = await requestsTo('POST', '/oauth/access_token')
    const error = await platformErrorOf(world.connection(person.id, {}, 'deny'))
    expect(error).toMatchObject({ class: 'permission', certain: true, message: 'Access was denied on Facebook' })
    expect(await requestsTo('POST', '/oauth/access_token')).toBe(before)
  })

  it.each(['pages_show_list', 'pages_read_engagement', 'pages_manage_posts'])(
    'a login without %s is refused',
    async (scope) => {
      const { person } = world.newPerson()
      const error = await platformErrorOf(world.connection(person.id, { decline: [scope] }))
      expect(error).toMatchObject({ class: 'permission', certain: true, message: expect.stringContaining(scope) })
    },
  )

  it('a login without permissions for Instagram brings the page, and says what is missing on its Instagram account', async () => {
    const { person } = world.newPerson()
    const { problem, companions } = await world.connection(person.id, { decline: ['instagram_content_publish'] })
    expect([problem, companions!.instagram!.problem]).toEqual([null, expect.stringContaining('all permissions')])
    expect((await world.connection(person.id, { decline: ['instagram_basic'] })).companions).toEqual({})
  })

  it.each([
    [{ status: 400, body: refusal(100, 33) }, expect.stringContaining('does not show this account')],
    [{ status: 400, body: refusal(10) }, expect.stringContaining('does not show this account')],
    [{ status: 503, body: '' }, null],
  ])('an Instagram profile that cannot be read does not hide its page: %j', async (action, problem) => {
    const { person, pages } = world.newPerson()
    const { id, instagramId } = pages[0]!
    await world.control.addFault({ path: instagramId!, action })
    const { credentials, companions } = await world.connection(person.id)
    await world.control.clearFaults()
    expect(credentials.accountId).toBe(id)
    expect(companions!.instagram).toMatchObject({ credentials: { accountId: instagramId }, problem })
  })

  it('pages that belong to business portfolios are offered after own ones, and portfolios that fail hide none', async () => {
    const portfolios = (['client_pages', 'owned_pages'] as const).map((edge) => ({ name: 'Agency', edge }))
    const { person, pages } = world.newPerson({ portfolios })
    const [own, client, owned] = pages.map(({ id }) => id)
    const idsOf = async (decline: string[] = []) =>
      (await world.connection(person.id, { decline })).offered!.map(({ accountId }) => accountId)
    expect(await idsOf()).toEqual([own, owned, client])
    expect(await idsOf(['business_management'])).toEqual([own])
    await world.control.addFault({ path: '/client_pages', action: { status: 500, body: '' } })
    expect(await idsOf()).toEqual([own, owned])
    await world.control.clearFaults()
  })

  it('a person with pages in a portfolio only is connected, with the Instagram account of the page', async () => {
    const { person, pages } = world.newPerson({ pages: 0, portfolios: [{ name: 'Brand', edge: 'client_pages' }] })
    const { credentials, companions } = await world.connection(person.id)
    expect([credentials.accountId, companions!.instagram!.credentials.accountId]).toEqual([
      pages[0]!.id,
      pages[0]!.instagramId,
    ])
    expect(await world.adapter.profile(withVersion(credentials), options())).toMatchObject({
      displayName: pages[0]!.name,
    })
  })

  it('a login without optional permissions is accepted', async () => {
    const { person } = world.newPerson()
    await world.connection(person.id, { decline: ['business_management', 'pages_manage_metadata'] })
  })

  it('a login without a page is refused', async () => {
    const nobody = world.newPerson({ pages: 0 }).person
    const { person, pages } = world.newPerson()
    for (const connect of [
      () => world.connection(nobody.id),
      () => world.connection(person.id, { hide: [pages[0]!.id] }),
    ]) {
      const error = await platformErrorOf(connect())
      expect(error).toMatchObject({ class: 'permission', certain: true, message: expect.stringContaining('no page') })
    }
  })

  it.each([
    ['an invented code', { code: 'invented' }, 'permission'],
    ['no code', {}, 'permission'],
  ])('a login is refused with %s', async (_, query: Record<string, string>, expected) => {
    const complete = world.redirect.complete(
      { query, redirectUri: REDIRECT_URI, choose: chooseFirst, secrets: {} },
      options(),
    )
    expect(await platformErrorOf(complete)).toMatchObject({ class: expected, certain: true })
  })

  it('a wrong app secret is reported as an unknown service', async () => {
    const stranger = await facebookWorld(stored.media, {}, { appSecret: 'no' })
    try {
      const { person } = stranger.newPerson()
      expect(await platformErrorOf(stranger.connection(person.id))).toMatchObject({ class: 'permission' })
    } finally {
      await stranger.stop()
    }
  })

  it('no URL contains a token or the secret', async () => {
    const { person } = world.newPerson()
    const { credentials, companions } = await world.connection(person.id)
    await world.adapter.profile(withVersion(credentials), options())
    const paths = (await world.control.requests()).map(({ path }) => path).join('\n')
    for (const secret of [world.app.secret, credentials.accessToken, companions!.instagram!.credentials.accessToken]) {
      // The test's own calls put the secret into the URL, which the platform also accepts.
      expect(paths.split('\n').filter((path) => path.includes(secret) && !path.includes('client_secret'))).toEqual([])
    }
  })
})

describe('a connected page', () => {
  it('a page that is no longer visible must be connected again', async () => {
    await world.control.addFault({
      path: `/${account.accountId}?`,
      times: 1,
      action: { status: 400, body: refusal(100, 33) },
    })
    expect(await platformErrorOf(world.adapter.profile(account, options()))).toMatchObject({
      class: 'permission',
      certain: true,
    })
  })

  it('a page ends its connection when its person loses the role on it', async () => {
    const as = await world.newAccount()
    await world.control.revoke(as.accountId)
    const error = await platformErrorOf(publish(newPost('too late'), newDelivery(), as))
    expect(error).toMatchObject({
      class: 'unauthorized',
      certain: true,
      message: expect.stringContaining('no longer has a role on it'),
    })
  })

  it('a page keeps working after the login it came from has ended', async () => {
    const { person } = world.newPerson()
    const { credentials } = await world.connection(person.id)
    await world.control.expire(person.id)
    await publish(newPost('still here'), newDelivery(), withVersion(credentials))
  })

  it('a page has no login of its own to end', () => {
    expect(world.adapter.revoke).toBeUndefined()
    expect(world.adapter.renew).toBeUndefined()
  })
})

describe('posts', () => {
  it('a text post is published unchanged by one call that returns its URL', async () => {
    const delivery = newDelivery()
    const post = newPost('Crème & <b>café</b>\n\nnaïve ☕')
    await world.adapter.prepare(post, account, delivery, options())
    const before = (await world.control.requests()).length
    const { platformPostId, platformPostUrl } = await world.adapter.publish(post, account, delivery, options())
    expect((await world.control.requests()).slice(before).map(({ path }) => path)).toEqual([
      `/${VERSION}/${account.accountId}/feed`,
    ])
    expect(await withText(post.content.text)).toMatchObject([{ id: platformPostId, media: [] }])
    const shown = await fetch(platformPostUrl)
    expect(await shown.text()).toContain('naïve ☕')
  })

  it('a post has a URL even if none was returned', async () => {
    const body = { id: `${account.accountId}_77` }
    await world.control.addFault({ method: 'POST', path: FEED, times: 1, action: { status: 200, body } })
    expect(await publish(newPost('no address'))).toEqual({
      platformPostId: body.id,
      platformPostUrl: `${world.meta.facebook.url}/${body.id}`,
    })
  })

  it('a post shows a preview of its first link', async () => {
    const post = newPost('Read this (https://example.test/a?b=1), not https://example.test/c.')
    const { platformPostId } = await publish(post)
    const { body } = await world.graph('GET', `/${platformPostId}`, { fields: 'attachments' }, account.accessToken)
    expect(body).toMatchObject({ attachments: { data: [{ url: 'https://example.test/a?b=1' }] } })
  })

  it('a link to Facebook itself has no preview', async () => {
    const { platformPostId } = await publish(newPost('See https://www.facebook.com/events/1'))
    const { body } = await world.graph('GET', `/${platformPostId}`, { fields: 'attachments' }, account.accessToken)
    expect(body).not.toHaveProperty('attachments')
  })

  it('a post is published without the preview when Facebook cannot make one', async () => {
    const delivery = newDelivery()
    const post = newPost('See https://nothing.invalid/here')
    const error = await platformErrorOf(publish(post, delivery))
    expect(error).toMatchObject({ class: 'media_not_ready', certain: true })
    await publish(post, delivery)
    expect(await withText(post.content.text)).toHaveLength(1)
  })

  it('a post that is too long is refused before anything is sent', async () => {
    const before = (await world.control.requests()).length
    expect(await platformErrorOf(publish(newPost('x'.repeat(63_207))))).toMatchObject({
      class: 'validation',
      certain: true,
    })
    expect(await world.control.requests()).toHaveLength(before)
  })
})

describe('photos', () => {
  it('photos are converted where Facebook would refuse them', async () => {
    const items = [await png(), await stored.add(await bytesOf(picture(50, 50).webp()), 'image/webp')]
    const post = newPost('three', items)
    const { platformPostId } = await publish(post)
    const entry = (await world.control.ledger()).find(({ id }) => id === platformPostId)!
    expect(entry.media.map(({ type }) => type)).toEqual(['image/png', 'image/jpeg'])
  })

  it('large photos are reduced', async () => {
    const noise = new Uint8Array(1_500 * 1_500 * 3).map(() => Math.random() * 256)
    const large = await bytesOf(sharp(noise, { raw: { width: 1_500, height: 1_500, channels: 3 } }).png())
    expect(large.length).toBeGreaterThan(4_000_000)
    await publish(newPost('large', [await stored.add(large, 'image/png')]))
    expect(await withText('large')).toMatchObject([{ media: [{ type: 'image/jpeg' }] }])
  })

  it('photos need no text', async () => {
    const { platformPostId } = await publish(newPost('', [await png()]))
    expect(await ledgerOf(account)).toContainEqual(expect.objectContaining({ id: platformPostId, text: '' }))
  })

  it('photos that Facebook has lost are uploaded again', async () => {
    const delivery = newDelivery()
    const post = newPost('lost photos', [await png()])
    await world.adapter.prepare(post, account, delivery, options())
    await delivery.save('photo.0', JSON.stringify({ id: '1', uploadedAt: Date.now() }))
    expect(await platformErrorOf(world.adapter.publish(post, account, delivery, options()))).toMatchObject({
      class: 'media_not_ready',
      certain: true,
    })
    await publish(post, delivery)
    expect(await withText('lost photos')).toHaveLength(1)
  })

  it('photos are uploaded again after half a day', async () => {
    const delivery = newDelivery()
    const post = newPost('old photos', [await png()])
    await world.adapter.prepare(post, account, delivery, options())
    const { id } = JSON.parse(delivery.get('photo.0')!) as { id: string }
    await delivery.save('photo.0', JSON.stringify({ id, uploadedAt: Date.now() - 13 * 3_600_000 }))
    await world.adapter.prepare(post, account, delivery, options())
    expect(JSON.parse(delivery.get('photo.0')!)).not.toMatchObject({ id })
  })

  it('missing photos are reported before the claim', async () => {
    const gone = { ...(await png()), storageKey: 'posts/nobody/nothing' }
    await expect(world.adapter.prepare(newPost('', [gone]), account, newDelivery(), options())).rejects.toThrow(/gone/)
  })
})

describe('videos', () => {
  it('a video is published by one call with a working URL', async () => {
    const delivery = newDelivery()
    const post = newPost('Waves', [await stored.add(film(), 'video/mp4')])
    await world.adapter.prepare(post, account, delivery, options())
    const { platformPostId, platformPostUrl } = await world.adapter.publish(post, account, delivery, options())
    expect(await withText('Waves')).toMatchObject([{ id: platformPostId, media: [{ type: 'video/mp4' }] }])
    expect(platformPostUrl).toMatch(`${world.meta.facebook.url}/reel/${platformPostId}`)
    expect((await fetch(platformPostUrl)).status).toBe(200)
  })

  it.each<[string, Fault['action']]>([
    ['cannot be asked about yet', { status: 400, body: refusal(100, 33) }],
    ['is not returned in time', { hang: true }],
  ])('a video has a URL even when it %s', async (_, action) => {
    const post = newPost('No address', [await stored.add(film(), 'video/mp4')])
    const delivery = newDelivery()
    await world.adapter.prepare(post, account, delivery, options())
    await world.control.addFault({ method: 'GET', path: 'permalink_url', times: 1, action })
    // The wait for the URL ends long before the call's own deadline.
    const { signal } = options()
    const { platformPostId, platformPostUrl } = await world.adapter.publish(post, account, delivery, { signal })
    expect(signal.aborted).toBe(false)
    expect(platformPostUrl).toBe(`${world.meta.facebook.url}/reel/${platformPostId}`)
  })

  it('a video has a longer deadline, since Facebook fetches it during the call', async () => {
    const delivery = newDelivery()
    const post = newPost('Large', [await stored.add(film(), 'video/mp4')])
    await world.adapter.prepare(post, account, delivery, options())
    await world.control.addFault({
      method: 'POST',
      path: '/videos',
      times: 1,
      action: { delayMs: PUBLISH_TIMEOUT_MS + 500 },
    })
    await world.adapter.publish(post, account, delivery, options())
    expect(await withText('Large')).toHaveLength(1)
    expect(world.adapter.publishTimeoutMs!(post)).toBeGreaterThan(PUBLISH_TIMEOUT_MS)
    expect(world.adapter.publishTimeoutMs!(newPost('Words'))).toBe(PUBLISH_TIMEOUT_MS)
  })

  it('an invalid video is detected', async () => {
    const post = newPost('', [await stored.add(film(), 'video/mp4')])
    const delivery = newDelivery()
    await world.adapter.prepare(post, account, delivery, options())
    await delivery.save('video', (await png()).storageUrl)
    expect(await platformErrorOf(world.adapter.publish(post, account, delivery, options()))).toMatchObject({
      class: 'validation',
      certain: true,
    })
  })
})

describe('exactly one Facebook post', () => {
  it('one post results when the response reports an internal error', async () => {
    const action = { statusAfterAccept: 400, body: refusal(2) }
    const as = await world.newAccount()
    const delivery = newDelivery()
    const post = newPost('published after all\nhttps://example.test/')
    await world.adapter.prepare(post, as, delivery, options())
    await world.control.addFault({ method: 'POST', path: FEED, times: 1, action })
    expect(await platformErrorOf(world.adapter.publish(post, as, delivery, options()))).toMatchObject({
      class: 'transient',
      certain: false,
    })
    const [entry, ...others] = await ledgerOf(as)
    expect(others).toEqual([])
    expect(await reconcile(post, delivery, {}, as)).toMatchObject({ platformPostId: entry!.id })
  })

  it('a post with photos is found by them, whatever its text is now', async () => {
    const as = await world.newAccount()
    const delivery = newDelivery()
    const post = newPost('with photos', [await png(), await png()])
    const published = await publish(post, delivery, as)
    expect(await reconcile(post, delivery, {}, as)).toEqual(published)
    world.meta.rewrite(published.platformPostId, 'other words')
    expect(await reconcile(post, delivery, {}, as)).toEqual(published)
  })

  it('a video post is found even if it appears much later', async () => {
    const slow = await facebookWorld(stored.media, { processingMs: 3_000 })
    try {
      const as = await slow.newAccount()
      const delivery = newDelivery()
      const post = newPost('Slow', [await stored.add(film(), 'video/mp4')])
      await slow.adapter.prepare(post, as, delivery, options())
      await slow.control.addFault({ method: 'POST', path: '/videos', times: 1, action: { dropAfterAccept: true } })
      await platformErrorOf(slow.adapter.publish(post, as, delivery, options()))
      const reconcileAfter = (minutes: number) =>
        slow.adapter.reconcile(post, as, delivery, searchOptions({ calledAt: new Date(Date.now() - minutes * 60_000) }))
      expect(await reconcileAfter(9)).toBe('in-flight')
      expect(await reconcileAfter(11)).toBe('absent')
      const [entry] = await slow.control.ledger()
      await expect.poll(() => reconcileAfter(1), { timeout: 50_000 }).toMatchObject({ platformPostId: entry!.id })
    } finally {
      await slow.stop()
    }
  })
})

describe('the same text as the previous post', () => {
  const publishSameText = async () => {
    const as = await world.newAccount()
    await publish(newPost('again'), newDelivery(), as)
    const delivery = newDelivery()
    const post = newPost('again')
    await world.adapter.prepare(post, as, delivery, options())
    const send = () => platformErrorOf(world.adapter.publish(post, as, delivery, options()))
    return { as, delivery, post, send }
  }

  it('a repeated text is reconciled before it counts as refused', async () => {
    const { as, delivery, post, send } = await publishSameText()
    expect(await send()).toMatchObject({ class: 'duplicate' })
    const first = (await ledgerOf(as))[0]!
    // No other post has that id on record, so an earlier call of ours published it.
    expect(await reconcile(post, delivery, {}, as)).toMatchObject({ platformPostId: first.id })
    // It belongs to another post; ours was not published.
    expect(await reconcile(post, delivery, { isTaken: async () => true }, as)).toBe('absent')
    expect(await send()).toMatchObject({ class: 'validation', certain: true })
    expect(await ledgerOf(as)).toHaveLength(1)
  })

  it('a repeated text is reconciled again after a call that may have been accepted', async () => {
    const { as, delivery, post, send } = await publishSameText()
    await send()
    await world.control.addFault({ method: 'POST', path: FEED, times: 1, action: { cut: true } })
    expect(await platformErrorOf(world.adapter.publish(post, as, delivery, options()))).toMatchObject({
      certain: false,
    })
    expect(await send()).toMatchObject({ class: 'duplicate' })
  })
})

describe('the search for a published post', () => {
  it('a post is recognised after changes of white space', async () => {
    const as = await world.newAccount()
    const delivery = newDelivery()
    const published = await publish(newPost('one\ntwo  three'), delivery, as)
    expect(await reconcile(newPost(' one two\n\nthree\n'), delivery, {}, as)).toEqual(published)
  })

  it('a rewritten post is undecidable, and an unchanged foreign post does not matter', async () => {
    const as = await world.newAccount()
    const delivery = newDelivery()
    const post = newPost('before')
    const { platformPostId } = await publish(post, delivery, as)
    world.meta.rewrite(platformPostId, 'after')
    expect(await reconcile(post, delivery, {}, as)).toBe('undecidable')
    await world.control.deletePost(platformPostId)
    expect(await reconcile(post, delivery, {}, as)).toBe('absent')
    const byHand = world.meta.publishElsewhere({ id: as.accountId }, 'written by hand')
    expect(await reconcile(post, delivery, {}, as)).toBe('absent')
    world.meta.rewrite(byHand.id, 'changed by hand')
    expect(await reconcile(post, delivery, {}, as)).toBe('undecidable')
  })

  it('posts on record for others are skipped, and the oldest of equal ones is taken', async () => {
    const as = await world.newAccount()
    const post = newPost('twins')
    const [first, second] = [
      world.meta.publishElsewhere({ id: as.accountId }, 'twins'),
      world.meta.publishElsewhere({ id: as.accountId }, 'twins'),
    ]
    world.meta.publishElsewhere({ id: as.accountId }, 'twins')
    const taking = (ids: string[]) => ({ isTaken: async (id: string) => ids.includes(id) })
    expect(await reconcile(post, newDelivery(), {}, as)).toMatchObject({ platformPostId: first.id })
    expect(await reconcile(post, newDelivery(), taking([first.id]), as)).toMatchObject({ platformPostId: second.id })
    expect(await reconcile(post, newDelivery(), { isTaken: async () => true }, as)).toBe('absent')
  })

  it('a video is recognised by its own id when its post is found', async () => {
    const as = await world.newAccount()
    const { platformPostId } = await publish(
      newPost('A film', [await stored.add(film(), 'video/mp4')]),
      newDelivery(),
      as,
    )
    // Texts that the server may have normalized.
    const post = newPost('A film!')
    await expect.poll(() => reconcile(post, newDelivery(), {}, as), { timeout: 50_000 }).toBe('undecidable')
    const isTaken = async (id: string) => id === platformPostId
    expect(await reconcile(post, newDelivery(), { isTaken }, as)).toBe('absent')
  })

  it('photos with the same text are distinguished', async () => {
    const as = await world.newAccount()
    const [one, other] = [newDelivery(), newDelivery()]
    const post = newPost('same words', [await png()])
    const published = await publish(post, one, as)
    await world.adapter.prepare(post, as, other, options())
    expect(await reconcile(post, one, {}, as)).toEqual(published)
    expect(await reconcile(post, other, {}, as)).toBe('undecidable')
    expect(await reconcile(newPost('same words'), newDelivery(), {}, as)).toBe('undecidable')
  })

  it('the search starts at the first call', async () => {
    const as = await world.newAccount()
    const post = newPost('said before')
    await publish(post, newDelivery(), as)
    expect(await reconcile(post, newDelivery(new Date(Date.now() + 120_000)), {}, as)).toBe('absent')
  })

  it('a post is found behind many others, and undecidable behind too many', async () => {
    const as = await world.newAccount()
    const delivery = newDelivery()
    const post = newPost('the first of many')
    const published = await publish(post, delivery, as)
    for (let index = 0; index < 100; index++) world.meta.publishElsewhere({ id: as.accountId }, `noise ${index}`)
    expect(await reconcile(post, delivery, {}, as)).toEqual(published)
    for (let index = 0; index < 150; index++) world.meta.publishElsewhere({ id: as.accountId }, `noise ${index}`)
    expect(await reconcile(post, delivery, {}, as)).toBe('undecidable')
  })

  it('a post is not reported as absent while the call may be in flight', async () => {
    const as = await world.newAccount()
    const reconcileAfter = (seconds: number) =>
      reconcile(newPost('not yet'), newDelivery(), { calledAt: new Date(Date.now() - seconds * 1_000) }, as)
    expect(await reconcileAfter(20)).toBe('in-flight')
    expect(await reconcileAfter(40)).toBe('absent')
  })
})

describe('refusals', () => {
  it.each<[number, number, number | undefined, string, boolean]>([
    [400, 190, undefined, 'unauthorized', true],
    [401, 190, 458, 'unauthorized', true],
    [400, 190, 459, 'unauthorized', true],
    [400, 190, 460, 'unauthorized', true],
    [400, 190, 463, 'unauthorized', true],
    [400, 190, 464, 'unauthorized', true],
    [400, 190, 467, 'unauthorized', true],
    [400, 190, 492, 'unauthorized', true],
    [400, 102, undefined, 'unauthorized', true],
    [400, 3, undefined, 'permission', true],
    [400, 10, undefined, 'permission', true],
    [403, 200, undefined, 'permission', true],
    [403, 299, undefined, 'permission', true],
    [400, 100, undefined, 'validation', true],
    [400, 100, 33, 'not_found', true],
    [400, 803, undefined, 'not_found', true],
    [400, 1, undefined, 'transient', false],
    [500, 2, undefined, 'transient', false],
    [400, 4, undefined, 'rate_limited', true],
    [400, 17, undefined, 'rate_limited', true],
    [400, 32, undefined, 'rate_limited', true],
    [400, 341, undefined, 'rate_limited', true],
    [400, 613, undefined, 'rate_limited', true],
    [400, 80_001, undefined, 'rate_limited', true],
    [400, 368, 1_390_008, 'rate_limited', true],
    [400, 368, undefined, 'blocked_by_platform', true],
    [400, 368, 4_854_002, 'blocked_by_platform', true],
    [400, 100, 1_609_005, 'media_not_ready', true],
    [400, 100, 1_609_008, 'media_not_ready', true],
    [400, 100, 1_366_051, 'duplicate', true],
    [400, 324, 1_366_046, 'validation', true],
    [400, 324, 2_069_019, 'media_fetch_failed', true],
    [400, 389, undefined, 'media_fetch_failed', true],
    [400, 352, undefined, 'validation', true],
    [400, 100, 1_346_003, 'blocked_by_platform', true],
    [400, 100, 1_404_102, 'blocked_by_platform', true],
    [400, 100, 1_404_078, 'blocked_by_platform', true],
    [400, 1, 1_363_047, 'transient', true],
    [400, 1, 1_609_010, 'transient', true],
    [400, 506, undefined, 'duplicate', true],
  ])('%i with code %i and subcode %s is %s', async (status, code, subcode, expected, certain) => {
    const body = refusal(code, subcode)
    await world.control.addFault({ method: 'POST', path: FEED, times: 1, action: { status, body } })
    const refused = await platformErrorOf(publish(newPost('refused')))
    expect(refused).toMatchObject({ class: expected, certain })
    expect(refused.message).toMatch(/^Facebook /)
    expect(refused.message).not.toContain('No')
  })

  it('a rate limit states the wait', async () => {
    const strict = await facebookWorld(stored.media, { callsPerHour: 3 })
    try {
      const as = await strict.newAccount()
      const send = (text: string) => strict.adapter.publish(newPost(text), as, newDelivery(), options())
      for (const text of ['one', 'two', 'three']) await send(text)
      const { retryAfterMs, ...refused } = await platformErrorOf(send('four'))
      expect(refused).toMatchObject({ class: 'rate_limited', certain: true })
      expect(retryAfterMs! / 60_000).toBeGreaterThan(0)
      expect(retryAfterMs! / 60_000).toBeLessThanOrEqual(60)
    } finally {
      await strict.stop()
    }
  })
})

it("a page is recognised by the id at the start of its posts' ids", async () => {
  expect((await publish(newPost('by its id'))).platformPostId).toMatch(new RegExp(`^${account.accountId}_\\d+$`))
})
