import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { MediaItem, Published } from '../../../src/domain/posts/post.ts'
import type { Credentials, DeliveryCheckpoints, OutgoingPost } from '../../../src/platforms/contract.ts'
import { CheckpointUnknown } from '../../../src/platforms/errors.ts'
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
/** Part of the path of the call that publishes a draft. */
const VISIBLE = 'published=true'

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

const prepare = (post: OutgoingPost, delivery: DeliveryCheckpoints, as = account) =>
  world.adapter.prepare(post, as, delivery, options())
const commit = (post: OutgoingPost, delivery: DeliveryCheckpoints, as = account) =>
  world.adapter.publish(post, as, delivery, options())
/** An account of a page that refuses drafts. */
const newDirectAccount = () => world.newAccount({ takesDrafts: false })
/** A delivery on such a page. */
function newDirectDelivery(startedAt?: Date) {
  const delivery = newDelivery(startedAt)
  delivery.handles.set('direct', 'true')
  return delivery
}
const draftOf = (delivery: DeliveryCheckpoints) =>
  JSON.parse(delivery.get('draft')!) as { id: string; createdAt: number }

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
      for (const message of [undefined, 'Fehler beim Überprüfen des Client-Geheimcodes.']) {
        const body = { error: { message, type: 'OAuthException', code: 1 } }
        if (message) await stranger.control.addFault({ path: 'access_token', times: 2, action: { status: 400, body } })
        expect(await platformErrorOf(stranger.connection(person.id))).toMatchObject({
          class: 'permission',
          connectReason: 'LOGIN_REFUSED',
          message: 'Facebook no longer knows this service',
        })
      }
    } finally {
      await stranger.stop()
    }
  })

  it.each([
    ['to one call', 400, 1],
    ['with a server error', 500, 2],
  ])('the same code %s is a temporary problem', async (_, status, times) => {
    const { person } = world.newPerson()
    const body = { error: { message: 'Error validating client secret.', type: 'OAuthException', code: 1 } }
    await world.control.addFault({ path: 'access_token', times, action: { status, body } })
    expect(await platformErrorOf(world.connection(person.id))).toMatchObject({ class: 'transient' })
    await world.control.clearFaults()
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
  it('a text post is published unchanged by one call to its draft', async () => {
    const delivery = newDelivery()
    const post = newPost('Crème & <b>café</b>\n\nnaïve ☕')
    await world.adapter.prepare(post, account, delivery, options())
    const before = (await world.control.requests()).length
    const { platformPostId, platformPostUrl } = await world.adapter.publish(post, account, delivery, options())
    expect((await world.control.requests()).slice(before).map(({ path }) => path)).toEqual([
      `/${VERSION}/${platformPostId}?is_published=true`,
    ])
    expect(await withText(post.content.text)).toMatchObject([{ id: platformPostId, media: [] }])
    const shown = await fetch(platformPostUrl)
    expect(await shown.text()).toContain('naïve ☕')
  })

  it('a post has a URL even if none was returned', async () => {
    const as = await newDirectAccount()
    const [post, delivery] = [newPost('no address'), newDelivery()]
    await prepare(post, delivery, as)
    const body = { id: `${as.accountId}_77` }
    await world.control.addFault({ method: 'POST', path: FEED, times: 1, action: { status: 200, body } })
    expect(await commit(post, delivery, as)).toEqual({
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
    const post = newPost('See https://nothing.invalid/here')
    await publish(post)
    expect(await withText(post.content.text)).toHaveLength(1)
    const [as, delivery] = [await newDirectAccount(), newDelivery()]
    await prepare(post, delivery, as)
    await delivery.save('withoutLink', '')
    expect(await platformErrorOf(commit(post, delivery, as))).toMatchObject({ class: 'media_not_ready', certain: true })
    await publish(post, delivery, as)
    expect(await withText(post.content.text)).toHaveLength(2)
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
    for (const as of [account, await newDirectAccount()]) {
      const [post, delivery] = [newPost(`lost photos of ${as.handle}`, [await png()]), newDelivery()]
      await prepare(post, delivery, as)
      await delivery.save('draft', '')
      await delivery.save('photo.0', JSON.stringify({ id: '1', uploadedAt: Date.now() }))
      expect(await platformErrorOf(publish(post, delivery, as))).toMatchObject({ certain: true })
      await publish(post, delivery, as)
      expect(await withText(post.content.text)).toHaveLength(1)
    }
  })

  it('photos of a draft whose answer was lost are uploaded again', async () => {
    const [post, delivery] = [newPost('taken photos', [await png()]), newDelivery()]
    await world.control.addFault({ method: 'POST', path: FEED, times: 1, action: { dropAfterAccept: true } })
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(await platformErrorOf(prepare(post, delivery))).toMatchObject({ class: 'transient' })
    }
    await publish(post, delivery)
    expect(await withText('taken photos')).toHaveLength(1)
  })

  it('photos are uploaded again after half a day, and their draft is created again', async () => {
    const [post, delivery] = [newPost('old photos', [await png()]), newDelivery()]
    await prepare(post, delivery)
    const [photo, draft] = [JSON.parse(delivery.get('photo.0')!) as { id: string }, draftOf(delivery)]
    const before = Date.now() - 13 * 3_600_000
    await delivery.save('photo.0', JSON.stringify({ ...photo, uploadedAt: before }))
    await delivery.save('draft', JSON.stringify({ ...draft, createdAt: before }))
    await publish(post, delivery)
    expect(JSON.parse(delivery.get('photo.0')!)).not.toMatchObject({ id: photo.id })
    expect(draftOf(delivery).id).not.toBe(draft.id)
    expect((await world.graph('GET', `/${draft.id}`, {}, account.accessToken)).code).toBe(100)
    expect(await withText('old photos')).toHaveLength(1)
  })

  it('missing photos are reported before the claim', async () => {
    const gone = { ...(await png()), storageKey: 'posts/nobody/nothing' }
    await expect(world.adapter.prepare(newPost('', [gone]), account, newDelivery(), options())).rejects.toThrow(/gone/)
  })
})

describe('drafts', () => {
  it('the call that publishes a draft may be repeated', async () => {
    const [as, post, delivery] = [await world.newAccount(), newPost('published twice'), newDelivery()]
    await prepare(post, delivery, as)
    expect(await ledgerOf(as)).toEqual([])
    // A call that is still on its way needs no wait.
    expect(await reconcile(post, delivery, { calledAt: new Date(), wasAnswered: false }, as)).toBe('absent')
    const published = await commit(post, delivery, as)
    expect(await commit(post, { ...delivery, isRepeat: true }, as)).toEqual(published)
    expect(await ledgerOf(as)).toHaveLength(1)
  })

  it('a call that takes effect after its repeat publishes nothing more', async () => {
    const [as, post, delivery] = [await world.newAccount(), newPost('late'), newDelivery()]
    await prepare(post, delivery, as)
    const action = { delayMs: PUBLISH_TIMEOUT_MS + 1_000 }
    await world.control.addFault({ method: 'POST', path: VISIBLE, times: 1, action })
    expect(await platformErrorOf(commit(post, delivery, as))).toMatchObject({ certain: false })
    expect(await reconcile(post, delivery, { calledAt: new Date(), wasAnswered: false }, as)).toBe('absent')
    await commit(post, { ...delivery, isRepeat: true }, as)
    const calls = async () =>
      (await world.control.requests())
        .filter((request) => request.account === as.accountId && request.path.includes(VISIBLE))
        .map(({ status }) => status)
    await expect.poll(calls, { timeout: 20_000 }).toEqual([200, 200])
    expect(await ledgerOf(as)).toHaveLength(1)
  })

  it('a draft that is published already is found when the repeat is refused', async () => {
    const [as, post, delivery] = [await world.newAccount(), newPost('refused as published'), newDelivery()]
    const published = await publish(post, delivery, as)
    await world.control.addFault({
      method: 'POST',
      path: VISIBLE,
      times: 1,
      action: { status: 400, body: refusal(100) },
    })
    expect(await commit(post, { ...delivery, isRepeat: true }, as)).toEqual(published)
    await world.control.addFault({
      method: 'POST',
      path: VISIBLE,
      times: 1,
      action: { status: 400, body: refusal(100) },
    })
    await world.control.addFault({ method: 'GET', path: 'is_published', times: 1, action: { status: 503 } })
    expect(await platformErrorOf(commit(post, { ...delivery, isRepeat: true }, as))).toMatchObject({ certain: false })
  })

  it('a draft that its people have deleted is created again, unless it may have been published', async () => {
    const [as, post, delivery] = [await world.newAccount(), newPost('deleted draft'), newDelivery()]
    await prepare(post, delivery, as)
    await world.control.deletePost(draftOf(delivery).id)
    const repeat = { ...delivery, isRepeat: true }
    expect(await platformErrorOf(commit(post, repeat, as))).toMatchObject({ certain: false })
    expect(await reconcile(post, repeat, {}, as)).toBe('undecidable')
    expect(await platformErrorOf(commit(post, delivery, as))).toMatchObject({ class: 'media_not_ready', certain: true })
    await publish(post, delivery, as)
    expect(await ledgerOf(as)).toHaveLength(1)
  })

  it('a draft is discarded, and a published one stays', async () => {
    const [as, post, delivery] = [await world.newAccount(), newPost('discarded'), newDelivery()]
    const discard = () => world.adapter.discard!(delivery, as, options())
    await discard()
    await prepare(post, delivery, as)
    await discard()
    expect((await world.graph('GET', `/${draftOf(delivery).id}`, {}, as.accessToken)).code).toBe(100)
    await discard()
    await delivery.save('draft', '')
    await publish(post, delivery, as)
    await discard()
    expect(await ledgerOf(as)).toHaveLength(1)
  })

  it.each([
    ['is refused', new Error('the post has changed'), 100],
    ['may be stored', new CheckpointUnknown(new Error('connection closed')), undefined],
  ])('a draft whose id %s is deleted unless it may be stored', async (_, error, code) => {
    const [as, stored] = [await world.newAccount(), newDelivery()]
    const ids: string[] = []
    const delivery = {
      ...stored,
      async save(_: string, value: string) {
        ids.push((JSON.parse(value) as { id: string }).id)
        throw error
      },
    }
    await expect(prepare(newPost('not stored'), delivery, as)).rejects.toBe(error)
    expect((await world.graph('GET', `/${ids[0]}`, {}, as.accessToken)).code).toBe(code)
  })

  it.each([
    ['an object', 404, { code: 100, error_subcode: 33 }],
    ['an alias', 404, { code: 803 }],
    ['something without a code of its own', 404, { code: 2_500 }],
    ['an object, with 400', 400, { code: 100, error_subcode: 33 }],
  ])('a post that was published directly is found although Facebook misses %s', async (_, statusAfterAccept, codes) => {
    const [as, post, delivery] = [await newDirectAccount(), newPost('there'), newDirectDelivery()]
    const body = { error: { message: 'Unsupported post request', type: 'GraphMethodException', ...codes } }
    await world.control.addFault({ method: 'POST', path: '/feed', times: 1, action: { statusAfterAccept, body } })
    const error = await platformErrorOf(world.adapter.publish(post, as, delivery, options()))
    expect(error).toMatchObject({ class: 'transient', certain: false, answered: true })
    const [entry] = await ledgerOf(as)
    expect(await world.adapter.reconcile(post, as, delivery, searchOptions())).toMatchObject({
      platformPostId: entry!.id,
    })
  })

  it('a page that refuses drafts gets its posts directly', async () => {
    const [as, post, delivery] = [await newDirectAccount(), newPost('directly'), newDelivery()]
    await prepare(post, delivery, as)
    expect(await ledgerOf(as)).toEqual([])
    const published = await commit(post, delivery, as)
    expect(await ledgerOf(as)).toMatchObject([{ id: published.platformPostId, text: 'directly' }])
    expect(await reconcile(post, delivery, {}, as)).toEqual(published)
  })

  it('a restored delivery finds a post whose draft was created hours before', async () => {
    const [as, post] = [await world.newAccount(), newPost('created early')]
    const published = await publish(post, newDelivery(), as)
    const restored = newDelivery(new Date(Date.now() + 11 * 3_600_000))
    expect(await reconcile(post, restored, { isRestored: true }, as)).toEqual(published)
  })
})

describe('videos', () => {
  const videoPost = async (text: string) => newPost(text, [await stored.add(film(), 'video/mp4')])

  it('a video is published after its processing by one call with a working URL', async () => {
    const delivery = newDelivery()
    const post = await videoPost('Waves')
    await prepare(post, delivery)
    const { platformPostId, platformPostUrl } = await commit(post, delivery)
    expect(await withText('Waves')).toMatchObject([{ id: platformPostId, media: [{ type: 'video/mp4' }] }])
    expect(platformPostUrl).toMatch(`${world.meta.facebook.url}/reel/${platformPostId}`)
    expect((await fetch(platformPostUrl)).status).toBe(200)
    expect(await reconcile(post, delivery)).toEqual({ platformPostId, platformPostUrl })
  })

  it('a video has a longer deadline, since Facebook fetches it during the call', async () => {
    const delivery = newDelivery()
    const post = await videoPost('Large')
    await world.control.addFault({
      method: 'POST',
      path: '/videos',
      times: 1,
      action: { delayMs: PUBLISH_TIMEOUT_MS + 500 },
    })
    await publish(post, delivery)
    expect(await withText('Large')).toHaveLength(1)
    expect(world.adapter.publishTimeoutMs!(post)).toBeGreaterThan(PUBLISH_TIMEOUT_MS)
    expect(world.adapter.publishTimeoutMs!(newPost('Words'))).toBe(PUBLISH_TIMEOUT_MS)
  })

  it('a video whose processing takes long is awaited by later attempts', async () => {
    const slow = await facebookWorld(stored.media, { processingMs: 3_000 }, { processingWaitMs: 700 })
    try {
      const [as, post, delivery] = [await slow.newAccount(), await videoPost('Slow'), newDelivery()]
      const attempt = () => slow.adapter.prepare(post, as, delivery, options())
      expect(await platformErrorOf(attempt())).toMatchObject({ class: 'media_not_ready', certain: true })
      const { id } = draftOf(delivery)
      await expect
        .poll(
          () =>
            attempt().then(
              () => 'ready',
              () => 'not yet',
            ),
          { timeout: 50_000 },
        )
        .toBe('ready')
      expect(await slow.control.ledger()).toEqual([])
      await slow.adapter.publish(post, as, delivery, options())
      expect(await slow.control.ledger()).toMatchObject([{ id }])
    } finally {
      await slow.stop()
    }
  })

  it('a video that Facebook cannot process fails with its sentence before it is public, and is uploaded again', async () => {
    const [as, post, delivery] = [await world.newAccount(), await videoPost('Copied'), newDelivery()]
    world.meta.failNextVideo('The copyright check failed.')
    const failed = await platformErrorOf(prepare(post, delivery, as))
    expect(failed).toMatchObject({
      class: 'media_fetch_failed',
      certain: true,
      platformReason: { text: 'The copyright check failed.' },
    })
    expect(await ledgerOf(as)).toEqual([])
    await publish(post, delivery, as)
    expect(await ledgerOf(as)).toHaveLength(1)
  })

  it('a video that Facebook has lost is uploaded again', async () => {
    const [as, post, delivery] = [await world.newAccount(), await videoPost('Lost'), newDelivery()]
    await prepare(post, delivery, as)
    const draft = draftOf(delivery)
    await world.control.deletePost(draft.id)
    await delivery.save('draft', JSON.stringify({ ...draft, createdAt: Date.now() - 120_000, isReady: false }))
    expect(await platformErrorOf(prepare(post, delivery, as))).toMatchObject({ class: 'transient', certain: true })
    await publish(post, delivery, as)
    expect(await ledgerOf(as)).toHaveLength(1)
  })

  it('a video that was published directly counts once it is ready', async () => {
    const [as, post, delivery] = [await newDirectAccount(), await videoPost('Direct'), newDelivery()]
    expect(await platformErrorOf(publish(post, delivery, as))).toMatchObject({
      class: 'media_not_ready',
      certain: false,
    })
    const [entry] = await ledgerOf(as)
    await expect
      .poll(() => reconcile(post, delivery, {}, as), { timeout: 50_000 })
      .toMatchObject({ platformPostId: entry!.id })
  })

  it('a video that was published directly and could not be processed fails with the sentence of Facebook', async () => {
    const [as, post, delivery] = [await newDirectAccount(), await videoPost('Broken'), newDelivery()]
    await prepare(post, delivery, as)
    world.meta.failNextVideo('The copyright check failed.')
    await platformErrorOf(commit(post, delivery, as))
    await expect.poll(() => reconcile(post, delivery, {}, as), { timeout: 50_000 }).toBe('absent')
    expect(await platformErrorOf(prepare(post, delivery, as))).toMatchObject({
      class: 'media_fetch_failed',
      platformReason: { text: 'The copyright check failed.' },
    })
    await prepare(post, delivery, as)
    expect(await ledgerOf(as)).toEqual([])
  })
})

describe('exactly one Facebook post', () => {
  it('one post results when the response reports an internal error', async () => {
    const action = { statusAfterAccept: 400, body: refusal(2) }
    const as = await world.newAccount()
    const delivery = newDelivery()
    const post = newPost('published after all\nhttps://example.test/')
    await world.adapter.prepare(post, as, delivery, options())
    await world.control.addFault({ method: 'POST', path: VISIBLE, times: 1, action })
    expect(await platformErrorOf(world.adapter.publish(post, as, delivery, options()))).toMatchObject({
      class: 'transient',
      certain: false,
    })
    const [entry, ...others] = await ledgerOf(as)
    expect(others).toEqual([])
    expect(await reconcile(post, delivery, {}, as)).toMatchObject({ platformPostId: entry!.id })
  })

  it.each([true, false])(
    'a post with photos is found, whatever its text is now: by its draft: %s',
    async (takesDrafts) => {
      const as = await world.newAccount({ takesDrafts })
      const delivery = newDelivery()
      const post = newPost('with photos', [await png(), await png()])
      const published = await publish(post, delivery, as)
      expect(await reconcile(post, delivery, {}, as)).toEqual(published)
      world.meta.rewrite(published.platformPostId, 'other words')
      expect(await reconcile(post, delivery, {}, as)).toEqual(published)
    },
  )

  it('a video that was published directly is found even if it appears much later', async () => {
    const slow = await facebookWorld(stored.media, { processingMs: 3_000 })
    try {
      const as = await slow.newAccount({ takesDrafts: false })
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
  it('a draft with a repeated text is refused', async () => {
    const as = await world.newAccount()
    await publish(newPost('again'), newDelivery(), as)
    expect(await platformErrorOf(publish(newPost('again'), newDelivery(), as))).toMatchObject({
      class: 'validation',
      certain: true,
    })
    expect(await ledgerOf(as)).toHaveLength(1)
  })

  const publishSameText = async () => {
    const as = await newDirectAccount()
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

describe('the search for a post that was published directly', () => {
  it('a post is recognised after changes of white space', async () => {
    const as = await newDirectAccount()
    const delivery = newDelivery()
    const published = await publish(newPost('one\ntwo  three'), delivery, as)
    expect(await reconcile(newPost(' one two\n\nthree\n'), delivery, {}, as)).toEqual(published)
  })

  it('a rewritten post is undecidable, and an unchanged foreign post does not matter', async () => {
    const as = await newDirectAccount()
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
    const as = await newDirectAccount()
    const post = newPost('twins')
    const [first, second] = [
      world.meta.publishElsewhere({ id: as.accountId }, 'twins'),
      world.meta.publishElsewhere({ id: as.accountId }, 'twins'),
    ]
    world.meta.publishElsewhere({ id: as.accountId }, 'twins')
    const taking = (ids: string[]) => ({ isTaken: async (id: string) => ids.includes(id) })
    expect(await reconcile(post, newDirectDelivery(), {}, as)).toMatchObject({ platformPostId: first.id })
    expect(await reconcile(post, newDirectDelivery(), taking([first.id]), as)).toMatchObject({
      platformPostId: second.id,
    })
    expect(await reconcile(post, newDirectDelivery(), { isTaken: async () => true }, as)).toBe('absent')
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
    await expect.poll(() => reconcile(post, newDirectDelivery(), {}, as), { timeout: 50_000 }).toBe('undecidable')
    const isTaken = async (id: string) => id === platformPostId
    expect(await reconcile(post, newDirectDelivery(), { isTaken }, as)).toBe('absent')
  })

  it('photos with the same text are distinguished', async () => {
    const as = await newDirectAccount()
    const [one, other] = [newDelivery(), newDelivery()]
    const post = newPost('same words', [await png()])
    const published = await publish(post, one, as)
    await world.adapter.prepare(post, as, other, options())
    expect(await reconcile(post, one, {}, as)).toEqual(published)
    expect(await reconcile(post, other, {}, as)).toBe('undecidable')
    expect(await reconcile(newPost('same words'), newDirectDelivery(), {}, as)).toBe('undecidable')
  })

  it('the search starts at the first call', async () => {
    const as = await newDirectAccount()
    const post = newPost('said before')
    await publish(post, newDelivery(), as)
    expect(await reconcile(post, newDirectDelivery(new Date(Date.now() + 120_000)), {}, as)).toBe('absent')
  })

  it('a post is found behind many others, and undecidable behind too many', async () => {
    const as = await newDirectAccount()
    const delivery = newDelivery()
    const post = newPost('the first of many')
    const published = await publish(post, delivery, as)
    for (let index = 0; index < 100; index++) world.meta.publishElsewhere({ id: as.accountId }, `noise ${index}`)
    expect(await reconcile(post, delivery, {}, as)).toEqual(published)
    for (let index = 0; index < 150; index++) world.meta.publishElsewhere({ id: as.accountId }, `noise ${index}`)
    expect(await reconcile(post, delivery, {}, as)).toBe('undecidable')
  })

  it('a post is not reported as absent while the call may be in flight', async () => {
    const as = await newDirectAccount()
    const reconcileAfter = (seconds: number) =>
      reconcile(newPost('not yet'), newDirectDelivery(), { calledAt: new Date(Date.now() - seconds * 1_000) }, as)
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
    [400, 100, 1_366_051, 'validation', true],
    [400, 324, 1_366_046, 'validation', true],
    [400, 324, 2_069_019, 'media_fetch_failed', true],
    [400, 389, undefined, 'media_fetch_failed', true],
    [400, 352, undefined, 'validation', true],
    [400, 100, 1_346_003, 'blocked_by_platform', true],
    [400, 100, 1_404_102, 'blocked_by_platform', true],
    [400, 100, 1_404_078, 'blocked_by_platform', true],
    [400, 1, 1_363_047, 'transient', true],
    [400, 1, 1_609_010, 'transient', true],
    [400, 506, undefined, 'validation', true],
  ])('%i with code %i and subcode %s is %s', async (status, code, subcode, expected, certain) => {
    const body = refusal(code, subcode)
    await world.control.addFault({ method: 'POST', path: VISIBLE, times: 1, action: { status, body } })
    const refused = await platformErrorOf(publish(newPost('refused')))
    expect(refused).toMatchObject({ class: expected, certain })
    expect(refused.message).toMatch(/^Facebook /)
    expect(refused.message).not.toContain('No')
  })

  it('a rate limit states the wait', async () => {
    const strict = await facebookWorld(stored.media, { callsPerHour: 3 })
    try {
      const as = await strict.newAccount()
      const [post, delivery] = [newPost('one too many'), newDelivery()]
      for (let call = 0; call < 2; call++) await strict.adapter.profile(as, options())
      await strict.adapter.prepare(post, as, delivery, options())
      const { retryAfterMs, ...refused } = await platformErrorOf(strict.adapter.publish(post, as, delivery, options()))
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
