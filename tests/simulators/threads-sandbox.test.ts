import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startThreads, type Threads } from '../../sandbox/platforms/threads.ts'
import { film } from '../support/film.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { picture, REDIRECT_URI } from '../platforms/shared/containers-support.ts'
import { storedMedia } from '../platforms/shared/support.ts'

const DAY_MS = 86_400_000
const SCOPES = 'threads_basic,threads_content_publish,threads_manage_insights'

type Problem = { error: { code: number; error_subcode?: number; message: string } }
type Answer = { status: number; headers: Headers; body: Record<string, unknown> & Partial<Problem> }

let threads: Threads
let stored: Awaited<ReturnType<typeof storedMedia>>
let app: ReturnType<Threads['createApp']>

beforeAll(async () => {
  stored = await storedMedia()
  threads = await startThreads({ processingMs: { image: 0, video: 400 }, quota: 3, replyQuota: 2 })
  app = threads.createApp({ name: 'postonce', redirectUris: [REDIRECT_URI] })
})
afterAll(async () => {
  await threads?.stop()
  stored?.close()
})

async function call(method: string, path: string, params: Record<string, string> = {}): Promise<Answer> {
  const form = new URLSearchParams(params)
  const isGet = method === 'GET'
  const address = `${threads.url}${path}${isGet ? `?${form}` : ''}`
  const response = await fetch(address, { method, redirect: 'manual', ...(!isGet && { body: form }) })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return {
    status: response.status,
    headers: response.headers,
    body: (isJson ? JSON.parse(text) : { text }) as Answer['body'],
  }
}

const page = (more: Record<string, string> = {}) => {
  const asked = {
    client_id: app.id,
    redirect_uri: REDIRECT_URI,
    scope: SCOPES,
    response_type: 'code',
    state: 's',
    ...more,
  }
  return `/oauth/authorize?${new URLSearchParams(asked)}`
}

let names = 0
async function login(more: Record<string, string> = {}, scope = SCOPES) {
  const account = threads.createAccount({ username: `person${names++}`, name: 'Ann' })
  const decided = await call('POST', page({ scope }), { account: account.id, decision: 'allow', ...more })
  const code = new URL(decided.headers.get('location')!).searchParams.get('code')!
  return { account, code }
}

const exchange = (code: string, more: Record<string, string> = {}) =>
  call('POST', '/oauth/access_token', {
    client_id: app.id,
    client_secret: app.secret,
    grant_type: 'authorization_code',
    redirect_uri: REDIRECT_URI,
    code,
    ...more,
  })

async function newUser(more: Record<string, string> = {}, scope = SCOPES) {
  const { account, code } = await login(more, scope)
  const short = (await exchange(code)).body['access_token'] as string
  const long = await call('GET', '/access_token', {
    grant_type: 'th_exchange_token',
    client_secret: app.secret,
    access_token: short,
  })
  const token = long.body['access_token'] as string
  const own = (method: string, path: string, params: Record<string, string> = {}) =>
    call(method, `/v1.0/${account.id}${path}`, { access_token: token, ...params })
  return {
    account,
    short,
    token,
    own,
    get: (id: string, fields: string) => call('GET', `/v1.0/${id}`, { fields, access_token: token }),
  }
}

const refused = (code: number, subcode?: number) => ({
  status: 400,
  body: { error: { code, ...(subcode !== undefined && { error_subcode: subcode }) } },
})

describe('the login', () => {
  it('the login page shows the application and refuses unregistered values', async () => {
    const { text } = (await call('GET', page())).body
    expect(text).toContain('postonce')
    expect(text).toContain('Deny')
    for (const wrong of [
      { client_id: '1' },
      { redirect_uri: 'https://elsewhere.example' },
      { scope: 'threads_basic,everything' },
      { scope: 'threads_content_publish' },
      { response_type: 'token' },
    ]) {
      expect((await call('GET', page(wrong))).status).toBe(400)
    }
  })

  it('the login redirects with a code and a fragment, or with a refusal', async () => {
    const account = threads.createAccount({ username: 'chooser' })
    const allowed = (await call('POST', page(), { account: account.id, decision: 'allow' })).headers.get('location')!
    expect(allowed).toMatch(/^https:\/\/api\.example\.test\/.*[?&]code=.*state=s#_$/)
    const denied = new URL(
      (await call('POST', page(), { account: account.id, decision: 'deny' })).headers.get('location')!,
    )
    expect(Object.fromEntries(denied.searchParams)).toMatchObject({ error: 'access_denied', state: 's' })
  })

  it('a code works once, and only for its application', async () => {
    const { code } = await login()
    const good = await exchange(code)
    expect(good.status).toBe(200)
    expect(await exchange(code)).toMatchObject(refused(100))
    expect(await exchange((await login()).code, { redirect_uri: `${REDIRECT_URI}/` })).toMatchObject(refused(100))
    expect(await exchange((await login()).code, { client_secret: 'wrong' })).toMatchObject(refused(101))
    expect(await exchange((await login()).code, { grant_type: 'other' })).toMatchObject(refused(100))
  })

  it('the token response contains the id as a number that is too long for JavaScript', async () => {
    const { account, code } = await login()
    expect(String((await exchange(code)).body['user_id'])).not.toBe(account.id)
  })
})

describe('a token', () => {
  it('a token is exchanged once for a long-lived one, with the secret of its application', async () => {
    const { short, token } = await newUser()
    const ask = (access_token: string, client_secret: string) =>
      call('GET', '/access_token', { grant_type: 'th_exchange_token', client_secret, access_token })
    expect(await ask(short, 'wrong')).toMatchObject(refused(101))
    expect(await ask(token, app.secret)).toMatchObject(refused(452))
  })

  it('a token can be refreshed only between one day and its expiry', async () => {
    const { account, token } = await newUser()
    const refresh = () => call('GET', '/refresh_access_token', { grant_type: 'th_refresh_token', access_token: token })
    expect(await refresh()).toMatchObject(refused(100))
    threads.ageTokens(account.id, DAY_MS)
    const { body } = await refresh()
    expect(body['expires_in']).toBeGreaterThan(59 * 86_400)
    expect(body['access_token']).not.toBe(token)
    threads.ageTokens(account.id, 60 * DAY_MS)
    expect(await refresh()).toMatchObject(refused(190))
  })

  it('a token is valid for its own account and scopes', async () => {
    const [one, other] = [await newUser(), await newUser({ decline: 'threads_content_publish' })]
    expect(await call('GET', '/v1.0/me', { access_token: 'nonsense' })).toMatchObject(refused(190))
    expect((await call('GET', '/v1.0/me', {})).status).toBe(400)
    expect(await call('GET', `/v1.0/${other.account.id}/threads`, { access_token: one.token })).toMatchObject(
      refused(100, 33),
    )
    expect(await other.own('POST', '/threads', { media_type: 'TEXT', text: 'x' })).toMatchObject(refused(10))
  })
})

describe('a container', () => {
  let user: Awaited<ReturnType<typeof newUser>>
  beforeEach(async () => void (user = await newUser()))

  const make = (params: Record<string, string>) => user.own('POST', '/threads', params)
  const idOf = async (params: Record<string, string>) => (await make(params)).body['id'] as string
  const publish = (id: string) => user.own('POST', '/threads_publish', { creation_id: id })
  const addressOf = async (bytes: Uint8Array, type = 'image/jpeg') => (await stored.add(bytes, type)).storageUrl

  it.each([
    [{ media_type: 'POEM', text: 'x' }, 100],
    [{ media_type: 'TEXT' }, 100],
    [{ media_type: 'TEXT', text: 'a'.repeat(501) }, 100],
    [{ media_type: 'TEXT', text: '👍'.repeat(126) }, 100],
    [{ media_type: 'TEXT', text: [1, 2, 3, 4, 5, 6].map((n) => `https://a.example/${n}`).join(' ') }, 100],
    [{ media_type: 'TEXT', text: 'x', is_carousel_item: 'true' }, 100],
    [{ media_type: 'TEXT', text: 'x', reply_control: 'friends' }, 100],
    [{ media_type: 'TEXT', text: 'x', topic_tag: 'a & b' }, 100],
    [{ media_type: 'TEXT', text: 'x', topic_tag: 'a'.repeat(51) }, 100],
    [{ media_type: 'TEXT', text: 'x', poll_attachment: '{"option_a":"one"}' }, 100],
    [{ media_type: 'TEXT', text: 'x', poll_attachment: '{"option_a":"one","option_c":"two"}' }, 100],
    [{ media_type: 'TEXT', text: 'x', poll_attachment: `{"option_a":"one","option_b":"${'b'.repeat(26)}"}` }, 100],
    [{ media_type: 'IMAGE', poll_attachment: '{"option_a":"one","option_b":"two"}' }, 100],
    [{ media_type: 'TEXT', text: 'x', crossreshare_to_ig: 'maybe' }, 100],
    [{ media_type: 'TEXT', text: 'x', crossreshare_to_ig: 'true' }, 10],
    [{ media_type: 'IMAGE' }, 100],
    [{ media_type: 'IMAGE', image_url: 'http://127.0.0.1:1/none.jpg' }, 1],
    [{ media_type: 'CAROUSEL', children: '1' }, 100],
    [{ media_type: 'CAROUSEL', children: '1,2' }, 100],
  ])('a container is not created from %j', async (params, code) => {
    expect(await make(params)).toMatchObject(refused(code))
  })

  it.each<[string, () => Promise<Uint8Array>, string, 'IMAGE' | 'VIDEO', string]>([
    ['WebP', () => picture(400, 400, { type: 'webp' }), 'image/webp', 'IMAGE', 'UNKNOWN'],
    ['an image far too wide', () => picture(1_200, 40), 'image/jpeg', 'IMAGE', 'INVALID_ASPEC_RATIO'],
    ['an image as a video', () => picture(40, 40), 'image/jpeg', 'VIDEO', 'FAILED_PROCESSING_VIDEO'],
    ['sound as a video', async () => film({ codec: null }), 'video/mp4', 'VIDEO', 'FAILED_PROCESSING_VIDEO'],
    [
      'a video without index',
      async () => film({ indexFirst: false }).subarray(0, 900),
      'video/mp4',
      'VIDEO',
      'FAILED_PROCESSING_VIDEO',
    ],
    [
      'a video with its index at the end',
      async () => film({ indexFirst: false }),
      'video/mp4',
      'VIDEO',
      'FAILED_PROCESSING_VIDEO',
    ],
    [
      'a video wider than 1,920 pixels',
      async () => film({ width: 1_922, height: 1_080 }),
      'video/mp4',
      'VIDEO',
      'FAILED_PROCESSING_VIDEO',
    ],
    ['a video of 61 frames a second', async () => film({ frameRate: 61 }), 'video/mp4', 'VIDEO', 'INVALID_FRAME_RATE'],
    ['a video of over 5 minutes', async () => film({ duration: 301 }), 'video/mp4', 'VIDEO', 'INVALID_DURATION'],
    ['a video of no length', async () => film({ duration: 0 }), 'video/mp4', 'VIDEO', 'INVALID_DURATION'],
  ])('a container of %s fails', async (_, bytes, type, kind, problem) => {
    const url = await addressOf(await bytes(), type)
    const id = await idOf({ media_type: kind, [kind === 'IMAGE' ? 'image_url' : 'video_url']: url })
    const status = async () => (await user.get(id, 'status,error_message')).body
    await expect.poll(status).toMatchObject({ status: 'ERROR', error_message: problem })
    expect(await publish(id)).toMatchObject(refused(24, 4_279_009))
  })

  it('a container is published only after its processing, and reports that then', async () => {
    const id = await idOf({ media_type: 'VIDEO', video_url: await addressOf(film(), 'video/mp4'), text: 'waves' })
    const status = async () => (await user.get(id, 'status')).body['status']
    expect(await status()).toBe('IN_PROGRESS')
    expect(await publish(id)).toMatchObject(refused(24, 4_279_009))
    await expect.poll(status).toBe('FINISHED')
    const published = (await publish(id)).body['id'] as string
    expect(await status()).toBe('PUBLISHED')
    const { body } = await user.get(published, 'id,text,permalink,media_type,username')
    expect(body).toMatchObject({ text: 'waves', media_type: 'VIDEO', username: user.account.username })
    const shown = await (await fetch(body['permalink'] as string)).text()
    expect(shown).toContain('waves')
    expect(await (await fetch(threads.url)).text()).toContain('waves')
  })

  it('a container may keep its status to itself, and may be lost', async () => {
    const id = await idOf({ media_type: 'TEXT', text: 'x' })
    threads.store.silence(id)
    expect((await user.get(id, 'id,status')).body).toEqual({ id })
    threads.store.silence(id, false)
    expect((await user.get(id, 'id,status')).body).toMatchObject({ id, status: expect.any(String) })
    threads.store.lose(id)
    expect(await user.get(id, 'status')).toMatchObject(refused(100, 33))
    expect(await publish(id)).toMatchObject(refused(24, 4_279_009))
  })

  it('a container expires after a day', async () => {
    const id = await idOf({ media_type: 'TEXT', text: 'x' })
    threads.store.age(id, DAY_MS + 1_000)
    expect((await user.get(id, 'status')).body['status']).toBe('EXPIRED')
    expect(await publish(id)).toMatchObject(refused(24, 4_279_009))
  })

  it('a carousel accepts 2 to 20 finished children of its own account, each once', async () => {
    const image_url = await addressOf(await picture(40, 40))
    const child = () => idOf({ media_type: 'IMAGE', image_url, is_carousel_item: 'true', alt_text: 'A square' })
    const [one, two] = [await child(), await child()]
    expect(await make({ media_type: 'CAROUSEL', children: `${one},${one}` })).toMatchObject(refused(100))
    expect(await publish(one)).toMatchObject(refused(24))
    const stranger = await newUser()
    const stolen = await stranger.own('POST', '/threads', { media_type: 'CAROUSEL', children: `${one},${two}` })
    expect(stolen).toMatchObject(refused(100))
    const id = await idOf({ media_type: 'CAROUSEL', children: `${one},${two}`, text: 'both' })
    expect((await publish(id)).status).toBe(200)
    const ledger = (await (await fetch(`${threads.control}/ledger`)).json()) as { text: string; media: object[] }[]
    const square = { type: 'image/jpeg', altText: 'A square' }
    expect(ledger.find(({ text }) => text === 'both')!.media).toEqual([square, square])
  })

  it('a container counts against the daily quota when it is published', async () => {
    for (let n = 0; n < 3; n++) await publish(await idOf({ media_type: 'TEXT', text: `n${n}` }))
    expect(await publish(await idOf({ media_type: 'TEXT', text: 'one too many' }))).toMatchObject({ status: 400 })
    const { body } = await user.own('GET', '/threads_publishing_limit', { fields: 'quota_usage,config' })
    expect(body['data']).toEqual([{ quota_usage: 3, config: { quota_total: 3, quota_duration: 86_400 } }])
    const { body: list } = await user.own('GET', '/threads', { fields: 'id,text', limit: '2' })
    expect((list['data'] as { text: string }[]).map(({ text }) => text)).toEqual(['n2', 'n1'])
  })

  it('an unknown container is not found', async () => {
    expect(await user.get('12345', 'status')).toMatchObject(refused(100, 33))
  })
})

describe('a reply', () => {
  const REPLY_SCOPES = `${SCOPES},threads_read_replies,threads_manage_replies`
  let user: Awaited<ReturnType<typeof newUser>>
  beforeEach(async () => void (user = await newUser({}, REPLY_SCOPES)))

  const make = (text: string, replyTo: string) =>
    user.own('POST', '/threads', { media_type: 'TEXT', text, reply_to_id: replyTo })
  const publish = (id: unknown) => user.own('POST', '/threads_publish', { creation_id: id as string })
  const reply = async (text: string, replyTo: string) =>
    (await publish((await make(text, replyTo)).body['id'])).body['id'] as string

  it('a reply is listed apart from posts, with its parent and its root', async () => {
    const root = threads.store.publishElsewhere(user.account.id, 'root').id
    const first = await reply('first', root)
    const second = await reply('second', first)
    const { body: posts } = await user.own('GET', '/threads', { fields: 'id' })
    expect(posts['data']).toEqual([{ id: root }])
    const { body: replies } = await user.own('GET', '/replies', { fields: 'id,replied_to,root_post,is_reply' })
    expect(replies['data']).toEqual([
      { id: second, replied_to: { id: first }, root_post: { id: root }, is_reply: true },
      { id: first, replied_to: { id: root }, root_post: { id: root }, is_reply: true },
    ])
  })

  it("a reply is refused for an unknown post, and in another account's thread", async () => {
    expect(await make('lost', '12345')).toMatchObject(refused(100, 33))
    const other = threads.createAccount({ username: 'another_author' })
    expect(await make('intruder', threads.store.publishElsewhere(other.id, 'not yours').id)).toMatchObject(refused(10))
  })

  it('replies have a quota of their own, which needs a permission to read', async () => {
    const root = threads.store.publishElsewhere(user.account.id, 'root').id
    for (const text of ['one', 'two']) await reply(text, root)
    const { body: made } = await make('three', root)
    expect(await publish(made['id'])).toMatchObject({ status: 400 })
    const limit = { quota_usage: 1, config: { quota_total: 3, quota_duration: 86_400 } }
    const ofReplies = { reply_quota_usage: 2, reply_config: { quota_total: 2, quota_duration: 86_400 } }
    const fields = 'quota_usage,config,reply_quota_usage,reply_config'
    const { body } = await user.own('GET', '/threads_publishing_limit', { fields })
    expect(body['data']).toEqual([{ ...limit, ...ofReplies }])
    const other = await newUser()
    expect(await other.own('GET', '/threads_publishing_limit', { fields })).toMatchObject(refused(10))
    expect(await other.own('GET', '/replies', { fields: 'id' })).toMatchObject(refused(10))
  })
})

it('accounts, posts and the address survive a restart', async () => {
  const dir = temporaryFolder()
  const first = await startThreads({ dir })
  const { id } = first.createAccount({ username: 'keeper' })
  const { secret } = first.createApp({ name: 'postonce', redirectUris: [] })
  first.store.publishElsewhere(id, 'kept')
  await first.stop()
  const second = await startThreads({ dir })
  expect(second.url).toBe(first.url)
  expect(second.createAccount({ username: 'keeper' }).id).toBe(id)
  expect(second.createApp({ name: 'postonce', redirectUris: [] }).secret).toBe(secret)
  expect(await (await fetch(second.url)).text()).toContain('kept')
  await second.stop()
})
