import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CheckpointUnknown } from '../../../src/platforms/errors.ts'
import type { Published } from '../../../src/domain/posts/post.ts'
import type { Credentials, DeliveryCheckpoints, OutgoingPost } from '../../../src/platforms/contract.ts'
import { tumblrWorld, REDIRECT_URI, type TumblrWorld } from './tumblr-support.ts'
import {
  bytesOf,
  memoryMedia,
  newDelivery,
  newPost,
  picture,
  platformErrorOf,
  searchOptions,
} from '../shared/support.ts'
import { chooseFirst } from '../shared/choose-first.ts'
import { film } from '../../support/film.ts'

const ROOM = { perHour: 100_000, perDay: 100_000, posts: 10_000, photos: 10_000, videos: 10_000 }
/** Posts of any blog. */
const POSTS = '/posts'

const { media, add, opened } = memoryMedia()
let world: TumblrWorld
let account: Credentials

const options = () => ({ signal: AbortSignal.timeout(20_000) })

beforeAll(async () => {
  world = await tumblrWorld(media, { limits: ROOM })
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

const reconcile = (post: OutgoingPost, delivery: DeliveryCheckpoints, as = account) =>
  world.adapter.reconcile(post, as, delivery, searchOptions())

const withText = async (text: string) => (await world.control.ledger()).filter((entry) => entry.text === text)
const draftsOf = ({ accountId }: Credentials) => world.tumblr.draftsOf({ uuid: accountId })

async function requestsTo(method: string, path: string): Promise<number> {
  const requests = await world.control.requests()
  return requests.filter((request) => request.method === method && request.path.startsWith(path)).length
}

/** A published post as the public reads it. */
async function readPost({ platformPostId }: Published, { accountId }: Credentials) {
  const url = `${world.tumblr.url}/v2/blog/${accountId}/posts/${platformPostId}?api_key=${world.app.consumerKey}`
  const answer = await fetch(url, { headers: { 'user-agent': 'test' } })
  const { response } = (await answer.json()) as { response: { content: Record<string, unknown>[]; tags: string[] } }
  return response
}

describe('connect', () => {
  it('each login requests its own token and opens its page', async () => {
    const begin = () => world.redirect.begin({ state: 's&1', redirectUri: REDIRECT_URI }, options())
    const [first, second] = await Promise.all([begin(), begin()])
    const url = new URL(first.url)
    expect(`${url.origin}${url.pathname}`).toBe(`${world.tumblr.url}/oauth/authorize`)
    expect(Object.fromEntries(url.searchParams)).toEqual({ oauth_token: first.lookup })
    expect(second.lookup).not.toBe(first.lookup)
    expect(first.url).not.toContain(first.secrets['secret'])
    expect(world.redirect.lookupParameter).toBe('oauth_token')
  })

  it('an unconfirmed callback is refused', async () => {
    const careless = await tumblrWorld(media, { confirmsCallback: false })
    try {
      const begin = careless.redirect.begin({ state: 's', redirectUri: REDIRECT_URI }, options())
      expect(await platformErrorOf(begin)).toMatchObject({ class: 'transient', certain: true })
    } finally {
      await careless.stop()
    }
  })

  it('the login returns the primary blog', async () => {
    const { uuid, loginId } = world.tumblr.createAccount({ name: 'oedoen', title: ' Ödön ', otherBlog: 'aside' })
    const { credentials, profile } = await world.connection(loginId)
    expect(credentials).toEqual({
      accountId: uuid,
      handle: 'oedoen',
      accessToken: expect.any(String),
      tokenSecret: expect.any(String),
    })
    const avatar = `${world.tumblr.url}/v2/blog/oedoen.tumblr.com/avatar/512`
    expect(profile).toEqual({ displayName: 'Ödön', handle: 'oedoen', avatar })
    expect((await fetch(avatar)).headers.get('content-type')).toBe('image/png')
    expect(await world.adapter.profile({ ...credentials, version: 1 }, options())).toEqual(profile)
  })

  it('the name identifies a blog when Tumblr reports no id', async () => {
    const { loginId } = world.tumblr.createAccount({ name: 'nameless' })
    const blogs = [{ name: 'nameless', title: '' }]
    await world.control.addFault({
      path: '/user/info',
      times: 1,
      action: { status: 200, body: { response: { user: { blogs } } } },
    })
    expect((await world.connection(loginId)).credentials.accountId).toBe('nameless')
  })

  it('a blog that cannot be read does not hide the other blogs of a login', async () => {
    const { loginId } = world.tumblr.createAccount({ name: 'readable' })
    const blogs = [{ title: 'Without a name' }, null, { name: 'readable', title: 7, uuid: 't:readable' }]
    const action = { status: 200, body: { response: { user: { blogs } } } }
    await world.control.addFault({ path: '/user/info', times: 1, action })
    const { credentials, offered } = await world.connection(loginId)
    expect([credentials.accountId, offered!.length]).toEqual(['t:readable', 1])
  })

  it('a denial is reported without a call', async () => {
    const { loginId } = world.tumblr.createAccount({ name: 'unwilling' })
    const before = await requestsTo('POST', '/oauth/access_token')
    const error = await platformErrorOf(world.connection(loginId, 'deny'))
    expect(error).toMatchObject({ class: 'permission', certain: true, message: 'Access was denied on Tumblr' })
    expect(await requestsTo('POST', '/oauth/access_token')).toBe(before)
  })

  it.each([
    ['an invented verifier', {}, { oauth_verifier: 'invented' }],
    ['the secret of another attempt', { secret: 'another' }, {}],
    ['an invented token', { token: 'invented' }, {}],
  ])('a login is refused with %s', async (_, secrets: object, query: object) => {
    const { loginId } = world.tumblr.createAccount({ name: 'forged' })
    const begun = await world.redirect.begin({ state: 's', redirectUri: REDIRECT_URI }, options())
    const { consent } = await import('../../../sandbox/platforms/shared/consent.ts')
    const given = Object.fromEntries(new URL(await consent(begun.url, loginId)).searchParams)
    const complete = world.redirect.complete(
      {
        query: { ...given, ...query },
        redirectUri: REDIRECT_URI,
        choose: chooseFirst,
        secrets: { ...begun.secrets, ...secrets },
      },
      options(),
    )
    expect(await platformErrorOf(complete)).toMatchObject({ class: 'permission', certain: true })
  })

  it('a login without a blog is refused', async () => {
    const { loginId } = world.tumblr.createAccount({ name: 'blogless' })
    const body = { response: { user: { blogs: [] } } }
    await world.control.addFault({ path: '/user/info', times: 1, action: { status: 200, body } })
    expect(await platformErrorOf(world.connection(loginId))).toMatchObject({ class: 'permission', certain: true })
  })

  it('a blog that has left the account is reported', async () => {
    const as = { ...(await world.newAccount()), accountId: 't:gone' }
    expect(await platformErrorOf(world.adapter.profile(as, options()))).toMatchObject({ class: 'permission' })
  })
})

describe('posts', () => {
  it('a post is published by paragraphs with its links and tags', async () => {
    const link = 'https://example.test/path?q=1#x'
    const text = `Crème 🌳 <b>café</b>: ${link}.\nA second line\n\n\n\nThe end #Naïve #two #naïve`
    const published = await publish(newPost(text))
    const { content, tags } = await readPost(published, account)
    const first = `Crème 🌳 <b>café</b>: ${link}.\nA second line`
    const start = 'Crème 🌳 <b>café</b>: '.length - 1
    expect(content).toEqual([
      { type: 'text', text: first, formatting: [{ type: 'link', start, end: start + link.length, url: link }] },
      { type: 'text', text: 'The end #Naïve #two #naïve' },
    ])
    expect(tags).toEqual(['Naïve', 'two'])
    expect(published.platformPostUrl).toBe(`${world.tumblr.url}/${account.handle}/${published.platformPostId}`)
    expect((await fetch(published.platformPostUrl)).status).toBe(200)
  })

  it('a long text is split into blocks of 4,096 code points, between words where possible', async () => {
    const words = '🌳 tree '.repeat(2_000).trim()
    const published = await publish(newPost(`${words}\n\n${'x'.repeat(5_000)}`))
    const texts = (await readPost(published, account)).content.map(({ text }) => text as string)
    expect(texts.map((text) => [...text].length).every((length) => length <= 4_096)).toBe(true)
    expect(texts.slice(0, -2).join(' ')).toBe(words)
    expect(texts.slice(-2).map((text) => text.length)).toEqual([4_096, 904])
  })

  it('many short paragraphs share blocks', async () => {
    const text = Array.from({ length: 3_000 }, (_, index) => `line ${index}`).join('\n\n')
    const published = await publish(newPost(text))
    const { content } = await readPost(published, account)
    expect(content.map(({ text: block }) => block).join('\n\n')).toBe(text)
  })

  it('only as many links are marked as Tumblr accepts', async () => {
    const published = await publish(newPost('https://example.test/a '.repeat(120).trim()))
    const { content } = await readPost(published, account)
    expect(content.flatMap(({ formatting }) => formatting)).toHaveLength(100)
  })

  it('a prepared post is a draft, which publishing removes', async () => {
    const as = await world.newAccount()
    const delivery = newDelivery()
    const post = newPost('not yet')
    await world.adapter.prepare(post, as, delivery, options())
    expect(draftsOf(as)).toHaveLength(1)
    await world.adapter.publish(post, as, delivery, options())
    expect(draftsOf(as)).toEqual([])
  })

  it('an unprepared post is not sent', async () => {
    const before = (await world.control.requests()).length
    const publishing = world.adapter.publish(newPost('x'), account, newDelivery(), options())
    expect(await platformErrorOf(publishing)).toMatchObject({ class: 'media_not_ready', certain: true })
    expect(await world.control.requests()).toHaveLength(before)
  })

  it('a post gets its new id when the response names the draft', async () => {
    const odd = await tumblrWorld(media, { answersDraftId: true })
    try {
      const as = await odd.newAccount()
      const delivery = newDelivery()
      await odd.adapter.prepare(newPost('odd'), as, delivery, options())
      const { platformPostId } = await odd.adapter.publish(newPost('odd'), as, delivery, options())
      expect((await odd.control.ledger()).map(({ id }) => id)).toEqual([platformPostId])
    } finally {
      await odd.stop()
    }
  })
})

describe('drafts', () => {
  it('an unwanted draft is discarded, once or repeatedly', async () => {
    const as = await world.newAccount()
    const delivery = newDelivery()
    await world.adapter.prepare(newPost('unwanted'), as, delivery, options())
    await world.adapter.discard(delivery, as, options())
    await world.adapter.discard(delivery, as, options())
    expect(draftsOf(as)).toEqual([])
  })

  it('a published draft cannot be discarded', async () => {
    const delivery = newDelivery()
    await publish(newPost('stays'), delivery)
    await world.adapter.discard(delivery, account, options())
    expect(await withText('stays')).toHaveLength(1)
  })

  it('a draft that was never created needs no call', async () => {
    const before = (await world.control.requests()).length
    await world.adapter.discard(newDelivery(), account, options())
    expect(await world.control.requests()).toHaveLength(before)
  })

  it('a draft that cannot be stored is deleted', async () => {
    const as = await world.newAccount()
    const failing = { ...newDelivery(), save: () => Promise.reject(new Error('The post was cancelled')) }
    const prepare = world.adapter.prepare(newPost('cancelled'), as, failing, options())
    await expect(prepare).rejects.toThrow('The post was cancelled')
    expect(draftsOf(as)).toEqual([])
  })

  it('a draft whose id may be stored is not deleted', async () => {
    const as = await world.newAccount()
    const lost = new CheckpointUnknown(new Error('connection closed'))
    const failing = { ...newDelivery(), save: () => Promise.reject(lost) }
    await expect(world.adapter.prepare(newPost('not deleted'), as, failing, options())).rejects.toBe(lost)
    expect(draftsOf(as)).toHaveLength(1)
  })
})

describe('media', () => {
  it("media come before the text in order, with their descriptions, in Tumblr's format", async () => {
    const items = [
      add(await bytesOf(picture(300, 200).jpeg()), 'image/jpeg', 'A teal field'),
      add(await bytesOf(picture(64, 128).png()), 'image/png'),
      add(await bytesOf(picture(50, 40).webp()), 'image/webp', 'ü'.repeat(5_000)),
    ]
    const published = await publish(newPost('three', items))
    const entry = (await world.control.ledger()).find(({ id }) => id === published.platformPostId)!
    expect(entry.media.map(({ type }) => type)).toEqual(['image/jpeg', 'image/png', 'image/jpeg'])
    expect(entry.media[0]!.altText).toBe('A teal field')
    expect([...entry.media[2]!.altText]).toHaveLength(4_096)
    const { content } = await readPost(published, account)
    expect(content.map(({ type }) => type)).toEqual(['image', 'image', 'image', 'text'])
    const [{ url, width, height }] = content[1]!['media'] as [{ url: string; width: number; height: number }]
    expect({ width, height }).toEqual({ width: 64, height: 128 })
    expect(new Uint8Array(await (await fetch(url)).arrayBuffer())).toEqual(await bytesOf(picture(64, 128).png()))
  })

  it('a video is polled while the server processes it', async () => {
    const as = await world.newAccount()
    const delivery = newDelivery()
    const items = [
      add(await bytesOf(picture(20, 20).png()), 'image/png', 'A dot'),
      add(film({ bytes: 300_000 }), 'video/mp4', 'not stated'),
    ]
    const post = newPost('a film', items)
    await world.adapter.prepare(post, as, delivery, options())
    const { platformPostId } = await world.adapter.publish(post, as, delivery, options())
    const entry = (await world.control.ledger()).find(({ id }) => id === platformPostId)!
    expect(entry.media).toEqual([
      { type: 'image/png', altText: 'A dot' },
      { type: 'video/mp4', altText: '' },
    ])
  })

  it('a slow video is polled by the next attempt and not sent twice', async () => {
    const slow = await tumblrWorld(media, { processingMs: 2_500 }, { processingWaitMs: 600 })
    try {
      const as = await slow.newAccount()
      const delivery = newDelivery()
      const item = add(film(), 'video/mp4')
      const post = newPost('slow', [item])
      const prepare = () => slow.adapter.prepare(post, as, delivery, options())
      expect(await platformErrorOf(prepare())).toMatchObject({ class: 'media_not_ready', certain: true })
      const publishing = slow.adapter.publish(post, as, delivery, options())
      expect(await platformErrorOf(publishing)).toMatchObject({ class: 'media_not_ready', certain: true })
      const another = newPost('another', [add(film(), 'video/mp4')])
      const second = slow.adapter.prepare(another, as, newDelivery(), options())
      expect(await platformErrorOf(second)).toMatchObject({ class: 'media_not_ready', retryAfterMs: 120_000 })
      const seen = opened.filter((key) => key === item.storageKey).length
      await expect
        .poll(
          () =>
            prepare().then(
              () => 'prepared',
              () => 'not yet',
            ),
          { timeout: 50_000 },
        )
        .toBe('prepared')
      await slow.adapter.publish(post, as, delivery, options())
      expect(opened.filter((key) => key === item.storageKey)).toHaveLength(seen)
    } finally {
      await slow.stop()
    }
  })

  it('media are uploaded again with another draft when the first is lost', async () => {
    const notFound = { meta: { status: 404, msg: 'Not Found' }, response: [], errors: [] }
    const as = await world.newAccount()
    const delivery = newDelivery()
    const post = newPost('lost draft', [add(await bytesOf(picture(20, 20).png()), 'image/png')])
    await world.control.addFault({
      method: 'GET',
      path: `${POSTS}/`,
      times: 1,
      action: { status: 404, body: notFound },
    })
    const prepare = world.adapter.prepare(post, as, delivery, options())
    expect(await platformErrorOf(prepare)).toMatchObject({ class: 'transient', certain: true })
    await publish(post, delivery, as)
    expect(await withText('lost draft')).toHaveLength(1)
  })
})

describe('exactly one Tumblr post', () => {
  it('a draft is found among many', async () => {
    const as = await world.newAccount()
    const delivery = newDelivery()
    await world.adapter.prepare(newPost('first draft'), as, delivery, options())
    for (let index = 0; index < 45; index++) {
      await world.adapter.prepare(newPost(`draft ${index}`), as, newDelivery(), options())
    }
    expect(await reconcile(newPost('first draft'), delivery, as)).toBe('absent')
  })

  it('the outcome is undecidable when neither the draft nor its post exists', async () => {
    const as = await world.newAccount()
    const delivery = { ...newDelivery(), isRepeat: true }
    const post = newPost('thrown away')
    await world.adapter.prepare(post, as, delivery, options())
    await world.control.deletePost(draftsOf(as)[0]!.id)
    expect(await platformErrorOf(world.adapter.publish(post, as, delivery, options()))).toMatchObject({
      class: 'duplicate',
      certain: false,
    })
    expect(await reconcile(post, delivery, as)).toBe('undecidable')
  })

  it("a draft that was published although Tumblr's own 404 came is found, for a first call and for a repeat", async () => {
    const as = await world.newAccount()
    for (const isRepeat of [false, true]) {
      const delivery = { ...newDelivery(), isRepeat }
      const post = newPost(`published all the same, repeat ${isRepeat}`)
      await world.adapter.prepare(post, as, delivery, options())
      const action = { statusAfterAccept: 404, body: errors(0) }
      await world.control.addFault({ method: 'PUT', path: POSTS, times: 1, action })
      const published = await world.adapter.publish(post, as, delivery, options())
      expect(await withText(post.content.text)).toMatchObject([{ id: published.platformPostId }])
    }
  })

  it("Tumblr's own 404 leaves the outcome unknown while the posts cannot be read", async () => {
    const delivery = newDelivery()
    const post = newPost('cannot be read')
    await world.adapter.prepare(post, account, delivery, options())
    await world.control.addFault({ method: 'PUT', path: POSTS, times: 1, action: { status: 404, body: errors(0) } })
    await world.control.addFault({ method: 'GET', path: POSTS, times: 1, action: { status: 503 } })
    expect(await platformErrorOf(world.adapter.publish(post, account, delivery, options()))).toMatchObject({
      class: 'duplicate',
      certain: false,
    })
    expect(await reconcile(post, delivery)).toBe('absent')
  })

  it.each([
    ['after a restore', true],
    ['later', false],
  ])('%s, another draft is published when an equal post has taken that of the first one', async (when, isRestored) => {
    const as = await world.newAccount()
    const delivery = newDelivery()
    const post = newPost(`equal posts, ${when}`)
    const first = await publish(post, delivery, as)
    const isTaken = async (id: string) => id === first.platformPostId
    const search = searchOptions({ isTaken, isRestored })
    expect(await world.adapter.reconcile(post, as, delivery, search)).toBe('absent')
    const second = await publish(post, { ...delivery, isRepeat: true }, as)
    expect(new Set((await withText(post.content.text)).map(({ id }) => id))).toEqual(
      new Set([first.platformPostId, second.platformPostId]),
    )
  })

  it('a draft that is missing at the first call is created again', async () => {
    const as = await world.newAccount()
    const delivery = newDelivery()
    const post = newPost('deleted by its author')
    await world.adapter.prepare(post, as, delivery, options())
    await world.control.deletePost(draftsOf(as)[0]!.id)
    expect(await platformErrorOf(world.adapter.publish(post, as, delivery, options()))).toMatchObject({
      class: 'media_not_ready',
      certain: true,
    })
    expect(await reconcile(post, delivery, as)).toBe('absent')
    await world.adapter.prepare(post, as, delivery, options())
    await world.adapter.publish(post, as, delivery, options())
    expect(await withText('deleted by its author')).toHaveLength(1)
  })
})

const errors = (code: number) => ({ meta: { status: 400, msg: 'x' }, response: [], errors: [{ title: 'x', code }] })

describe('refusals', () => {
  it.each([
    [400, errors(8001), 'validation', true],
    [400, errors(8002), 'validation', true],
    [400, errors(8005), 'validation', true],
    [400, errors(8016), 'validation', true],
    [400, errors(0), 'validation', true],
    [403, errors(0), 'permission', true],
    [403, errors(8004), 'rate_limited', true],
    [403, errors(8008), 'validation', true],
    [403, errors(8010), 'media_not_ready', true],
    [403, errors(8011), 'rate_limited', true],
    [403, errors(8022), 'blocked_by_platform', true],
    [403, errors(8023), 'rate_limited', true],
    [404, errors(0), 'media_not_ready', true],
    [408, '', 'transient', false],
    [413, '', 'transient', false],
    [413, errors(0), 'validation', true],
    [418, '', 'transient', false],
    [429, errors(0), 'rate_limited', true],
    [500, errors(8006), 'transient', false],
    [500, errors(8009), 'transient', false],
    [500, '<html>', 'transient', false],
    [502, '<html>', 'transient', false],
    [503, errors(0), 'transient', false],
    [302, '', 'transient', false],
  ])('%i with %j is %s', async (status, body, expected, certain) => {
    const delivery = newDelivery()
    const post = newPost('refused')
    await world.adapter.prepare(post, account, delivery, options())
    await world.control.addFault({ method: 'PUT', path: POSTS, times: 1, action: { status, body } })
    const refused = await platformErrorOf(world.adapter.publish(post, account, delivery, options()))
    expect(refused).toMatchObject({ class: expected, certain })
    expect(refused.message).not.toContain('<html>')
  })

  const refuseWith = (headers: Record<string, string>) =>
    world.control.addFault({ path: POSTS, times: 1, action: { status: 429, body: errors(0), headers } })

  it.each([
    [
      'the hour',
      { 'x-ratelimit-perhour-remaining': '0', 'x-ratelimit-perhour-reset': '300', 'x-ratelimit-perday-remaining': '7' },
      300_000,
    ],
    [
      'the day',
      {
        'x-ratelimit-perhour-remaining': '0',
        'x-ratelimit-perhour-reset': '300',
        'x-ratelimit-perday-remaining': '0',
        'x-ratelimit-perday-reset': '9000',
      },
      9_000_000,
    ],
    ['seconds', { 'retry-after': '60' }, 60_000],
    ['nothing', {}, undefined],
  ])('429 asks to wait for the end of %s', async (_, headers: Record<string, string | undefined>, wait) => {
    await refuseWith(headers as Record<string, string>)
    const { retryAfterMs, ...error } = await platformErrorOf(publish(newPost('later')))
    expect(error).toMatchObject({ class: 'rate_limited', certain: true })
    expect(retryAfterMs).toBe(wait)
  })

  it('the end of a daily limit is requested', async () => {
    const small = await tumblrWorld(media, { limits: { posts: 1 } })
    try {
      const as = await small.newAccount()
      await small.adapter.prepare(newPost('first'), as, newDelivery(), options())
      const second = () => platformErrorOf(small.adapter.prepare(newPost('second'), as, newDelivery(), options()))
      const { retryAfterMs, ...error } = await second()
      expect(error).toMatchObject({ class: 'rate_limited', certain: true })
      expect(new Date(Date.now() + retryAfterMs! + 60_000).getUTCHours()).toBe(0)
      await small.control.addFault({ path: '/user/limits', action: { status: 500 } })
      expect((await second()).retryAfterMs).toBe(3_600_000)
    } finally {
      await small.stop()
    }
  })

  it('a revoked login has ended, after one check', async () => {
    const as = await world.newAccount()
    await world.control.revoke(as.accountId)
    const reads = await requestsTo('GET', '/v2/user/info')
    const failing = [
      platformErrorOf(publish(newPost('too late'), newDelivery(), as)),
      platformErrorOf(world.adapter.profile(as, options())),
    ]
    for (const error of await Promise.all(failing)) {
      expect(error).toMatchObject({ class: 'unauthorized', certain: true })
    }
    expect(await requestsTo('GET', '/v2/user/info')).toBe(reads + 2)
  })

  it('one refused signature does not end a login', async () => {
    const delivery = newDelivery()
    const post = newPost('refused once')
    await world.adapter.prepare(post, account, delivery, options())
    await world.control.addFault({ method: 'PUT', path: POSTS, times: 1, action: { status: 401, body: errors(0) } })
    expect(await platformErrorOf(world.adapter.publish(post, account, delivery, options()))).toMatchObject({
      class: 'transient',
      certain: true,
    })
    await world.adapter.publish(post, account, delivery, options())
  })

  it.each([
    ['in trouble as well', { status: 503 }],
    ['silent', { cut: true }],
  ])('a login does not end while the check is %s', async (_, action) => {
    await world.control.addFault({ method: 'POST', path: POSTS, times: 1, action: { status: 401, body: errors(0) } })
    await world.control.addFault({ path: '/user/info', times: 1, action })
    expect(await platformErrorOf(publish(newPost('x')))).toMatchObject({ class: 'transient', certain: true })
  })

  it('different clocks do not end a login', async () => {
    const date = new Date(Date.now() - 3_600_000).toUTCString()
    const action = { status: 401, body: errors(0), headers: { date } }
    await world.control.addFault({ path: '/v2/', action })
    const error = await platformErrorOf(world.adapter.profile(account, options()))
    expect(error).toMatchObject({ class: 'transient', certain: true, message: expect.stringContaining('clocks') })
  })

  it('a login without its secret is incomplete', async () => {
    const { tokenSecret: _, ...as } = account
    const before = (await world.control.requests()).length
    for (const work of [publish(newPost('x'), newDelivery(), as), world.adapter.profile(as, options())]) {
      expect(await platformErrorOf(work)).toMatchObject({ class: 'unauthorized', certain: true })
    }
    expect(await world.control.requests()).toHaveLength(before)
  })
})

it('a post has the tags and the source of its options', async () => {
  const options = { tumblr: { tags: ['field notes', 'rain'], sourceUrl: 'https://source.example/1' } }
  const { platformPostId } = await publish({ ...newPost('Tagged #here'), options })
  const query = new URLSearchParams({ id: platformPostId, npf: 'true', api_key: world.app.consumerKey })
  const response = await fetch(`${world.tumblr.url}/v2/blog/${account.handle}/posts?${query}`)
  const { posts } = ((await response.json()) as { response: { posts: object[] } }).response
  expect(posts).toMatchObject([{ tags: ['here', 'field notes', 'rain'], source_url: 'https://source.example/1' }])
})

describe('edits', () => {
  it('an edit changes the tags of the text, and keeps the others and the source', async () => {
    const tumblr = { tags: ['kept'], sourceUrl: 'https://example.com/source' }
    const post = { ...newPost('With #one'), options: { tumblr } }
    const published = await publish(post)
    const edited = { ...post, content: { ...post.content, text: 'With #two\n\nand a paragraph' } }
    await (await world.adapter.planEdit(published.platformPostId, edited, account, options()))!()
    expect(await readPost(published, account)).toMatchObject({
      ...{ tags: ['two', 'kept'], source_url: 'https://example.com/source' },
      content: [{ text: 'With #two' }, { text: 'and a paragraph' }],
    })
  })

  it('an edit of a private post leaves it private', async () => {
    const post = { ...newPost('for members'), options: { tumblr: { state: 'private' as const } } }
    const published = await publish(post)
    const edited = { ...post, content: { ...post.content, text: 'still for members' } }
    await (await world.adapter.planEdit(published.platformPostId, edited, account, options()))!()
    expect(await world.adapter.planEdit(published.platformPostId, edited, account, options())).toBeNull()
    expect(await withText('still for members')).toEqual([])
  })
})

describe('a private post', () => {
  const newPrivate = (text: string) => ({ ...newPost(text), options: { tumblr: { state: 'private' as const } } })

  it('is visible to its author only', async () => {
    const { platformPostId } = await publish(newPrivate('for members'))
    const path = `${world.tumblr.url}/v2/blog/${account.handle}/posts/${platformPostId}`
    expect((await fetch(`${path}?api_key=${world.app.consumerKey}`)).status).toBe(404)
    expect(await withText('for members')).toEqual([])
  })

  it('is found after its response is lost, and not published again', async () => {
    const [post, delivery] = [newPrivate('lost'), newDelivery()]
    await world.adapter.prepare(post, account, delivery, options())
    expect(await reconcile(post, delivery)).toBe('absent')
    await world.control.addFault({ method: 'PUT', path: POSTS, times: 1, action: { dropAfterAccept: true } })
    expect(await platformErrorOf(world.adapter.publish(post, account, delivery, options()))).toMatchObject({
      certain: false,
    })
    expect(await reconcile(post, delivery)).toMatchObject({ platformPostId: expect.any(String) })
  })

  it('leaves the outcome undecidable where it cannot be found', async () => {
    const [post, delivery] = [newPrivate('deleted'), newDelivery()]
    const { platformPostId } = await publish(post, delivery)
    await world.control.deletePost(platformPostId)
    expect(await reconcile(post, delivery)).toBe('undecidable')
    const restored = searchOptions({ isRestored: true })
    expect(await world.adapter.reconcile(post, account, newDelivery(), restored)).toBe('undecidable')
  })
})
