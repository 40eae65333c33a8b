import { createServer, type IncomingMessage, type Server } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { closeServer, listenOnLoopback } from '../../../sandbox/platforms/listen.ts'
import { createGraphApi } from '../../../src/platforms/shared/graph/api.ts'
import { isRefusedAs, type GraphRule } from '../../../src/platforms/shared/graph/errors.ts'
import { createHttpClient, type HttpClient } from '../../../src/platforms/shared/http.ts'
import { platformErrorOf } from './support.ts'
import { USER_AGENT } from '../../support/user-agent.ts'

const MINUTE = 60_000
const RULES: GraphRule[] = [
  { code: 4, subcode: 2_207_051, class: 'blocked_by_platform', message: 'blocked this as spam' },
  {
    code: 100,
    class: 'media_fetch_failed',
    message: 'could not fetch it',
    name: 'image_url',
    kind: 'unfetched',
  },
  { code: 10, class: 'blocked_by_platform', message: 'says so in its own table' },
]

let server: Server
let http: HttpClient
let url: string
let received: { request: IncomingMessage; body: string }[]
let answer: { status: number; headers?: Record<string, string>; body: string }

beforeEach(async () => {
  received = []
  answer = { status: 200, body: '{"id":"1"}' }
  server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ request, body })
      response.writeHead(answer.status, answer.headers).end(answer.body)
    })
  })
  url = await listenOnLoopback(server)
  http = createHttpClient({ userAgent: USER_AGENT, connections: 2 })
})
afterEach(async () => {
  await http.close()
  await closeServer(server)
})

const api = (tokenIn: 'header' | 'parameter' = 'parameter') =>
  createGraphApi({ http, baseUrl: `${url}/v1.0/`, label: 'Somewhere', rules: RULES, tokenIn })
const readId = (body: string) => /"id":"(\d+)"/.exec(body)?.[1] ?? null
const options = () => ({ token: 'secret-token', signal: AbortSignal.timeout(20_000) })
const post = () => platformErrorOf(api().post('/me/feed', { message: 'x' }, readId, options()))

describe('calls to the Graph API', () => {
  it('the token is not in the URL of a POST', async () => {
    expect(await api().post('/me/feed', { message: 'a b', link: undefined }, readId, options())).toBe('1')
    expect(received[0]!.request.url).toBe('/v1.0/me/feed')
    expect(received[0]!.body).toBe('message=a+b&access_token=secret-token')
  })

  it('the token is sent in a header if the host accepts it there', async () => {
    await api('header').get('/me', { fields: 'id' }, readId, options())
    expect(received[0]!.request.url).toBe('/v1.0/me?fields=id')
    expect(received[0]!.request.headers.authorization).toBe('Bearer secret-token')
  })

  it('the token is sent as a parameter if the host requires it', async () => {
    await api().get('/me', {}, readId, options())
    expect(received[0]!.request.url).toBe('/v1.0/me?access_token=secret-token')
    expect(received[0]!.request.headers.authorization).toBeUndefined()
  })

  it.each([
    ['a page', '<html>'],
    ['another shape', '{}'],
  ])('the outcome is unknown when the response is %s', async (_, body) => {
    answer = { status: 200, body }
    expect(await post()).toMatchObject({ class: 'transient', certain: false })
  })

  it('errors contain no token, no URL and no platform text', async () => {
    answer = { status: 400, body: error({ code: 190, message: 'Error validating access token secret-token' }) }
    expect(JSON.stringify({ ...(await post()), message: (await post()).message })).not.toMatch(/secret-token|127\.0/)
  })
})

const error = (fields: object) => JSON.stringify({ error: { message: 'm', type: 'OAuthException', ...fields } })

describe('a refusal of the Graph API', () => {
  it.each([
    [400, { code: 4, error_subcode: 2_207_051 }, 'blocked_by_platform', true],
    [400, { code: 100, message: 'Der Parameter image_url ist ungültig' }, 'media_fetch_failed', true],
    [400, { code: 100, message: 'The media could not be fetched from this URI' }, 'validation', true],
    [400, { code: 10 }, 'blocked_by_platform', true],
    [400, { code: 100, error_subcode: 33 }, 'not_found', true],
    [400, { code: 100, error_subcode: 99 }, 'validation', true],
    [500, { code: 100 }, 'validation', false],
    [400, { code: 190, error_subcode: 460 }, 'unauthorized', true],
    [401, { code: 102 }, 'unauthorized', true],
    [403, { code: 200 }, 'permission', true],
    [403, { code: 299 }, 'permission', true],
    [403, { code: 3 }, 'permission', true],
    [400, { code: 4 }, 'rate_limited', true],
    [400, { code: 17 }, 'rate_limited', true],
    [400, { code: 32 }, 'rate_limited', true],
    [400, { code: 341 }, 'rate_limited', true],
    [400, { code: 613 }, 'rate_limited', true],
    [400, { code: 80_002 }, 'rate_limited', true],
    [400, { code: 1 }, 'transient', false],
    [400, { code: 2 }, 'transient', false],
    [400, { code: 100, is_transient: true }, 'validation', true],
    [400, { code: 12_345, is_transient: true }, 'transient', false],
    [400, { code: 12_345 }, 'validation', true],
    [401, {}, 'transient', false],
    [404, {}, 'transient', false],
    [429, {}, 'rate_limited', true],
    [503, {}, 'transient', false],
  ])('a refusal %i %j is %s', async (status, fields, errorClass, certain) => {
    answer = { status, body: error(fields) }
    expect(await post()).toMatchObject({ class: errorClass, certain })
  })

  it('a refusal that is not JSON comes from another server', async () => {
    answer = { status: 502, body: '<html>' }
    expect(await post()).toMatchObject({ class: 'transient', certain: false })
    answer = { status: 403, body: '<html>' }
    expect(await post()).toMatchObject({ class: 'transient', certain: false })
  })

  it('a refusal has the kind of its row', async () => {
    answer = { status: 400, body: error({ code: 100, message: 'Param image_url is invalid' }) }
    expect(isRefusedAs(await post(), 'unfetched')).toBe(true)
    answer = { status: 400, body: error({ code: 100 }) }
    expect(isRefusedAs(await post(), 'unfetched')).toBe(false)
  })

  it.each<[string, Record<string, string>, number]>([
    ['what Retry-After says', { 'retry-after': '7' }, 7_000],
    [
      'the longest time in the usage header',
      {
        'x-business-use-case-usage': JSON.stringify({
          1: [{ type: 'pages', call_count: 100, estimated_time_to_regain_access: 19 }],
          2: [{ type: 'instagram', estimated_time_to_regain_access: 3 }],
        }),
      },
      19 * MINUTE,
    ],
    ['a quarter of an hour without either', { 'x-app-usage': '{"call_count":100}' }, 15 * MINUTE],
    ['a quarter of an hour when the header is not readable', { 'x-business-use-case-usage': '<' }, 15 * MINUTE],
  ])('a rate limit asks to wait %s', async (_, headers, waitMs) => {
    answer = { status: 400, headers, body: error({ code: 4 }) }
    expect(await post()).toMatchObject({ class: 'rate_limited', retryAfterMs: waitMs })
  })

  it('a refusal of another class states no wait', async () => {
    answer = { status: 400, headers: { 'retry-after': '7' }, body: error({ code: 190 }) }
    expect((await post()).retryAfterMs).toBeUndefined()
  })
})
