import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../../../src/api/app.ts'
import { changeRole } from '../../../../src/commands/users/change-role.ts'
import type { Context } from '../../../../src/context.ts'
import { CLI_ACTOR } from '../../../../src/domain/users/audit.ts'
import { createLogger } from '../../../../src/logger.ts'
import { ServiceError, validationFailed } from '../../../../src/domain/shared/service-error.ts'
import { apiWorld, PASSWORD, createAccount, rawJson, signIn, type ApiWorld } from '../../../support/api.ts'

let world: ApiWorld
beforeAll(async () => {
  world = await apiWorld({ CORS_ORIGINS: 'https://app.example.test, http://other.test:8080' })
})
afterAll(() => world.close())

const apps: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close()
})

/** Builds another app on the same context with changes. */
async function appWith(changes: Partial<Context>) {
  const app = await buildApp({ ...world.context, ...changes })
  apps.push(app)
  return app
}

const withConfig = (config: Partial<Context['config']>) => appWith({ config: { ...world.context.config, ...config } })

/** The log of an app, line by line. */
function logLines() {
  const lines: string[] = []
  return { lines, logger: createLogger('info', { write: (line) => void lines.push(line) }) }
}

/** Sends raw bytes and returns the first line of the response. */
async function statusLine(app: FastifyInstance, request: string): Promise<string> {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  socket.end(request)
  const [data] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return data.toString().split('\r\n', 1)[0]!
}

describe('response headers', () => {
  it('user responses forbid caching, and polled statuses require revalidation', async () => {
    const { headers } = await signIn(world.context)
    for (const url of [
      '/api/posts',
      '/api/platform/find',
      '/api/payments/status',
      '/api/auth/me',
      '/api/notifications',
    ]) {
      const response = await world.app.inject({ url, headers })
      expect(response.headers['cache-control'], url).toBe('no-store')
      expect(response.statusCode, url).not.toBe(404)
    }
    const payload = { content: { text: 'Hello' }, selectedPlatforms: ['bluesky'], status: 'DRAFT' }
    const created = await world.app.inject({ method: 'POST', url: '/api/posts', headers, payload })
    const status = await world.app.inject({ url: `/api/posts/${created.json().data.postId}/status`, headers })
    expect(status.headers).toMatchObject({ 'cache-control': 'private, no-cache', etag: expect.any(String) })
  })

  it('a response repeats a well-formed request id', async () => {
    for (const id of ['a', 'b7c1e2d4-6c1f-4f0c-9a51-7f9a3f0e2b11', 'trace:1.2_3']) {
      const response = await world.app.inject({ url: '/nowhere', headers: { 'x-request-id': id } })
      expect(response.headers['x-request-id']).toBe(id)
      expect(response.json().requestId).toBe(id)
    }
  })

  it('a response replaces a malformed request id', async () => {
    const ids = new Set<unknown>()
    for (const id of ['', 'a b', 'a"b', '<script>', 'x'.repeat(129), 'é']) {
      const response = await world.app.inject({ url: '/nowhere', headers: { 'x-request-id': id } })
      expect(response.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
      ids.add(response.json().requestId)
    }
    expect(ids.size).toBe(6)
  })

  it('a response has security headers and does not reveal the server software', async () => {
    const { headers } = await world.app.inject({ url: '/health/live' })
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
    })
    expect(headers).not.toHaveProperty('x-powered-by')
    expect(headers).not.toHaveProperty('server')
  })
})

describe('error responses', () => {
  it('unknown paths are 404 for every method', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
      for (const url of ['/', '/api', '/api/nothing', '/API/posts', '/api/v1/posts', '/api/auth/login/more']) {
        const response = await world.app.inject({ method, url })
        expect(response.statusCode).toBe(404)
        expect(response.json()).toEqual({
          success: false,
          message: 'Not found',
          statusCode: 404,
          code: 'NOT_FOUND',
          requestId: response.headers['x-request-id'],
        })
      }
    }
  })

  it('known paths are 405 for other methods and list the allowed ones', async () => {
    const response = await world.app.inject({ method: 'PATCH', url: '/api/auth/login?x=1' })
    expect(response.statusCode).toBe(405)
    expect(response.headers.allow).toBe('POST')
    expect(response.json()).toMatchObject({ success: false, statusCode: 405, code: 'METHOD_NOT_ALLOWED' })
    const post = await world.app.inject({ method: 'POST', url: `/api/posts/${'0'.repeat(24)}` })
    expect(post.headers.allow).toBe('DELETE, GET, HEAD, PATCH, PUT')
  })

  it('every other method that Node parses is 405, including QUERY, with and without a body', async () => {
    const app = await appWith({})
    await app.listen({ port: 0, host: '127.0.0.1' })
    for (const method of ['QUERY', 'PROPFIND', 'PURGE', 'TRACE']) {
      expect(await statusLine(app, `${method} /api/posts HTTP/1.1\r\nHost: test\r\n\r\n`)).toContain(' 405 ')
    }
    const query = 'QUERY /api/nothing HTTP/1.1\r\nHost: test\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nhi'
    expect(await statusLine(app, query)).toContain(' 404 ')
  })

  it('a 401 names the authentication scheme', async () => {
    const wrong = { email: 'nobody@example.test', password: 'wrong password' }
    for (const response of [
      await world.app.inject({ url: '/api/posts' }),
      await world.app.inject({ method: 'POST', url: '/api/auth/login', payload: wrong }),
    ]) {
      expect(response).toMatchObject({ statusCode: 401, headers: { 'www-authenticate': 'Bearer' } })
    }
  })

  it('two Host headers are 400, and a body in another charset than UTF-8 is 415', async () => {
    const app = await appWith({})
    await app.listen({ port: 0, host: '127.0.0.1' })
    const twoHosts = 'GET /health/live HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n'
    expect(await statusLine(app, twoHosts)).toContain(' 400 ')
    const post = (charset: string) =>
      world.app.inject({
        method: 'POST',
        url: '/api/auth/request-otp',
        headers: { 'content-type': `application/json; charset=${charset}` },
        payload: JSON.stringify({ email: 'not a mail address' }),
      })
    for (const charset of ['utf-16', '"UTF-16LE"', 'iso-8859-1', 'utf-7', '']) {
      expect(await post(charset), charset).toMatchObject({ statusCode: 415 })
    }
    for (const charset of ['utf-8', 'UTF8', '"utf-8"'])
      expect(await post(charset), charset).toMatchObject({ statusCode: 400 })
  })

  it.each(['/%', '/%ff', '/api/posts/%E0%A4%A', '/%c0%ae%c0%ae/'])('the path %s is 400', async (url) => {
    const response = await world.app.inject({ url })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({
      success: false,
      code: 'BAD_REQUEST',
      message: 'Request path is not valid. Correct its percent-encoding.',
    })
    expect(response.headers['x-request-id']).toBe(response.json().requestId)
  })

  it('a validation error has all problems of the input with their details', async () => {
    const app = await appWith({})
    app.get('/test/problems', () => {
      throw validationFailed([
        { path: 'content.text', code: 'TEXT_TOO_LONG', message: 'content.text is too long', platform: 'bluesky' },
        { path: 'timezone', code: 'INVALID', message: 'is no timezone' },
      ])
    })
    app.get('/test/limit', () => {
      throw new ServiceError('POST_LIMIT_REACHED', 'Limit reached (30/30)', { details: { usage: 30, limit: 30 } })
    })
    app.get('/test/wait', () => {
      throw new ServiceError('RATE_LIMITED', 'Too many requests', { retryAfterSeconds: 7 })
    })
    expect((await app.inject({ url: '/test/problems' })).json()).toEqual({
      success: false,
      message: 'Validation failed: content.text is too long',
      statusCode: 400,
      code: 'VALIDATION_FAILED',
      requestId: expect.any(String),
      errors: [
        { path: 'content.text', code: 'TEXT_TOO_LONG', message: 'content.text is too long', platform: 'bluesky' },
        { path: 'timezone', code: 'INVALID', message: 'is no timezone' },
      ],
    })
    expect((await app.inject({ url: '/test/limit' })).json()).toMatchObject({ statusCode: 403, usage: 30, limit: 30 })
    expect((await app.inject({ url: '/test/wait' })).headers['retry-after']).toBe('7')
  })

  it.each([
    ['before it is read', 0],
    ['while it is read', 1],
  ])('a client that ends its request before its body, %s, causes no server error', async (_, readers) => {
    const { lines, logger } = logLines()
    const app = await appWith({ logger })
    const address = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
    const socket = connect(Number(address.port), address.hostname)
    const head =
      'POST /api/auth/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n'
    socket.write(`${head}{`)
    const [request] = (await once(app.server, 'request')) as [IncomingMessage]
    await expect.poll(() => request.listenerCount('data')).toBeGreaterThanOrEqual(readers)
    socket.resetAndDestroy()
    await new Promise((resolve) => request.once('close', resolve))
    await app.close()
    const levels = lines.map((line) => (JSON.parse(line) as { level: string }).level)
    expect(
      levels.filter((level) => level === 'error'),
      lines.join(''),
    ).toEqual([])
  })

  it('unexpected errors are logged in full and answered with a generic 500', async () => {
    const { lines, logger } = logLines()
    const app = await appWith({ logger })
    app.get('/test/broken', () => {
      throw new TypeError('the innermost secret at /usr/src', { cause: new Error('the cause of it') })
    })
    const response = await app.inject({ url: '/test/broken', headers: { 'x-request-id': 'request-1' } })
    expect(response.statusCode).toBe(500)
    expect(response.json()).toEqual({
      success: false,
      message: 'Internal server error',
      statusCode: 500,
      code: 'INTERNAL',
      requestId: 'request-1',
    })
    const logged = lines.map((line) => JSON.parse(line)).find(({ level }) => level === 'error')
    expect(logged).toMatchObject({ requestId: 'request-1', err: { type: 'TypeError' }, errorCode: 'INTERNAL' })
    expect(logged.err.stack).toContain('the innermost secret at /usr/src')
    expect(logged.err.stack).toContain('the cause of it')
  })

  it.each([
    'MongoServerSelectionError',
    'MongoPoolClearedError',
    'MongoOperationTimeoutError',
    'MongooseServerSelectionError',
  ])('an unavailable database (%s) is 503', async (name) => {
    const app = await appWith({})
    app.get('/test/outage', () => {
      throw Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:27017'), { name })
    })
    const response = await app.inject({ url: '/test/outage' })
    expect(response.statusCode).toBe(503)
    expect(response.headers['retry-after']).toBe('2')
    expect(response.json()).toMatchObject({ success: false, code: 'SERVICE_UNAVAILABLE' })
    expect(response.body).not.toContain('10.0.0.1')
  })

  it('a hanging handler is answered within its deadline and aborted', async () => {
    const app = await appWith({})
    let reason: unknown
    app.post(
      '/test/hang',
      { config: { deadlineMs: 50 } },
      (request) =>
        new Promise((resolve) => {
          request.deadline.addEventListener('abort', () => {
            ;({ reason } = request.deadline)
            resolve({ late: true })
          })
        }),
    )
    const response = await app.inject({ method: 'POST', url: '/test/hang', payload: { a: 1 } })
    expect(response.statusCode).toBe(503)
    expect(response.json()).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(reason).toBeInstanceOf(ServiceError)
  })
})

describe('request bodies', () => {
  it('body values are never coerced, while numbers in queries are parsed', async () => {
    const app = await appWith({})
    const body = {
      type: 'object',
      required: ['flag', 'count', 'text'],
      properties: { flag: { type: 'boolean' }, count: { type: 'integer' }, text: { type: 'string' } },
    }
    const querystring = {
      type: 'object',
      properties: { page: { type: 'integer', default: 1 }, deep: { type: 'boolean' }, ratio: { type: 'number' } },
    }
    app.post('/test/body', { schema: { body } }, ({ body: parsed }) => parsed)
    app.get('/test/query', { schema: { querystring } }, ({ query }) => query)

    const post = (payload: object) => app.inject({ method: 'POST', url: '/test/body', payload })
    expect((await post({ flag: true, count: 1, text: 'x' })).json()).toEqual({ flag: true, count: 1, text: 'x' })
    for (const wrong of [
      { flag: 'true' },
      { flag: 0 },
      { flag: null },
      { count: '1' },
      { count: 1.5 },
      { text: 1 },
      { text: null },
    ]) {
      const response = await post({ flag: true, count: 1, text: 'x', ...wrong })
      expect(response.statusCode, JSON.stringify(wrong)).toBe(400)
      expect(response.json().errors).toEqual([expect.objectContaining({ path: Object.keys(wrong)[0], code: 'TYPE' })])
    }

    const get = (query: string) => app.inject({ url: `/test/query?${query}` })
    expect((await get('')).json()).toEqual({ page: 1 })
    expect((await get('page=20&deep=true&ratio=0.5&unknown=1')).json()).toEqual({ page: 20, deep: true, ratio: 0.5 })
    for (const wrong of [
      'page=',
      'page=1.0',
      'page=1e3',
      'page=0x10',
      'page=+1',
      'page=%201',
      'page=1&page=2',
      'deep=1',
      'deep=TRUE',
      'ratio=.5',
    ]) {
      expect((await get(wrong)).statusCode, wrong).toBe(400)
    }
  })

  it('unknown fields and prototypes are dropped from bodies at any depth', async () => {
    const app = await appWith({})
    const inner = { type: 'object', properties: { text: { type: 'string' } } }
    const body = { type: 'object', properties: { content: inner, list: { type: 'array', items: inner } } }
    app.post('/test/names', ({ body: parsed }) => Object.getOwnPropertyNames(parsed))
    app.post('/test/fields', { schema: { body } }, ({ body: parsed }) => parsed as object)
    const response = await app.inject({
      method: 'POST',
      url: '/test/fields',
      ...rawJson(
        '{"role":"admin","__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}},"_id":1,' +
          '"content":{"text":"x","userId":"y","__proto__":{"isAdmin":true}},"list":[{"text":"z","limits":{}}]}',
      ),
    })
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual({ content: { text: 'x' }, list: [{ text: 'z' }] })
    expect({}).not.toHaveProperty('isAdmin')

    const names = await app.inject({
      method: 'POST',
      url: '/test/names',
      ...rawJson('{"__proto__":{"isAdmin":true},"a":1}'),
    })
    expect(names.json()).toEqual(['a'])
  })

  it('a body may have 64 KiB and 32 levels of nesting', async () => {
    const app = await appWith({})
    app.post('/test/size', ({ body }) => ({ length: JSON.stringify(body).length }))
    const text = `"${'a'.repeat(65_536 - 2)}"`
    const largest = await app.inject({ method: 'POST', url: '/test/size', ...rawJson(text) })
    expect(largest.json()).toEqual({ length: text.length })
    const nested = (levels: number) => rawJson(`${'['.repeat(levels)}${']'.repeat(levels)}`)
    expect(await app.inject({ method: 'POST', url: '/test/size', ...nested(32) })).toMatchObject({ statusCode: 200 })
    expect(await app.inject({ method: 'POST', url: '/test/size', ...nested(33) })).toMatchObject({ statusCode: 400 })
  })

  it('a body may contain any well-formed text', async () => {
    const app = await appWith({})
    app.post('/test/text', ({ body }) => body as object)
    const text = { text: '\ufeffé \ud83d\udca9 \u202e \u0001 \uffff' }
    expect((await app.inject({ method: 'POST', url: '/test/text', payload: text })).json()).toEqual(text)
  })
})

interface OpenApiDocument {
  paths: Record<string, Record<string, { parameters?: { name: string; in: string }[] }>>
  components: { headers: Record<string, unknown> }
}

const parseHeaderList = (value: unknown) => new Set(String(value).toLowerCase().split(', '))

describe('CORS', () => {
  const preflight = (origin: string) =>
    world.app.inject({
      method: 'OPTIONS',
      url: '/api/posts',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
    })

  it.each(['http://localhost:3000', 'https://app.example.test', 'http://other.test:8080'])(
    'the origin %s is allowed',
    async (origin) => {
      const response = await preflight(origin)
      expect(response.statusCode).toBe(204)
      expect(response.headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
      })
      const { headers } = await world.app.inject({ url: '/api/posts', headers: { origin } })
      expect(headers).toMatchObject({
        'access-control-allow-origin': origin,
        vary: 'Origin',
      })
    },
  )

  it('pages of other origins may send and read every header that the document names for clients', async () => {
    const document = (await world.app.inject({ url: '/api/openapi.json' })).json<OpenApiDocument>()
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
    const sent = operations.flatMap(({ parameters = [] }) => parameters.filter((one) => one.in === 'header'))
    const names = new Set(sent.map(({ name }) => name).filter((name) => name !== 'stripe-signature'))
    const origin = 'https://app.example.test'
    const allowed = parseHeaderList((await preflight(origin)).headers['access-control-allow-headers'])
    expect([...names].filter((name) => !allowed.has(name))).toEqual([])
    const { headers } = await world.app.inject({ url: '/api/posts', headers: { origin } })
    const exposed = parseHeaderList(headers['access-control-expose-headers'])
    // Browsers follow redirects and store cookies themselves.
    const read = Object.keys(document.components.headers).filter((name) => !['Location', 'Set-Cookie'].includes(name))
    expect(read.filter((name) => !exposed.has(name.toLowerCase()))).toEqual([])
    expect(names.size + read.length).toBeGreaterThan(8)
  })

  it.each([
    'null',
    'http://localhost:3001',
    'https://localhost:3000',
    'http://localhost:3000.evil.test',
    'https://evil.test',
  ])('the origin %s is not allowed', async (origin) => {
    expect((await preflight(origin)).headers).not.toHaveProperty('access-control-allow-origin')
    const { headers } = await world.app.inject({ url: '/api/posts', headers: { origin } })
    expect(headers).not.toHaveProperty('access-control-allow-origin')
  })
})

describe('rate limits', () => {
  it('rate limits count per address, report their state and say when to retry', async () => {
    const app = await withConfig({ RATE_LIMIT_PER_ADDRESS: 2 })
    const get = (remoteAddress: string) => app.inject({ url: '/nowhere', remoteAddress })
    const first = await get('10.0.0.1')
    expect(first.headers['ratelimit-policy']).toBe('"address";q=2;w=60')
    expect(first.headers.ratelimit).toMatch(/^"address";r=1;t=(60|59)$/)
    await get('10.0.0.1')
    const refused = await get('10.0.0.1')
    expect(refused.statusCode).toBe(429)
    expect(refused.json()).toMatchObject({
      success: false,
      message: expect.stringMatching(/^Too many requests from this address\. Try again in (60|5\d) seconds\.$/),
      code: 'RATE_LIMITED',
      bucket: 'address',
    })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(50)
    expect(refused.headers.ratelimit).toMatch(/^"address";r=0;t=/)
    expect(refused.headers['access-control-expose-headers']).toContain('RateLimit')
    expect(await get('10.0.0.2')).toMatchObject({ statusCode: 404 })
  })

  it('rate limits count per user across addresses', async () => {
    const app = await withConfig({ RATE_LIMIT_PER_USER: 2 })
    const [ann, bob] = [await signIn(world.context), await signIn(world.context)]
    const me = (headers: object, remoteAddress: string) =>
      app.inject({ url: '/api/auth/me', headers: { ...headers }, remoteAddress })
    const first = await me(ann.headers, '10.0.1.1')
    expect(first.headers['ratelimit-policy']).toBe('"address";q=1000000;w=60, "user";q=2;w=60')
    await me(ann.headers, '10.0.1.2')
    const refused = await me(ann.headers, '10.0.1.3')
    expect(refused.statusCode).toBe(429)
    expect(refused.json()).toMatchObject({ bucket: 'user' })
    expect(await me(bob.headers, '10.0.1.3')).toMatchObject({ statusCode: 200 })
  })

  it('an IPv6 network counts as a single address', async () => {
    const app = await withConfig({ RATE_LIMIT_PER_ADDRESS: 1 })
    const get = (remoteAddress: string) => app.inject({ url: '/nowhere', remoteAddress })
    expect(await get('2001:db8:1:2::1')).toMatchObject({ statusCode: 404 })
    expect(await get('2001:db8:1:2:ffff::9')).toMatchObject({ statusCode: 429 })
    expect(await get('2001:db8:1:3::1')).toMatchObject({ statusCode: 404 })
  })

  it('X-Forwarded-For is trusted only from configured proxies', async () => {
    const settings = { RATE_LIMIT_PER_ADDRESS: 1, TRUSTED_PROXIES: '10.9.0.0/16, 192.0.2.1' }
    const app = await withConfig(settings)
    const get = (remoteAddress: string, forwarded: string) =>
      app.inject({ url: '/nowhere', remoteAddress, headers: { 'x-forwarded-for': forwarded } })
    expect(await get('10.9.1.1', '203.0.113.1')).toMatchObject({ statusCode: 404 })
    expect(await get('10.9.1.1', '203.0.113.2')).toMatchObject({ statusCode: 404 })
    expect(await get('192.0.2.1', '198.51.100.1, 203.0.113.2')).toMatchObject({ statusCode: 429 })
    expect(await get('198.51.100.7', '203.0.113.8')).toMatchObject({ statusCode: 404 })
    expect(await get('198.51.100.7', '203.0.113.9')).toMatchObject({ statusCode: 429 })
  })
})

describe('requireAdmin', () => {
  it('requireAdmin accepts admins, returns 403 to users and 401 without a session, and reads the record every time', async () => {
    const app = await appWith({})
    app.get('/test/admin', { onRequest: app.requireAdmin }, ({ user }) => ({ role: user.role }))
    const ann = await signIn(world.context)
    const ask = (headers = {}) => app.inject({ url: '/test/admin', headers })
    expect((await ask()).json()).toMatchObject({ statusCode: 401, message: 'Unauthorized' })
    expect((await ask(ann.headers)).json()).toMatchObject({
      statusCode: 403,
      message: 'Forbidden - Admin only',
      code: 'FORBIDDEN',
    })
    await changeRole(world.context, CLI_ACTOR, ann.user._id, 'admin')
    expect((await ask(ann.headers)).json()).toEqual({ role: 'admin' })
    await changeRole(world.context, CLI_ACTOR, ann.user._id, 'user')
    expect(await ask(ann.headers)).toMatchObject({ statusCode: 403 })
  })
})

async function createKey(app: FastifyInstance, accessToken: string): Promise<{ id: string; key: string }> {
  const response = await app.inject({
    method: 'POST',
    url: '/api/keys',
    headers: { authorization: `Bearer ${accessToken}` },
    payload: { name: 'Import', scopes: ['posts:read'] },
  })
  return response.json().data
}

describe('the request log', () => {
  it('the log has a line per request with id and route and without secrets', async () => {
    const { lines, logger } = logLines()
    const app = await appWith({ logger })
    const user = await createAccount(world.context, { withPassword: true })
    const canary = 'canary-7f3a'
    const login = await app.inject({
      method: 'POST',
      url: `/api/auth/login?code=${canary}&state=${canary}`,
      payload: { email: user.email, password: PASSWORD },
      headers: { 'x-request-id': 'login-1', 'user-agent': `agent\n${'x'.repeat(500)}` },
    })
    const token: string = login.json().data.accessToken
    await app.inject({
      url: '/api/auth/me',
      headers: { authorization: `Bearer ${token}`, cookie: `refreshToken=${canary}`, 'x-request-id': 'me-1' },
    })
    const { id: keyId, key } = await createKey(app, token)
    const keyHeaders = { authorization: `Bearer ${key}`, 'user-agent': key, 'x-request-id': 'key-1' }
    await app.inject({ url: `/api/posts?q=${key}`, headers: keyHeaders })
    logger.warn({ err: new Error(`No such key: ${key}`), field: key }, `key ${key}`)
    await app.inject({ url: `/nowhere/${canary}?token=${canary}` })
    await app.inject({ method: 'POST', url: '/api/auth/login', payload: { email: canary, password: canary } })

    const text = lines.join('')
    for (const secret of [
      canary,
      PASSWORD,
      user.email,
      token,
      key.slice('po_live_'.length),
      String(login.cookies[0]!.value),
    ]) {
      expect(text).not.toContain(secret)
    }
    const logged = lines.map((line) => JSON.parse(line))
    expect(logged.find(({ requestId }) => requestId === 'login-1')).toMatchObject({
      level: 'info',
      method: 'POST',
      route: '/api/auth/login',
      statusCode: 200,
      durationMs: expect.any(Number),
    })
    expect(logged.find(({ requestId }) => requestId === 'me-1')).toMatchObject({
      userId: user._id,
      route: '/api/auth/me',
    })
    expect(logged.find(({ requestId }) => requestId === 'key-1')).toMatchObject({
      userId: user._id,
      keyId,
      userAgent: 'po_live_[redacted]',
    })
    expect(logged.at(-3)).toMatchObject({ msg: 'key po_live_[redacted]', field: 'po_live_[redacted]' })
    expect(Math.max(...logged.map(({ userAgent }) => userAgent?.length ?? 0))).toBeLessThanOrEqual(200)
    for (const line of lines) expect(line.trim()).not.toContain('\n')
  })
})

interface Operation {
  operationId: string
  parameters?: { name: string; required?: boolean; schema: object }[]
  requestBody?: object
  responses: Record<string, { headers?: object }>
}

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: object; responses: Record<string, { headers: object }> }
}

function operationsOf(paths: Document['paths']): Operation[] {
  return Object.values(paths).flatMap((path) => Object.values(path))
}

describe('the OpenAPI document', () => {
  it('the OpenAPI 3.1 document describes every route with tags, summaries and credentials', async () => {
    const response = await world.app.inject({ url: '/api/openapi.json' })
    expect(response.statusCode).toBe(200)
    const document = response.json()
    expect(document.openapi).toBe('3.1.0')
    const operations = Object.values(
      document.paths as Record<string, Record<string, { responses: Record<string, object> }>>,
    ).flatMap((path) => Object.values(path))
    expect(operations.length).toBeGreaterThan(20)
    for (const operation of operations) {
      // A browser route always redirects.
      const isRedirect = '302' in operation.responses
      expect(operation).toMatchObject({
        tags: [expect.any(String)],
        summary: expect.any(String),
        operationId: expect.any(String),
        responses: isRedirect ? {} : { 500: expect.any(Object), 503: expect.any(Object) },
      })
    }
    expect(document.paths['/api/posts/{postId}'].get.security).toEqual([{ bearer: [] }, { apiKey: ['posts:read'] }])
    expect(document.paths['/api/auth/login'].post.security).toEqual([])
    expect(document.paths['/api/admin/audit'].get.security).toEqual([{ bearer: ['admin'] }])
    expect(document.components.securitySchemes.bearer).toMatchObject({ type: 'http', scheme: 'bearer' })
    const references = [...response.body.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(
      (match) => match[1]!,
    )
    expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining([...new Set(references)]))
  })

  it('no query parameter with a default is required', async () => {
    const { paths } = (await world.app.inject({ url: '/api/openapi.json' })).json<Document>()
    const parameters = operationsOf(paths).flatMap(({ parameters = [] }) => parameters)
    const withDefault = parameters.filter(({ schema }) => 'default' in schema)
    expect(withDefault.length).toBeGreaterThan(10)
    expect(withDefault.filter(({ required }) => required)).toEqual([])
  })

  it('the document has no unmatchable schema and no unnamed default response', async () => {
    const { body } = await world.app.inject({ url: '/api/openapi.json' })
    expect(body).not.toContain('"not":{}')
    expect(body).not.toContain('Default Response')
    expect(body).not.toContain('4XX')
  })

  it('schemas that several routes share have names', async () => {
    const { components } = (await world.app.inject({ url: '/api/openapi.json' })).json<Document>()
    expect(Object.keys(components.schemas)).toEqual(
      expect.arrayContaining(['Post', 'User', 'Notification', 'PlatformConnection', 'MetricsSnapshot', 'Error']),
    )
  })

  it('every operation has a unique id', async () => {
    const { paths } = (await world.app.inject({ url: '/api/openapi.json' })).json<Document>()
    const ids = operationsOf(paths).map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([])
  })

  it('every route lists its error codes by status', async () => {
    const { paths } = (await world.app.inject({ url: '/api/openapi.json' })).json<Document>()
    const { responses } = paths['/api/posts/{postId}/retry']!['post']!
    expect(JSON.stringify(responses['400'])).toContain('"NO_FAILED_PLATFORMS"')
    expect(JSON.stringify(responses['403'])).toContain('"POST_LIMIT_REACHED"')
    expect(JSON.stringify(responses['409'])).toContain('/PostInProgress"')
    expect(responses).not.toHaveProperty('422')
  })

  it('the document declares the headers for limits, retries, caching and authentication', async () => {
    const { paths, components } = (await world.app.inject({ url: '/api/openapi.json' })).json<Document>()
    expect(components.responses['RateLimited']?.headers).toHaveProperty('Retry-After')
    expect(components.responses['RateLimited']?.headers).toHaveProperty('RateLimit-Policy')
    expect(components.responses['Unauthorized']?.headers).toHaveProperty('WWW-Authenticate')
    expect(paths['/api/posts/{postId}/status']!['get']!.responses['200']?.headers).toHaveProperty('ETag')
  })

  it('the document describes the requests of platforms and the payment processor', async () => {
    const { paths } = (await world.app.inject({ url: '/api/openapi.json' })).json<Document>()
    const callback = paths['/api/platform/mastodon/callback']!['get']!
    expect(callback.parameters?.map(({ name }) => name)).toEqual(['state', 'code', 'error'])
    expect(paths['/api/payments/webhook']!['post']!.requestBody).toBeDefined()
  })

  it('the reference page may run its own scripts', async () => {
    const page = await world.app.inject({ url: '/docs' })
    expect(page.statusCode).toBe(200)
    expect(page.headers['content-type']).toContain('text/html')
    expect(page.headers['content-security-policy']).toContain("script-src 'self'")
    expect(page.headers['content-security-policy']).not.toContain('upgrade-insecure-requests')
    const assets = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!)
    expect(assets.length).toBeGreaterThan(3)
    for (const asset of assets) {
      const url = new URL(asset, 'http://localhost/docs').pathname
      expect(await world.app.inject({ url }), url).toMatchObject({ statusCode: 200 })
    }
  })
})

describe('client connections', () => {
  /** Sends bytes one by one and returns everything received until the server closes. */
  async function trickle(first: string, bytes: string) {
    const app = await buildApp(world.context)
    await app.listen({ port: 0, host: '127.0.0.1' })
    const socket = open(app, first, bytes)
    let answer = ''
    socket.on('data', (data) => void (answer += data.toString()))
    await new Promise((resolve) => socket.once('close', resolve))
    await app.close()
    return { answer, body: JSON.parse(answer.slice(answer.lastIndexOf('\r\n\r\n'))) }
  }

  function open(app: FastifyInstance, first: string, bytes: string): Socket {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    const timer = setInterval(() => socket.write(bytes), 200)
    socket.on('error', () => {}).once('close', () => clearInterval(timer))
    socket.write(first)
    return socket
  }

  it.concurrent('a client that sends its headers slowly is cut off', async () => {
    const { answer, body } = await trickle('GET /health/live HTTP/1.1\r\nHost: test\r\n', 'x')
    expect(answer).toMatch(/^HTTP\/1\.1 408 /)
    expect(body).toMatchObject({
      success: false,
      statusCode: 408,
      code: 'REQUEST_TIMEOUT',
      requestId: expect.any(String),
    })
  })

  it.concurrent('a client that sends its body slowly is cut off', async () => {
    const head =
      'POST /api/auth/login HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{'
    const { answer, body } = await trickle(head, ' ')
    expect(answer).toMatch(/^HTTP\/1\.1 408 /)
    expect(body).toMatchObject({ success: false, statusCode: 408, code: 'REQUEST_TIMEOUT' })
  })

  it.concurrent('a request that is not HTTP gets the standard error body', async () => {
    const { answer, body } = await trickle('\u0016\u0003\u0001 hello\r\n\r\n', '')
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request/)
    expect(body).toMatchObject({ success: false, statusCode: 400, code: 'BAD_REQUEST' })
  })

  it.concurrent('oversized headers get 431', async () => {
    const { answer, body } = await trickle(`GET / HTTP/1.1\r\nHost: test\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`, '')
    expect(answer).toMatch(/^HTTP\/1\.1 431 /)
    expect(body).toMatchObject({ statusCode: 431, code: 'HEADERS_TOO_LARGE' })
  })

  it('a slow client does not delay the shutdown', async () => {
    const app = await withConfig({ SHUTDOWN_GRACE_MS: 500 })
    await app.listen({ port: 0, host: '127.0.0.1' })
    let answer = ''
    open(app, 'GET /health/live HTTP/1.1\r\nHost: test\r\n', 'x').on('data', (data) => void (answer += String(data)))
    await once(app.server, 'connection')
    await app.close()
    // A shutdown that waited for the client would end when the client gets 408.
    expect(answer).toBe('')
  })

  it('a request in progress is completed when the app closes', async () => {
    const app = await appWith({})
    const started = Promise.withResolvers<void>()
    const finish = Promise.withResolvers<object>()
    app.get('/test/slow', () => {
      started.resolve()
      return finish.promise
    })
    const address = await app.listen({ port: 0, host: '127.0.0.1' })
    const answer = fetch(`${address}/test/slow`)
    await started.promise
    const closed = app.close()
    finish.resolve({ done: true })
    expect(await (await answer).json()).toEqual({ done: true })
    await closed
  })
})
