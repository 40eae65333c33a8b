import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiWorld, rawJson, signIn, type ApiWorld, type SignedIn } from '../support/api.ts'
import { buildRequest, roleFor, ROUTES } from '../support/routes.ts'

let world: ApiWorld
beforeAll(async () => {
  world = await apiWorld({
    LOGIN_FAILURES_PER_ACCOUNT: 1_000_000,
    LOGIN_FAILURES_PER_ADDRESS: 1_000_000,
    LOGIN_FAILURES_BEFORE_DELAY: 1_000_000,
  })
  await world.app.ready()
})
afterAll(() => world.close())

const withBody = Object.keys(ROUTES).filter((route) => ROUTES[route]!.body)
const withoutBody = Object.keys(ROUTES).filter((route) => !ROUTES[route]!.body && !route.startsWith('GET '))
const reads = Object.keys(ROUTES).filter((route) => route.startsWith('GET '))

/** Bodies that every route refuses before it interprets their content. */
const UNREADABLE: [string, string | Buffer][] = [
  ['half a JSON', '{"a":'],
  ['two JSON texts', '{}{}'],
  ['text that is no JSON', 'hello'],
  ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d])],
  ['UTF-8 that is cut off', Buffer.from([0x22, 0xf0, 0x9f, 0x92])],
  ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
  ['a NUL character', String.raw`{"text":"a\u0000b"}`],
  ['a NUL character in a name', String.raw`{"a\u0000b":1}`],
  ['a lone surrogate', String.raw`{"content":{"text":"\ud800"}}`],
  ['a lone surrogate in a name', String.raw`{"\udc00":1}`],
]

const OTHER_TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/xml',
  'multipart/form-data; boundary=x',
  'nonsense',
]

/** JSON values that are not objects of any route. */
const SHAPELESS = ['null', 'true', '0', '1e999', '"text"', '[]', '{}', '[{}]']

type Params = Record<string, string>

/** Creates the record that the path names. Requests that are refused leave it as it is, so that they can share it. */
const createRecord = async (route: string, who: SignedIn): Promise<Params> =>
  (await ROUTES[route]!.record?.(world.context, who)) ?? {}

async function send(route: string, who: SignedIn, options: Partial<InjectOptions> = {}, params?: Params) {
  return world.app.inject({
    ...buildRequest(route, params ?? (await createRecord(route, who))),
    ...options,
    headers: { ...options.headers, ...who.headers },
  })
}

function expectRefusal(response: Awaited<ReturnType<typeof send>>, statusCode: number, what = ''): void {
  expect(response.statusCode, `${what} ${response.body}`).toBe(statusCode)
  expect(response.json()).toMatchObject({ success: false, statusCode, requestId: expect.any(String) })
  expect(Object.keys(response.json())).not.toContain('stack')
  for (const { message } of response.json().errors ?? []) expect(message).not.toMatch(VALIDATOR_WORDING)
}

/** The format of the validator's messages. */
const VALIDATOR_WORDING = /must NOT|##|anyOf|must match|must be (string|object|array|boolean|integer|null)|additional/

const signInFor = (route: string) => signIn(world.context, { role: roleFor(route) })

const countPosts = (who: SignedIn) =>
  world.context.database.connection.collection('posts').countDocuments({ userId: who.user._id })

/** Socket.IO and the webhook parse bodies themselves; their refusals have separate tests. */
const readsJson = (route: string) => !route.endsWith(' /socket.io') && !route.endsWith('/webhook')

describe.each([...withBody, ...withoutBody].filter(readsJson))('%s', (route) => {
  it('the route refuses malformed bodies', async () => {
    const who = await signInFor(route)
    const params = await createRecord(route, who)
    const before = await countPosts(who)
    for (const [what, body] of UNREADABLE) {
      expectRefusal(await send(route, who, rawJson(body), params), 400, what)
      expect(await countPosts(who), what).toBe(before)
    }
  })

  it('the route refuses bodies of other types', async () => {
    const who = await signInFor(route)
    const params = await createRecord(route, who)
    for (const type of OTHER_TYPES) {
      const other = { payload: '{"a":1}', headers: { 'content-type': type } }
      expectRefusal(await send(route, who, other, params), 415, type)
    }
  })

  it('the route refuses a body that is compressed or too large', async () => {
    const who = await signInFor(route)
    const { access, maxBodyMiB = access === 'public' ? 1 / 16 : 1 } = ROUTES[route]!
    const zipped = { payload: '{}', headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' } }
    const params = await createRecord(route, who)
    expectRefusal(await send(route, who, zipped, params), 415)
    expectRefusal(await send(route, who, rawJson(`"${'a'.repeat(maxBodyMiB * 1024 * 1024)}"`), params), 413)
  })
})

describe.each(withBody)('%s', (route) => {
  const { body } = ROUTES[route]!

  it('the route refuses bodies that are not its objects', async () => {
    const who = await signInFor(route)
    for (const text of SHAPELESS) {
      const response = await send(route, who, rawJson(text))
      // An empty change of a record is valid.
      // A row may be wrong without its file.
      if (text === '[{}]' && route === 'POST /api/imports') expect(response.statusCode).toBe(201)
      else if (text === '{}' && /^PATCH .*(posts|accounts|groups|webhooks)\/:\w+$/.test(route))
        expect(response.statusCode).toBe(200)
      else expectRefusal(response, 400, text)
    }
  })

  it('the route refuses a missing body', async () => {
    expectRefusal(await send(route, await signInFor(route)), 400)
  })

  it.each(named(pathsOf(body!)))('the route is 4xx or accepts any value in %s, and never fails', async (_, path) => {
    const begin = async () => {
      const who = await signInFor(route)
      return { who, params: await createRecord(route, who), posts: await countPosts(who) }
    }
    let used = await begin()
    for (const value of WRONG) {
      const { who, params, posts } = used
      const response = await send(route, who, rawJson(JSON.stringify(replaced(body, path, value))), params)
      const what = `${JSON.stringify(value).slice(0, 20)}: ${response.body}`
      expect(response.statusCode, what).toBeLessThan(500)
      if (response.statusCode >= 400) {
        expectRefusal(response, response.statusCode)
        expect(await countPosts(who), what).toBe(posts)
      } else {
        // The record has changed, and some routes end the session or the account.
        used = await begin()
      }
    }
  })
})

it.each([
  [{ selectedPlatforms: [] }, 'selectedPlatforms must have at least 1 entry. Add one.'],
  [{ selectedPlatforms: ['bluesky', 'bluesky'] }, 'selectedPlatforms has the same entry twice. Remove the duplicate.'],
  [{ scheduledAt: 5 }, 'scheduledAt must be a text. Put it in quotes.'],
  [{ content: null }, 'content must be an object. Put its fields in braces: {}.'],
  [{ content: undefined }, 'content is missing. Add it to the request body.'],
  [{ correlationId: '' }, 'correlationId is empty. Fill it in.'],
  [{ timezone: 'x'.repeat(101) }, 'timezone must have at most 100 characters. Make it shorter.'],
  [{ status: 'SENT' }, 'status is not allowed. Use DRAFT or PENDING or SCHEDULED.'],
  [
    { platformSpecificContent: { myspace: {} } },
    'platformSpecificContent.myspace is not a known field. Correct its name or remove it.',
  ],
])('a post with %j is rejected with a single problem that says what to do', async (change, message) => {
  const { body } = ROUTES['POST /api/posts']!
  const response = await send('POST /api/posts', await signInFor('POST /api/posts'), {
    payload: { ...body, ...change },
  })
  expect(response.json().errors.map((problem: { message: string }) => problem.message)).toEqual([message])
  expect(response.json().message).toBe(`Validation failed: ${message}`)
})

describe.each(withoutBody)('%s', (route) => {
  it('the route works without a body, with and without a JSON content type', async () => {
    const { status } = ROUTES[route]!
    for (const headers of [
      {},
      { 'content-type': 'application/json' },
      { 'content-type': 'application/json; charset=utf-8' },
    ]) {
      const response = await send(route, await signInFor(route), { headers })
      expect(response.statusCode, response.body).toBe(status)
    }
  })
})

describe.each(reads)('%s', (route) => {
  const [, path] = route.split(' ')

  it('the route refuses invalid query values and ignores unknown parameters', async () => {
    const who = await signInFor(route)
    const { url } = buildRequest(route, await createRecord(route, who))
    for (const name of [...queryNames(path!), 'unknown', '__proto__', 'constructor', '$where', 'page[$gt]']) {
      await Promise.all(
        [...WRONG_QUERY_VALUES, `1&${name}=2`].map(async (value) => {
          const response = await world.app.inject({ url: `${url}?${name}=${value}`, headers: who.headers })
          if (route === 'GET /health/delivery') expect(response.statusCode).toBe(503)
          else expect(response.statusCode, `${name}=${value}: ${response.body}`).toBeLessThan(500)
        }),
      )
    }
  })
})

function queryNames(path: string): string[] {
  const paths = world?.app.swagger().paths as Record<string, { get?: { parameters?: { in: string; name: string }[] } }>
  const parameters = paths[path.replace(/:(\w+)/g, '{$1}')]?.get?.parameters ?? []
  return parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)
}

const WRONG_QUERY_VALUES = [
  '',
  'x',
  '-1',
  '1e3',
  '0x10',
  ' 1',
  '1.5',
  'NaN',
  'null',
  '%00',
  '%ff',
  '%ED%A0%80',
  '[]',
  '9'.repeat(400),
]

/** Values that are invalid in every field. */
const WRONG: unknown[] = [
  null,
  true,
  'true',
  0,
  -1,
  1.5,
  1e300,
  '',
  ' ',
  'x'.repeat(20_000),
  [],
  [[]],
  {},
  { $gt: '' },
  { __proto__: null, toString: 1 },
]

function pathsOf(value: unknown, path: string[] = []): string[][] {
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([key, child]) => [[...path, key], ...pathsOf(child, [...path, key])])
}

function named(paths: string[][]): [string, string[]][] {
  return paths.map((path) => [path.join('.'), path])
}

function replaced(value: unknown, [key, ...rest]: string[], replacement: unknown): unknown {
  if (key === undefined) return replacement
  if (Array.isArray(value))
    return value.map((item, index) => (String(index) === key ? replaced(item, rest, replacement) : item))
  const parent = value as Record<string, unknown>
  return { ...parent, [key]: replaced(parent[key], rest, replacement) }
}
