import { randomUUID } from 'node:crypto'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startMastodon } from '../../sandbox/platforms/mastodon.ts'
import { consent } from '../../sandbox/platforms/shared/consent.ts'
import { statusLength } from '../../sandbox/platforms/mastodon/text.ts'
import type { Credentials } from '../../src/platforms/contract.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { call, mastodonWorld, REDIRECT_URI, type MastodonWorld } from '../platforms/mastodon/mastodon-support.ts'
import { controlOf, memoryMedia, newDelivery, newPost } from '../platforms/shared/support.ts'
import { film } from '../support/film.ts'

const { media } = memoryMedia()
let world: MastodonWorld
let account: Credentials
let url: string

beforeAll(async () => {
  world = await mastodonWorld(media)
  account = await world.newAccount()
  url = world.mastodon.url
})
afterAll(() => world?.stop())

const form = (fields: Record<string, string>) => new URLSearchParams(fields)

const post = (status: object, { key, token = account.accessToken }: { key?: string; token?: string } = {}) =>
  call(url, '/api/v1/statuses', {
    method: 'POST',
    token,
    body: JSON.stringify(status),
    headers: { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
  })

const upload = (bytes: Uint8Array<ArrayBuffer>, type: string, description = '') => {
  const body = new FormData()
  body.set('file', new File([bytes], 'file', { type }))
  body.set('description', description)
  return call(url, '/api/v2/media', { method: 'POST', token: account.accessToken, body })
}

const png = async (width = 10, height = 10) =>
  new Uint8Array(
    await sharp({ create: { width, height, channels: 3, background: 'red' } })
      .png()
      .toBuffer(),
  )

describe('logging in', () => {
  const authorizeUrl = (changes: Record<string, string | undefined> = {}) => {
    const params: Record<string, string | undefined> = {
      response_type: 'code',
      client_id: world.app.clientId,
      redirect_uri: REDIRECT_URI,
      scope: 'read:accounts write:statuses',
      state: 'a state',
      ...changes,
    }
    const given = Object.entries(params).filter((entry): entry is [string, string] => entry[1] !== undefined)
    return `${url}/oauth/authorize?${new URLSearchParams(given)}`
  }
  const codeOf = async (changes: Record<string, string | undefined> = {}) =>
    new URL(await consent(authorizeUrl(changes), account.accountId)).searchParams.get('code')!
  const exchange = (code: string, changes: Record<string, string> = {}) =>
    call(url, '/oauth/token', {
      method: 'POST',
      body: form({
        grant_type: 'authorization_code',
        code,
        client_id: world.app.clientId,
        client_secret: world.app.clientSecret,
        redirect_uri: REDIRECT_URI,
        ...changes,
      }),
    })

  it('the login page shows accounts to choose from and two buttons', async () => {
    const { status, body } = await call(url, authorizeUrl().slice(url.length))
    expect(status).toBe(200)
    expect(body).toContain(`<option value="${account.accountId}">`)
    expect(body).toContain('<button name="decision" value="allow">')
    expect(body).toContain('<button name="decision" value="deny">')
  })

  it('the login redirects with the code or the refusal, and with the state', async () => {
    const allowed = new URL(await consent(authorizeUrl(), account.accountId))
    expect(`${allowed.origin}${allowed.pathname}`).toBe(REDIRECT_URI)
    expect([...allowed.searchParams.keys()]).toEqual(['code', 'state'])
    const denied = new URL(await consent(authorizeUrl(), account.accountId, 'deny'))
    expect(denied.searchParams.get('error')).toBe('access_denied')
    expect(denied.searchParams.get('state')).toBe('a state')
    expect(denied.searchParams.has('code')).toBe(false)
  })

  it.each([
    ['an unknown application', { client_id: 'nobody' }, 401],
    ['another redirect URI', { redirect_uri: `${REDIRECT_URI}/` }, 400],
    ['none', { redirect_uri: undefined }, 400],
  ])('the login redirects nowhere for %s', async (_, changes, expected) => {
    for (const method of ['GET', 'POST']) {
      const init = method === 'GET' ? {} : { method, body: form({ account: account.accountId, decision: 'allow' }) }
      const { status, headers } = await call(url, authorizeUrl(changes).slice(url.length), init)
      expect(status).toBe(expected)
      expect(headers.get('location')).toBeNull()
    }
  })

  it.each([
    ['scopes beyond those of the application', { scope: 'write:accounts' }, 'invalid_scope'],
    ['another kind of answer', { response_type: 'token' }, 'unsupported_response_type'],
    ['a plain challenge', { code_challenge: 'x', code_challenge_method: 'plain' }, 'invalid_code_challenge_method'],
  ])('the login redirects with an error for %s', async (_, changes, error) => {
    expect(new URL(await consent(authorizeUrl(changes), account.accountId)).searchParams.get('error')).toBe(error)
  })

  it('a code works once', async () => {
    const code = await codeOf()
    expect(await exchange(code)).toMatchObject({
      status: 200,
      body: { token_type: 'Bearer', scope: 'read:accounts write:statuses' },
    })
    expect(await exchange(code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  it.each([
    ['another redirect URI', { redirect_uri: 'https://evil.test/' }, 400, 'invalid_grant'],
    ['a wrong secret', { client_secret: 'wrong' }, 401, 'invalid_client'],
    ['another grant type', { grant_type: 'password' }, 400, 'unsupported_grant_type'],
  ])('no token is issued for %s', async (_, changes: Record<string, string>, status, error) => {
    expect(await exchange(await codeOf(), changes)).toMatchObject({ status, body: { error } })
  })

  it('no token is issued to another application', async () => {
    const other = world.mastodon.createApp({ name: 'other', redirectUris: [REDIRECT_URI] })
    const changes = { client_id: other.clientId, client_secret: other.clientSecret }
    expect(await exchange(await codeOf(), changes)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  it('the verifier of the challenge is required', async () => {
    const challenge = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' }
    for (const changes of [{ code_verifier: 'x'.repeat(43) }, {}]) {
      expect(await exchange(await codeOf(challenge), changes)).toMatchObject({ status: 400 })
    }
    // The pair of RFC 7636, appendix B.
    const right = { code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' }
    expect(await exchange(await codeOf(challenge), right)).toMatchObject({ status: 200 })
  })

  it('another login gets the existing token until it is revoked', async () => {
    const tokenOf = async () => (await exchange(await codeOf())).body['access_token'] as string
    const [first, second] = [await tokenOf(), await tokenOf()]
    expect(second).toBe(first)
    const revoke = (token: string, app = world.app) =>
      call(url, '/oauth/revoke', {
        method: 'POST',
        body: form({ client_id: app.clientId, client_secret: app.clientSecret, token }),
      })
    const other = world.mastodon.createApp({ name: 'other', redirectUris: [REDIRECT_URI] })
    expect(await revoke(first, other)).toMatchObject({ status: 403, body: { error: 'unauthorized_client' } })
    expect(await revoke(first)).toMatchObject({ status: 200 })
    expect(await revoke(first)).toMatchObject({ status: 200 })
    expect(await post({ status: 'x' }, { token: first })).toMatchObject({
      status: 401,
      body: { error: 'The access token was revoked' },
    })
    expect(await tokenOf()).not.toBe(first)
  })

  it('a token allows only its scopes', async () => {
    const { access_token: token } = (await exchange(await codeOf({ scope: 'read:accounts' }))).body as {
      access_token: string
    }
    expect(await post({ status: 'x' }, { token })).toMatchObject({
      status: 403,
      body: { error: 'This action is outside the authorized scopes' },
    })
    expect(await post({ status: 'x' }, { token: 'invented' })).toMatchObject({
      status: 401,
      body: { error: 'The access token is invalid' },
    })
    const own = await call(url, '/api/v1/accounts/verify_credentials')
    expect(own).toMatchObject({ status: 401, body: { error: 'This API requires an authenticated user' } })
  })

  it('applications can be registered', async () => {
    const register = (fields: Record<string, string>) =>
      call(url, '/api/v1/apps', { method: 'POST', body: form({ client_name: 'new', ...fields }) })
    expect(await register({ redirect_uris: REDIRECT_URI, scopes: 'read write:statuses' })).toMatchObject({
      status: 200,
      body: { name: 'new', client_id: expect.any(String), client_secret: expect.any(String) },
    })
    expect(await register({ redirect_uris: 'nowhere' })).toMatchObject({
      status: 422,
      body: { error: 'Validation failed: Redirect URI must be an absolute URI.' },
    })
    expect(await register({ redirect_uris: REDIRECT_URI, scopes: 'everything' })).toMatchObject({ status: 422 })
  })
})

describe('statuses', () => {
  it('a repeated key returns the first status, whatever the repeat contains', async () => {
    const key = randomUUID()
    const first = await post({ status: 'one' }, { key })
    expect(await post({ status: 'two' }, { key })).toMatchObject({ status: 200, body: { id: first.body['id'] } })
    const other = await world.newAccount()
    const others = await post({ status: 'three' }, { key, token: other.accessToken })
    expect(others.body['id']).not.toBe(first.body['id'])
    await world.control.deletePost(first.body['id'])
    expect(await post({ status: 'one' }, { key })).toMatchObject({ status: 404, body: { error: 'Record not found' } })
  })

  it('a reply shows its parent, and is refused without one', async () => {
    const parent = (await post({ status: 'parent' })).body['id'] as string
    const reply = await post({ status: 'reply', in_reply_to_id: parent })
    const shown = { in_reply_to_id: parent, in_reply_to_account_id: account.accountId }
    expect(reply).toMatchObject({ status: 200, body: shown })
    const entry = (await world.control.ledger()).find(({ id }) => id === reply.body['id'])
    expect(entry).toMatchObject({ replyTo: parent })
    await world.control.deletePost(parent)
    expect(await post({ status: 'late', in_reply_to_id: parent })).toMatchObject({
      status: 404,
      body: { error: 'The post you are trying to reply to does not appear to exist.' },
    })
  })

  it.each([
    ['no text', { status: ' \n ' }, "Validation failed: Text can't be blank"],
    ['too much text', { status: 'x'.repeat(501) }, 'Validation failed: Text character limit of 500 exceeded'],
    ['unknown media', { status: '', media_ids: ['1'] }, 'Media 1 not found or already attached to another post'],
    ['five files', { status: 'x', media_ids: ['1', '2', '3', '4', '5'] }, 'Cannot attach more than 4 files'],
  ])('a status is refused for %s', async (_, status, error) => {
    expect(await post(status)).toMatchObject({ status: 422, body: { error } })
  })

  it.each([
    ['é👨‍👩‍👧‍👦', 2],
    ['https://example.com/a/very/long/path?with=a&query=too', 23],
    ['see https://example.com/a.', 28],
    ['https://example.music/song', 26],
    ['http://192.168.1.1/a', 20],
    ['http://printer.local', 20],
    ['example.com', 11],
    ['https://пример.рф，谢谢', 26],
    ['https://en.wikipedia.org/wiki/Mercury_(planet)', 23],
    ['https://example.com/a”…）欢迎', 23],
    ['@ann@example.test hi', 7],
    ['ann@example.test', 16],
  ])('%s count as %i characters', (text, length) => {
    expect(statusLength(text, '', 23)).toBe(length)
  })

  it('a status is shown as the public sees it, and its source to its author', async () => {
    const text = 'a < b\n\nhttps://www.example.com/a/path/that/is/too/long/to/be/shown @friend@elsewhere.test #tag'
    const { body } = await post({ status: ` ${text}\n` })
    expect(body['content']).toContain('<p>a &lt; b</p><p><a href="https://www.example.com/a/path')
    expect(body['content']).toContain('<span class="invisible">https://www.</span><span class="ellipsis">')
    const source = await call(url, `/api/v1/statuses/${body['id']}/source`, { token: account.accessToken })
    expect(source.body).toEqual({ id: body['id'], text, spoiler_text: '' })
    const page = await call(url, new URL(body['url']).pathname)
    expect(page).toMatchObject({ status: 200, body: expect.stringContaining('a &lt; b') })
    expect((await call(url, '/')).body).toContain(account.handle.split('@')[0])
  })

  it('statuses are listed newest first, in pages', async () => {
    const { accountId, accessToken: token } = await world.newAccount()
    for (const status of ['1', '2', '3']) await post({ status }, { token })
    const page = async (query: string) => {
      const answer = await call(url, `/api/v1/accounts/${accountId}/statuses?${query}`, { token })
      return answer.body as { id: string; content: string }[]
    }
    const [newest, next] = await page('limit=2')
    expect([newest, next].map((status) => status?.content)).toEqual(['<p>3</p>', '<p>2</p>'])
    expect((await page(`limit=2&max_id=${next!.id}`)).map(({ content }) => content)).toEqual(['<p>1</p>'])
  })

  it('a status is deleted by its author only', async () => {
    const { body } = await post({ status: 'mine' })
    const remove = (token: string) => call(url, `/api/v1/statuses/${body['id']}`, { method: 'DELETE', token })
    expect(await remove((await world.newAccount()).accessToken)).toMatchObject({ status: 404 })
    expect(await remove(account.accessToken)).toMatchObject({ status: 200, body: { text: 'mine' } })
    expect(await call(url, `/api/v1/statuses/${body['id']}`)).toMatchObject({ status: 404 })
  })

  it('a status shows the counts that were set', async () => {
    const { body } = await post({ status: 'liked' })
    await world.control.setMetrics(body['id'], { favourites: 3, reblogs: 2 })
    expect(await call(url, `/api/v1/statuses?id[]=${body['id']}&id[]=1`)).toMatchObject({
      body: [{ favourites_count: 3, reblogs_count: 2, replies_count: 0 }],
    })
  })
})

describe('media', () => {
  it('an image is ready immediately and belongs to one status', async () => {
    const image = await upload(await png(), 'image/png', 'red')
    expect(image).toMatchObject({ status: 200, body: { type: 'image', description: 'red' } })
    const id = image.body['id'] as string
    expect(await post({ status: '', media_ids: [id] })).toMatchObject({
      status: 200,
      body: { media_attachments: [{ id }] },
    })
    expect(await post({ status: 'again', media_ids: [id] })).toMatchObject({ status: 422 })
    const found = await call(url, `/api/v1/media/${id}`, { token: account.accessToken })
    expect(found.status).toBe(404)
    expect((await call(url, `/media/${id}`)).headers.get('content-type')).toBe('image/png')
  })

  it('a video is processed and cannot be attached until then', async () => {
    const video = await upload(film(), 'video/mp4')
    expect(video).toMatchObject({ status: 202, body: { type: 'video', url: null } })
    const id = video.body['id'] as string
    const found = () => call(url, `/api/v1/media/${id}`, { token: account.accessToken })
    expect((await found()).status).toBe(206)
    expect(await post({ status: 'too early', media_ids: [id] })).toMatchObject({
      status: 422,
      body: { error: 'Cannot attach files that have not finished processing. Try again in a moment!' },
    })
    await expect.poll(async () => (await found()).status).toBe(200)
    const image = (await upload(await png(), 'image/png')).body['id'] as string
    expect(await post({ status: 'mixed', media_ids: [id, image] })).toMatchObject({
      status: 422,
      body: { error: 'Cannot attach a video to a post that already contains images' },
    })
    expect(await post({ status: 'alone', media_ids: [id] })).toMatchObject({ status: 200 })
  })

  it('a video without an index is accepted, and its processing fails', async () => {
    const video = await upload(new Uint8Array(film({ indexFirst: false }).subarray(0, 900)), 'video/mp4')
    expect(video.status).toBe(202)
    const id = video.body['id'] as string
    const found = () => call(url, `/api/v1/media/${id}`, { token: account.accessToken })
    await expect.poll(found).toMatchObject({
      status: 422,
      body: { error: 'Error processing thumbnail for uploaded media' },
    })
    expect(await post({ status: 'x', media_ids: [id] })).toMatchObject({ status: 422 })
  })

  it('a file is visible to its owner only', async () => {
    const id = (await upload(await png(), 'image/png')).body['id'] as string
    const other = await world.newAccount()
    expect(await post({ status: 'taken', media_ids: [id] }, { token: other.accessToken })).toMatchObject({
      status: 422,
    })
  })

  it.each([
    ['text', new Uint8Array(Buffer.from('hello')), 'text/plain'],
    ['an image that says it is another', new Uint8Array(Buffer.from('hello')), 'image/png'],
    ['a film that says it is an image', film(), 'image/png'],
  ])('an upload is refused for %s', async (_, bytes, type) => {
    expect(await upload(bytes, type)).toMatchObject({
      status: 422,
      body: { error: 'Validation failed: File content type is invalid, File is invalid' },
    })
  })

  it('images with too many pixels and descriptions that are too long are refused', async () => {
    expect(await upload(await png(6_000, 6_000), 'image/png')).toMatchObject({ status: 422 })
    expect(await upload(await png(), 'image/png', 'x'.repeat(1_501))).toMatchObject({ status: 422 })
  })

  it.each([
    ['more pixels', { width: 4_096, height: 2_160 }, '4096x2160 videos are not supported'],
    ['more frames a second', { frameRate: 121 }, '121fps videos are not supported'],
    ['no picture', { codec: null }, 'Video has no video stream'],
  ])('a video with %s than the limits is refused', async (_, options, error) => {
    expect(await upload(film(options), 'video/mp4')).toMatchObject({ status: 422, body: { error } })
  })

  it('a video at the limits is accepted, lying or upright', async () => {
    for (const shape of [{}, { isTurned: true }]) {
      const largest = film({ width: 3_840, height: 2_160, frameRate: 120, ...shape })
      expect(await upload(largest, 'video/mp4')).toMatchObject({ status: 202 })
    }
  })
})

describe('other servers', () => {
  it('a server speaks the language of its operator', async () => {
    const german = await mastodonWorld(media, { language: 'de' })
    try {
      const { accessToken: token } = await german.newAccount()
      const error = async (status: object, by = token) => {
        const init = { method: 'POST', token: by, headers: { 'content-type': 'application/json' } }
        const answer = await call(german.mastodon.url, '/api/v1/statuses', { ...init, body: JSON.stringify(status) })
        return (answer.body as { error: string }).error
      }
      expect(await error({ status: 'x'.repeat(501) })).toMatch(/^Gültigkeitsprüfung .*500 Zeichen/)
      expect(await error({ status: '' })).toMatch(/^Gültigkeitsprüfung .*ausgefüllt werden$/)
      expect(await error({ status: 'x', media_ids: ['1'] })).toMatch(/^Medieninhalte 1 nicht gefunden/)
      expect(await error({ status: 'x' }, 'no-token')).toBe('Der Zugriffs-Token ist ungültig')
    } finally {
      await german.stop()
    }
  })

  it('a server may publish without the files that it does not have ready, and name files anew', async () => {
    const other = await mastodonWorld(media, { dropsMedia: true, renamesMedia: true, processingMs: 60_000 })
    try {
      const { accessToken: token } = await other.newAccount()
      const send = async (path: string, body: string | FormData, headers = {}) =>
        (await call(other.mastodon.url, path, { method: 'POST', token, body, headers })).body as Record<string, unknown>
      const file = async (bytes: Uint8Array<ArrayBuffer>, type: string) => {
        const body = new FormData()
        body.set('file', new File([bytes], 'file', { type }))
        return (await send('/api/v2/media', body))['id'] as string
      }
      const [image, video] = [await file(await png(), 'image/png'), await file(film(), 'video/mp4')]
      const shown = async (media_ids: string[]) => {
        const status = JSON.stringify({ status: 'x', media_ids })
        const { media_attachments } = await send('/api/v1/statuses', status, { 'content-type': 'application/json' })
        return (media_attachments as { id: string }[]).map(({ id }) => id)
      }
      expect(await shown([image, '1'])).toEqual([`9${image}`])
      expect(await shown([video])).toEqual([])
    } finally {
      await other.stop()
    }
  })
})

it('responses state the remaining rate limit, and requests beyond it are refused', async () => {
  const strict = await mastodonWorld(media, { rateLimits: { statuses: { max: 2, seconds: 10_800 } } })
  try {
    const { accessToken: token } = await strict.newAccount()
    const publish = () =>
      call(strict.mastodon.url, '/api/v1/statuses', { method: 'POST', token, body: form({ status: randomUUID() }) })
    const first = await publish()
    expect(first.headers.get('x-ratelimit-limit')).toBe('2')
    expect(first.headers.get('x-ratelimit-remaining')).toBe('1')
    expect(first.headers.get('x-ratelimit-reset')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    await publish()
    expect(await publish()).toMatchObject({ status: 429, body: { error: 'Too many requests' } })
    expect(await strict.control.ledger()).toHaveLength(2)
  } finally {
    await strict.stop()
  }
})

it('accounts, statuses and the address survive a restart', async () => {
  const dir = temporaryFolder()
  const first = await startMastodon({ dir })
  const app = first.createApp({ name: 'postonce', redirectUris: [REDIRECT_URI] })
  const owner = first.createAccount({ username: 'ann' })
  const status = first.publishElsewhere(owner, 'before')
  const gone = first.publishElsewhere(owner, 'deleted')
  await controlOf(first).deletePost(gone.id)
  await first.stop()
  const second = await startMastodon({ dir })
  try {
    expect(second.url).toBe(first.url)
    expect(second.createAccount({ username: 'ann' })).toEqual(owner)
    expect(second.createApp({ name: 'postonce', redirectUris: [REDIRECT_URI] })).toEqual(app)
    expect((await controlOf(second).ledger()).map(({ id }) => id)).toEqual([status.id])
  } finally {
    await second.stop()
  }
})

it('the request log has the text and account of calls that make posts visible', async () => {
  const as = await world.newAccount()
  const log = newDelivery()
  await world.adapter.publish(newPost('seen'), as, log, { signal: AbortSignal.timeout(60_000) })
  expect((await world.control.requests()).at(-1)).toMatchObject({
    method: 'POST',
    path: '/api/v1/statuses',
    account: as.accountId,
    status: 200,
    text: 'seen',
  })
})
