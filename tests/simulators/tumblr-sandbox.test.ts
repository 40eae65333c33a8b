import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { consent } from '../../sandbox/platforms/shared/consent.ts'
import { startTumblr } from '../../sandbox/platforms/tumblr.ts'
import { isSignedRightly, readOAuthHeader } from '../../sandbox/platforms/tumblr/signature.ts'
import type { Credentials } from '../../src/platforms/contract.ts'
import { createSigner, type TokenPair } from '../../src/platforms/tumblr/oauth1.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { tumblrWorld, REDIRECT_URI, type TumblrWorld } from '../platforms/tumblr/tumblr-support.ts'
import { bytesOf, controlOf, memoryMedia, newDelivery, newPost, picture } from '../platforms/shared/support.ts'
import { film } from '../support/film.ts'

const { media } = memoryMedia()
let world: TumblrWorld
let account: Credentials
let token: TokenPair

beforeAll(async () => {
  world = await tumblrWorld(media, { limits: { perHour: 100_000, perDay: 100_000 } })
  account = await world.newAccount()
  token = tokenOf(account)
})
afterAll(() => world?.stop())

const tokenOf = ({ accessToken, tokenSecret }: Credentials) => ({ token: accessToken, secret: tokenSecret! })
const now = () => Math.floor(Date.now() / 1_000)

interface CallInit {
  method?: string
  json?: unknown
  form?: FormData
  fields?: Record<string, string>
  as?: TokenPair | null
  in?: TumblrWorld
  /** The blog, if it is not the default one. */
  of?: Credentials
  headers?: Record<string, string>
}

interface MediaObject {
  type: string
  url?: string
}

/** The fields of responses that the tests read. */
interface TumblrResponse {
  id: string
  id_string: string
  genesis_post_id?: string
  state: string
  note_count: number
  total_users: number
  /** A list for an image, an object for a video. */
  content: [{ media: [MediaObject] & MediaObject }]
  posts: TumblrResponse[]
  user: { posts: { reset_at: number }; blogs: [{ followers: number }] }
}

/** A correctly signed call of the server's own API. */
async function call(path: string, init: CallInit = {}) {
  const { method = 'GET', json, form, fields, as = token, headers = {}, in: there = world } = init
  const url = new URL(`${there.tumblr.url}${path}`)
  const authorization = there.sign({ method, url, ...(as && { token: as }), ...(fields && { fields }) })
  const body = json === undefined ? (fields ? new URLSearchParams(fields) : form) : JSON.stringify(json)
  return send(url, {
    method,
    headers: {
      'user-agent': 'test',
      authorization,
      ...(json !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  })
}

async function send(url: URL | string, init: RequestInit = {}) {
  const response = await fetch(url, { redirect: 'manual', ...init })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  const body = (isJson ? JSON.parse(text) : {}) as {
    meta: object
    response: TumblrResponse
    errors?: { code: number }[]
  }
  return { status: response.status, headers: response.headers, text, body, code: body.errors?.[0]?.code }
}

const blog = (rest: string, of = account) => `/v2/blog/${encodeURIComponent(of.accountId)}/${rest}`
const words = (text: string) => ({ content: [{ type: 'text', text }] })
const create = (post: object, init: CallInit = {}) => call(blog('posts'), { method: 'POST', json: post, ...init })

describe('a signed call', () => {
  const infoUrl = () => new URL(`${world.tumblr.url}/v2/user/info`)
  const info = (authorization: string, agent = 'test') =>
    send(infoUrl(), { headers: { authorization, 'user-agent': agent } })
  const signed = (once = {}, pair = token, url = infoUrl()) =>
    world.sign({ method: 'GET', url, token: pair }, { nonce: `n${Math.random()}`, timestamp: now(), ...once })

  it('a signed call gets a response', async () => {
    const { status, body } = await info(signed())
    expect(status).toBe(200)
    expect(body).toMatchObject({ meta: { status: 200, msg: 'OK' }, response: { user: { name: account.handle } } })
  })

  it.each<[string, () => string]>([
    ['of another address', () => signed({}, token, new URL(`${world.tumblr.url}/v2/user/limits`))],
    ['with parameters it does not have', () => signed({}, token, new URL(`${world.tumblr.url}/v2/user/info?a=1`))],
    ['for another method', () => world.sign({ method: 'POST', url: infoUrl(), token })],
    ['with the secret of another token', () => signed({}, { ...token, secret: 'another' })],
    ['with a forged token', () => signed({}, { token: 'forged', secret: 'forged' })],
    ['without a token', () => world.sign({ method: 'GET', url: infoUrl() })],
    [
      'by an unknown application',
      () => createSigner({ token: 'a', secret: 'b' })({ method: 'GET', url: infoUrl(), token }),
    ],
    [
      'with the secret of another application',
      () => createSigner({ token: world.app.consumerKey, secret: 'b' })({ method: 'GET', url: infoUrl(), token }),
    ],
    ['too long ago', () => signed({ timestamp: now() - 400 })],
    ['ahead of time', () => signed({ timestamp: now() + 400 })],
    ['by another method than HMAC-SHA1', () => signed().replace('HMAC-SHA1', 'PLAINTEXT')],
    ['with half a signature', () => signed().replace(/oauth_signature="[^"]{5}/, 'oauth_signature="')],
    ['not at all', () => ''],
    ['as a bearer', () => `Bearer ${token.token}`],
  ])('a call signed %s is refused', async (_, authorization) => {
    const { status, body } = await info(authorization())
    expect(status).toBe(401)
    expect(body).toMatchObject({ meta: { status: 401, msg: 'Unauthorized' }, errors: [{ title: 'Unauthorized' }] })
  })

  it('a repeated signature is refused', async () => {
    const authorization = signed()
    expect((await info(authorization)).status).toBe(200)
    expect((await info(authorization)).status).toBe(401)
  })

  it('the fields of a form are part of the signature', async () => {
    const { body } = await create({ ...words('x'), state: 'draft' })
    const url = new URL(`${world.tumblr.url}${blog('post/delete')}`)
    const headers = { authorization: world.sign({ method: 'POST', url, token }), 'user-agent': 'test' }
    const fields = new URLSearchParams({ id: body.response.id })
    expect((await send(url, { method: 'POST', headers, body: fields })).status).toBe(401)
    expect((await call(blog('post/delete'), { method: 'POST', fields: { id: body.response.id } })).status).toBe(200)
  })

  it('a call must name its application', async () => {
    const answer = await info(signed(), '')
    expect(answer.status).toBe(403)
  })

  it('a call is refused after the account revoked the token', async () => {
    const as = await world.newAccount()
    await world.control.revoke(as.handle)
    expect((await call('/v2/user/info', { as: tokenOf(as) })).status).toBe(401)
  })
})

describe('logging in', () => {
  type Oauth = Record<string, string>
  async function oauthCall(path: string, oauth: Oauth, pair?: TokenPair, method = 'POST') {
    const url = new URL(`${world.tumblr.url}/oauth/${path}`)
    const authorization = world.sign({ method, url, oauth, ...(pair && { token: pair }) })
    const { status, text } = await send(url, { method, headers: { authorization, 'user-agent': 'test' } })
    const fields = new URLSearchParams(text)
    return {
      status,
      pair: { token: fields.get('oauth_token')!, secret: fields.get('oauth_token_secret')! },
      isConfirmed: fields.get('oauth_callback_confirmed'),
    }
  }
  const ask = (callback = `${REDIRECT_URI}?state=s`) => oauthCall('request_token', { oauth_callback: callback })
  const page = (pair: TokenPair) => `${world.tumblr.url}/oauth/authorize?oauth_token=${pair.token}`
  const login = () => world.tumblr.createAccount({ name: account.handle }).loginId
  const verifierOf = async (pair: TokenPair) =>
    new URL(await consent(page(pair), login())).searchParams.get('oauth_verifier')!

  it('the login page shows accounts to choose from and two buttons', async () => {
    const { text } = await send(page((await ask()).pair))
    expect(text).toContain(`<option value="${login()}">`)
    expect(text).toContain('<button name="decision" value="allow">')
    expect(text).toContain('<button name="decision" value="deny">')
  })

  it('the login redirects with a verifier or without one, and keeps the query of the callback', async () => {
    const { pair, isConfirmed } = await ask()
    expect(isConfirmed).toBe('true')
    const allowed = new URL(await consent(page(pair), login()))
    expect(`${allowed.origin}${allowed.pathname}`).toBe(REDIRECT_URI)
    expect([...allowed.searchParams.keys()]).toEqual(['state', 'oauth_token', 'oauth_verifier'])
    const denied = new URL(await consent(page((await ask()).pair), login(), 'deny'))
    expect([...denied.searchParams.keys()]).toEqual(['state', 'oauth_token'])
  })

  it.each([
    ['another host', 'https://evil.example/api/platform/tumblr/callback'],
    ['another path', `${REDIRECT_URI}/more`],
  ])('the login refuses a callback at %s', async (_, callback) => {
    expect((await ask(callback)).status).toBe(400)
  })

  it('the login redirects nowhere for an unknown or used token', async () => {
    const used = (await ask()).pair
    await verifierOf(used)
    for (const pair of [{ token: 'forged', secret: '' }, used]) {
      for (const method of ['GET', 'POST']) {
        const body = new URLSearchParams({ account: login(), decision: 'allow' })
        const { status, headers } = await send(page(pair), { method, ...(method === 'POST' && { body }) })
        expect(status).toBe(400)
        expect(headers.get('location')).toBeNull()
      }
    }
  })

  it.each(['POST', 'GET'])('a token is issued once per verifier, by %s', async (method) => {
    const { pair } = await ask()
    const oauth = { oauth_verifier: await verifierOf(pair) }
    const granted = await oauthCall('access_token', oauth, pair, method)
    expect((await call('/v2/user/info', { as: granted.pair })).status).toBe(200)
    expect((await oauthCall('access_token', oauth, pair, method)).status).toBe(401)
  })

  it('no token is issued for another verifier, and none after that', async () => {
    const { pair } = await ask()
    const verifier = await verifierOf(pair)
    expect((await oauthCall('access_token', { oauth_verifier: 'guessed' }, pair)).status).toBe(401)
    expect((await oauthCall('access_token', { oauth_verifier: verifier }, pair)).status).toBe(401)
  })

  it('no token is issued before a user allowed it', async () => {
    const { pair } = await ask()
    expect((await oauthCall('access_token', { oauth_verifier: '' }, pair)).status).toBe(401)
    const denied = (await ask()).pair
    await consent(page(denied), login(), 'deny')
    expect((await oauthCall('access_token', { oauth_verifier: '' }, denied)).status).toBe(401)
  })

  it('no token is issued for the secret of another token', async () => {
    const [one, other] = [(await ask()).pair, (await ask()).pair]
    const oauth = { oauth_verifier: await verifierOf(one) }
    expect((await oauthCall('access_token', oauth, { ...one, secret: other.secret })).status).toBe(401)
  })
})

describe('posts', () => {
  it('posts are created, found by id, listed in both directions and deleted', async () => {
    const as = await world.newAccount()
    const init = { as: tokenOf(as) }
    const ids = []
    for (const text of ['one', 'two', 'three']) {
      const { status, body } = await call(blog('posts', as), { method: 'POST', json: words(text), ...init })
      expect(status).toBe(201)
      ids.push(body.response.id)
    }
    expect(ids.every((id) => typeof id === 'string' && BigInt(id) > BigInt(Number.MAX_SAFE_INTEGER))).toBe(true)
    const list = async (query: string) => {
      const { body } = await call(blog(`posts?npf=true&${query}`, as), init)
      return body.response.posts.map(({ id_string }: { id_string: string }) => id_string)
    }
    expect(await list('')).toEqual(ids.toReversed())
    expect(await list('sort=asc&limit=2')).toEqual(ids.slice(0, 2))
    expect(await list('sort=asc&limit=2&offset=2')).toEqual(ids.slice(2))
    expect(await list(`after=${now() + 60}&sort=asc`)).toEqual([])
    expect(await list(`id=${ids[1]}`)).toEqual([ids[1]])
    expect((await call(blog('post/delete', as), { method: 'POST', fields: { id: ids[1]! }, ...init })).status).toBe(200)
    expect((await call(blog(`posts/${ids[1]}`, as), init)).status).toBe(404)
    expect((await call(blog('post/delete', as), { method: 'POST', fields: { id: ids[1]! }, ...init })).status).toBe(404)
  })

  it('the id of a post is exact only as text', async () => {
    const { body } = await create(words('numbers'))
    const { response, text } = { response: body.response, text: (await call(blog(`posts/${body.response.id}`))).text }
    expect(text).toContain(`"id_string":"${response.id}"`)
    expect(text).toContain(`"id":${Number(response.id)}`)
  })

  it('posts are found by every name of their blog', async () => {
    for (const name of [account.handle, `${account.handle}.tumblr.com`, encodeURIComponent(account.accountId)]) {
      expect((await call(`/v2/blog/${name}/info`)).status).toBe(200)
    }
    expect((await call('/v2/blog/nobody/info')).status).toBe(404)
  })

  it('drafts are visible to their author only, and get another id when they are published', async () => {
    const stranger = { as: tokenOf(await world.newAccount()) }
    const draft = (await create({ ...words('draft'), state: 'draft' })).body.response.id
    const listed = async () => (await call(blog('posts/draft'))).body.response.posts.map(({ id_string }) => id_string)
    expect(await listed()).toContain(draft)
    expect((await call(blog('posts/draft'), stranger)).status).toBe(403)
    expect((await call(blog(`posts/${draft}`), stranger)).status).toBe(404)
    expect(
      (await send(`${world.tumblr.url}${blog(`posts/${draft}`)}`, { headers: { 'user-agent': 'x' } })).status,
    ).toBe(401)
    const put = () => call(blog(`posts/${draft}`), { method: 'PUT', json: { ...words('draft'), state: 'published' } })
    const published = (await put()).body.response.id
    expect(published).not.toBe(draft)
    expect((await put()).status).toBe(404)
    expect(await listed()).not.toContain(draft)
    expect((await call(blog(`posts/${draft}`))).status).toBe(404)
    expect((await call(blog(`posts/${published}`))).body.response.genesis_post_id).toBe(draft)
    expect((await call(blog(`posts/${published}`), stranger)).body.response.genesis_post_id).toBeUndefined()
  })

  it('concurrent calls publish a draft once', async () => {
    const draft = (await create({ ...words('race'), state: 'draft' })).body.response.id
    const put = () => call(blog(`posts/${draft}`), { method: 'PUT', json: { ...words('race'), state: 'published' } })
    const answers = await Promise.all(Array.from({ length: 10 }, put))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await world.control.ledger()).filter(({ text }) => text === 'race')).toHaveLength(1)
  })

  it("posts on another user's blog are refused", async () => {
    const stranger = { as: tokenOf(await world.newAccount()) }
    expect((await create(words('x'), stranger)).status).toBe(403)
  })

  const link = (start: number, end: number, more = {}) => ({
    content: [
      { type: 'text', text: '🌳 four', formatting: [{ type: 'link', start, end, url: 'https://a.test', ...more }] },
    ],
  })
  it.each<[string, object]>([
    ['no content', {}],
    ['empty content', { content: [] }],
    ['a block of no known type', { content: [{ type: 'poem', text: 'x' }] }],
    ['an empty text', words('')],
    ['too long a text', words('🌳'.repeat(4_097))],
    ['too many blocks', { content: Array.from({ length: 1_001 }, () => ({ type: 'text', text: 'x' })) }],
    ['a megabyte', { content: Array.from({ length: 300 }, () => ({ type: 'text', text: 'x'.repeat(4_000) })) }],
    ['a link beyond its text', link(2, 7)],
    ['a link from behind', link(3, 2)],
    ['a link to nowhere', link(0, 1, { url: 'nowhere' })],
    ['tags as a list', { ...words('x'), tags: ['a'] }],
    ['an unknown state', { ...words('x'), state: 'hidden' }],
    [
      'a file that did not come along',
      { content: [{ type: 'image', media: [{ type: 'image/png', identifier: 'a' }] }] },
    ],
    ['an image that is no list', { content: [{ type: 'image', media: { type: 'image/png', identifier: 'a' } }] }],
    ['a picture that is not known', { content: [{ type: 'image', media: [{ url: 'https://a.test/b.png' }] }] }],
  ])('a post is refused with %s', async (_, post) => {
    const { status, code } = await create(post)
    expect({ status, code }).toEqual({ status: 400, code: 8001 })
  })

  it('posts at the limits are accepted', async () => {
    expect((await create(words('🌳'.repeat(4_096)))).status).toBe(201)
    expect((await create(link(2, 6))).status).toBe(201)
  })

  it('a post that is not JSON is refused', async () => {
    const form = new FormData()
    form.set('json', 'not json')
    expect((await call(blog('posts'), { method: 'POST', form })).code).toBe(8001)
  })
})

describe('files', () => {
  const image = (identifier: string, type = 'image/png') => ({ type: 'image', media: [{ type, identifier }] })
  const video = (identifier: string) => ({ type: 'video', media: { type: 'video/mp4', identifier } })
  const png = () => bytesOf(picture(10, 10).png())

  async function upload(content: object[], files: [string, Uint8Array, string][], init: CallInit = {}) {
    const form = new FormData()
    form.set('json', JSON.stringify({ content, state: 'draft' }))
    for (const [name, bytes, type] of files) form.append(name, new File([bytes], name, { type }))
    return call(blog('posts', init.of), { method: 'POST', form, ...init })
  }

  it('files match the identifiers of the post, and are reported with their size and URL', async () => {
    const { status, body } = await upload([image('a')], [['a', await png(), 'image/png']])
    expect(status).toBe(201)
    const { content, state } = (await call(blog(`posts/${body.response.id}`))).body.response
    expect(state).toBe('draft')
    expect(content[0].media[0]).toMatchObject({ type: 'image/png', width: 10, height: 10 })
    expect((await send(content[0].media[0].url!)).headers.get('content-type')).toBe('image/png')
    const again = { content: [{ type: 'image', media: [content[0].media[0]] }] }
    expect((await create(again)).status).toBe(201)
    expect((await create(again, { as: tokenOf(await world.newAccount()) })).status).toBe(403)
  })

  it.each<[string, object[], [string, string][], number]>([
    ['under another name', [image('a')], [['b', 'image/png']], 8001],
    [
      'that nothing names',
      [image('a')],
      [
        ['a', 'image/png'],
        ['b', 'image/png'],
      ],
      8001,
    ],
    [
      'twice under one name',
      [image('a')],
      [
        ['a', 'image/png'],
        ['a', 'image/png'],
      ],
      8001,
    ],
    ['of another type than they say', [image('a', 'image/jpeg')], [['a', 'image/jpeg']], 8005],
    ['of another type than the post says', [image('a', 'image/jpeg')], [['a', 'image/png']], 8005],
    ['as a video that is none', [video('a')], [['a', 'video/mp4']], 8005],
  ])('files are refused %s', async (_, content, files, expected) => {
    const bytes = await png()
    const { status, code } = await upload(
      content,
      files.map(([name, type]) => [name, bytes, type]),
    )
    expect({ status, code }).toEqual({ status: 400, code: expected })
  })

  it('files of unsupported types and unreadable files are refused', async () => {
    const webp = await bytesOf(picture(10, 10).webp())
    expect((await upload([image('a', 'image/webp')], [['a', webp, 'image/webp']])).code).toBe(8005)
    const truncated = (await png()).slice(0, 12)
    expect((await upload([image('a')], [['a', truncated, 'image/png']])).code).toBe(8005)
  })

  it('only one video is processed at a time', async () => {
    const busy = await tumblrWorld(media, { processingMs: 1_500 })
    try {
      const as = await busy.newAccount()
      const init = { as: tokenOf(as), in: busy, of: as }
      const one = () => upload([video('a')], [['a', film(), 'video/mp4']], init)
      const two = [video('a'), video('b')]
      const both: [string, Uint8Array, string][] = [
        ['a', film(), 'video/mp4'],
        ['b', film(), 'video/mp4'],
      ]
      expect((await upload(two, both, init)).code).toBe(8001)
      const { body } = await one()
      const readPost = async () => (await call(blog(`posts/${body.response.id}`, as), init)).body.response
      expect(await readPost()).toMatchObject({ state: 'transcoding' })
      expect((await readPost()).content[0].media.url).toBeUndefined()
      expect(await one()).toMatchObject({ status: 403, code: 8010 })
      await expect.poll(async () => (await readPost()).state, { timeout: 50_000 }).toBe('draft')
      expect((await one()).status).toBe(201)
    } finally {
      await busy.stop()
    }
  })
})

describe('limits', () => {
  it('daily limits of posts, images and videos are enforced and reported', async () => {
    const small = await tumblrWorld(media, { processingMs: 0, limits: { posts: 3, photos: 1, videos: 1 } })
    try {
      const as = await small.newAccount()
      const init = { as: tokenOf(as), in: small }
      const upload = async (kind: 'image' | 'video') => {
        const [bytes, type] =
          kind === 'image' ? [await bytesOf(picture(9, 9).png()), 'image/png'] : [film(), 'video/mp4']
        const object = { type, identifier: 'a' }
        const form = new FormData()
        form.set('json', JSON.stringify({ content: [{ type: kind, media: kind === 'image' ? [object] : object }] }))
        form.set('a', new File([bytes], 'a', { type }))
        return call(blog('posts', as), { method: 'POST', form, ...init })
      }
      expect((await upload('image')).status).toBe(201)
      expect(await upload('image')).toMatchObject({ status: 403, code: 8004 })
      expect((await upload('video')).status).toBe(201)
      expect(await upload('video')).toMatchObject({ status: 403, code: 8011 })
      expect((await call(blog('posts', as), { method: 'POST', json: words('x'), ...init })).status).toBe(201)
      expect(await call(blog('posts', as), { method: 'POST', json: words('x'), ...init })).toMatchObject({
        status: 403,
        code: 8023,
      })
      const { user } = (await call('/v2/user/limits', init)).body.response
      expect(user.posts).toMatchObject({ limit: 3, remaining: 0 })
      expect(user.posts.reset_at).toBeGreaterThan(now())
    } finally {
      await small.stop()
    }
  })

  it('call limits apply to the whole application', async () => {
    const small = await tumblrWorld(media, { limits: { perHour: 4 } })
    try {
      const [one, other] = [await small.newAccount(), await small.newAccount()]
      const info = (as: Credentials) => call('/v2/user/info', { as: tokenOf(as), in: small })
      expect((await info(one)).headers.get('x-ratelimit-perhour-remaining')).toBe('1')
      await info(other)
      const refused = await info(one)
      expect(refused).toMatchObject({ status: 429, body: { meta: { msg: 'Limit Exceeded' } } })
      expect(refused.headers.get('x-ratelimit-perhour-remaining')).toBe('0')
      expect(Number(refused.headers.get('x-ratelimit-perhour-reset'))).toBeGreaterThan(0)
    } finally {
      await small.stop()
    }
  })
})

it('responses report the notes of a post and the followers', async () => {
  const { body } = await create(words('liked'))
  const { id } = body.response
  await world.control.setMetrics(id, { likes: 5, reblogs: 2, replies: 1 })
  const notes = await call(blog(`notes?id=${id}&mode=conversation`))
  expect(notes.body.response).toMatchObject({ total_notes: 8, total_likes: 5, total_reblogs: 2 })
  expect((await call(blog(`posts/${id}`))).body.response.note_count).toBe(8)
  await fetch(`${world.tumblr.control}/accounts/${account.handle}/metrics`, {
    method: 'POST',
    body: '{"followers": 9}',
  })
  expect((await call(blog('followers'))).body.response.total_users).toBe(9)
  expect((await call('/v2/user/info')).body.response.user.blogs[0].followers).toBe(9)
})

it('blogs and posts are public, and drafts are not', async () => {
  const link = [{ type: 'link', start: 5, end: 21, url: 'https://a.test/' }]
  const text = '<b>&: https://a.test/ '
  const { body } = await create({ content: [{ type: 'text', text, formatting: link }], tags: 'one,two' })
  await create({ ...words('a secret draft'), state: 'draft' })
  for (const path of ['/', `/${account.handle}`, `/${account.handle}/${body.response.id}`]) {
    const page = await send(`${world.tumblr.url}${path}`)
    expect(page.status).toBe(200)
    expect(page.text).toContain('&lt;b&gt;&amp;')
    expect(page.text).not.toContain('a secret draft')
  }
  expect((await send(`${world.tumblr.url}/${account.handle}/1`)).status).toBe(404)
})

it('accounts, posts and the address survive a restart', async () => {
  const dir = temporaryFolder()
  const first = await startTumblr({ dir })
  const app = first.createApp({ name: 'postonce', callbackUrl: REDIRECT_URI })
  const owner = first.createAccount({ name: 'ann' })
  const post = first.publishElsewhere(owner, 'before')
  const gone = first.publishElsewhere(owner, 'deleted')
  await controlOf(first).deletePost(gone.id)
  await first.stop()
  const second = await startTumblr({ dir })
  try {
    expect(second.url).toBe(first.url)
    expect(second.createAccount({ name: 'ann' })).toEqual(owner)
    expect(second.createApp({ name: 'postonce', callbackUrl: REDIRECT_URI })).toEqual(app)
    expect((await controlOf(second).ledger()).map(({ id }) => id)).toEqual([post.id])
  } finally {
    await second.stop()
  }
})

it('the request log has the text and account of calls that make posts visible', async () => {
  const as = await world.newAccount()
  const log = newDelivery()
  const options = { signal: AbortSignal.timeout(60_000) }
  await world.adapter.prepare(newPost('seen'), as, log, options)
  await world.adapter.publish(newPost('seen'), as, log, options)
  const [draft, published] = (await world.control.requests()).slice(-2)
  expect(draft!.text).toBeUndefined()
  expect(published).toMatchObject({ method: 'PUT', account: as.accountId, status: 200, text: 'seen' })
})

it('the server accepts signatures of another program', () => {
  // A check value with all of its inputs.
  const header =
    'OAuth oauth_consumer_key="ckey", oauth_token="tok", oauth_nonce="nonce123", oauth_timestamp="1700000000", oauth_signature_method="HMAC-SHA1", oauth_version="1.0", oauth_signature="duMq%2BOMIErZbqzcZLtVdL5sAhUc%3D"'
  const signed = {
    method: 'GET',
    url: new URL('https://api.tumblr.com/v2/blog/demo/posts?limit=20&npf=true'),
    oauth: readOAuthHeader(header)!,
    fields: [],
    consumerSecret: 'csecret',
    tokenSecret: 'toksecret',
  }
  expect(isSignedRightly(signed)).toBe(true)
  expect(isSignedRightly({ ...signed, tokenSecret: 'another' })).toBe(false)
  expect(isSignedRightly({ ...signed, url: new URL('https://api.tumblr.com/v2/blog/demo/posts?limit=20') })).toBe(false)
})
