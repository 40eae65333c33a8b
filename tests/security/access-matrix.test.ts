import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { API_KEY_SCOPES, hasScope, type ApiKeyScope, type RouteScope } from '../../src/domain/users/api-keys.ts'
import { newId } from '../../src/store/shared/schema.ts'
import { createTestKey } from '../support/api-keys.ts'
import { apiWorld, signIn, type ApiWorld, type SignedIn } from '../support/api.ts'
import { buildRequest, keyScopeOf, roleFor, ROUTES, listRoutes } from '../support/routes.ts'

let world: ApiWorld
beforeAll(async () => {
  world = await apiWorld()
  await world.app.ready()
})
afterAll(() => world.close())

type Params = Record<string, string>

function send(route: string, who: Pick<SignedIn, 'headers'> | null, params: Params = {}) {
  const { body } = ROUTES[route]!
  return world.app.inject({
    ...buildRequest(route, params),
    ...(who ? { headers: who.headers } : {}),
    ...(body ? { payload: body } : {}),
  })
}

const MISSING_IDS = [
  ...[newId(), 'x', '0', 'null', '%00', 'a%00b', '%7B%22$ne%22:null%7D', '__proto__', 'constructor', '%F0%9F%92%A9'],
  ...['0'.repeat(23), '0'.repeat(25), 'A'.repeat(24), 'a'.repeat(101)],
]

const routes = Object.entries(ROUTES)
const guarded = routes.filter(([, { access }]) => access !== 'public').map(([route]) => route)
const withRecord = routes.filter(([, { record }]) => record).map(([route]) => route)
/** Routes whose records belong to a single user; admins may access the records of their own routes, whoever owns them. */
const withOwner = withRecord.filter((route) => ROUTES[route]!.access === 'user')

it('the access matrix lists every route of the application, and no other', () => {
  expect(listRoutes(world.app).toSorted((a, b) => a.localeCompare(b))).toEqual(
    Object.keys(ROUTES).toSorted((a, b) => a.localeCompare(b)),
  )
})

it('the access matrix lists every route of the OpenAPI document', async () => {
  const { paths } = (await world.app.inject('/api/openapi.json')).json<{ paths: Record<string, object> }>()
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
  )
  expect(described.length).toBeGreaterThan(0)
  expect(described.filter((route) => !(route in ROUTES))).toEqual([])
})

it('the access matrix has a record for every route with an id in its path', () => {
  const named = Object.keys(ROUTES).filter((route) => route.includes(':'))
  expect(withRecord).toEqual(named)
})

describe.each(routes.filter(([, { access }]) => access === 'public').map(([route]) => route))('%s', (route) => {
  it('the route is public', async () => {
    expect((await send(route, null)).statusCode).toBe(ROUTES[route]!.status)
  })
})

describe.each(guarded)('%s', (route) => {
  const { record, status } = ROUTES[route]!
  const role = roleFor(route)

  it('the route is 401 without a session', async () => {
    const response = await send(route, null, { postId: newId() })
    expect(response.statusCode).toBe(401)
    expect(response.json()).toMatchObject({ success: false, message: 'Unauthorized', code: 'UNAUTHORIZED' })
  })

  it('the route is 403 for a disabled account, also for the owner', async () => {
    const owner = await signIn(world.context, { role })
    const params = (await record?.(world.context, owner)) ?? {}
    await world.context.database.connection
      .collection<{ _id: string }>('users')
      .updateOne({ _id: owner.user._id }, { $set: { isDisabled: true } })
    const response = await send(route, owner, params)
    expect(response.statusCode).toBe(403)
    expect(response.json()).toMatchObject({ message: 'Account is disabled', code: 'ACCOUNT_DISABLED' })
  })

  it('the route serves its owner', async () => {
    const owner = await signIn(world.context, { role })
    const params = (await record?.(world.context, owner)) ?? {}
    const response = await send(route, owner, params)
    expect(response.statusCode, response.body).toBe(status)
  })
})

describe.each(guarded.filter((route) => ROUTES[route]!.access === 'admin'))('%s', (route) => {
  it('the route is 403 for a user and changes nothing', async () => {
    const { record, fingerprint } = ROUTES[route]!
    const who = await signIn(world.context)
    const params = (await record?.(world.context, who)) ?? {}
    const before = await fingerprint?.(world.context, params)
    const response = await send(route, who, params)
    expect(response.statusCode).toBe(403)
    expect(response.json()).toMatchObject({ success: false, message: 'Forbidden - Admin only', code: 'FORBIDDEN' })
    expect(await fingerprint?.(world.context, params)).toEqual(before)
  })
})

describe.each(withOwner)('%s', (route) => {
  const { record, fingerprint } = ROUTES[route]!

  it.each(['user', 'admin'] as const)(
    'the route treats a foreign record like a missing one when the caller is %s',
    async (role) => {
      const owner = await signIn(world.context)
      const stranger = await signIn(world.context, { role })
      const params = await record!(world.context, owner)
      const before = await fingerprint!(world.context, params)

      const foreign = await send(route, stranger, params)
      const missing = await send(
        route,
        stranger,
        mapValues(params, () => newId()),
      )
      expect(foreign.statusCode).toBe(404)
      expect(foreign.json()).toMatchObject({ success: false, code: 'NOT_FOUND' })
      const withoutId = ({ requestId: _, ...body }: Record<string, unknown>) => body
      expect(withoutId(foreign.json())).toEqual(withoutId(missing.json()))
      expect(await fingerprint!(world.context, params)).toEqual(before)
    },
  )
})

describe.each(withRecord)('%s', (route) => {
  const { record } = ROUTES[route]!

  it('the route is 404 for ids that do not exist', async () => {
    const who = await signIn(world.context, { role: roleFor(route) })
    const params = await record!(world.context, who)
    for (const id of MISSING_IDS) {
      const response = await send(
        route,
        who,
        mapValues(params, () => id),
      )
      expect(response.statusCode, id).toBe(404)
      expect(response.json()).toMatchObject({ success: false, code: 'NOT_FOUND' })
    }
  })
})

const forKeys = guarded.filter((route) => keyScopeOf(route) !== 'refused')
const neverForKeys = guarded.filter((route) => keyScopeOf(route) === 'refused')
/** The bodies of these requests publish a post, for which the scope of the route is not enough. */
const PUBLISHING = [
  'POST /api/imports/:importId/apply',
  'POST /api/posts',
  'PUT /api/posts/:postId',
  'PATCH /api/posts/:postId',
]

it('every route for users declares the scope for API keys or refuses them', () => {
  const declared = world.app.routeEntries.map(({ method, url, keyScope }) => [`${method} ${url}`, keyScope] as const)
  const users = declared.filter(([route]) => ROUTES[route]?.access === 'user')
  expect(users.filter(([, keyScope]) => keyScope === undefined)).toEqual([])
  expect(users).toEqual(users.map(([route]) => [route, keyScopeOf(route)]))
})

it('the OpenAPI document lists exactly the routes that accept API keys, with their scopes', async () => {
  type Paths = Record<string, Record<string, { security: Record<string, string[]>[] }>>
  const { paths } = (await world.app.inject('/api/openapi.json')).json<{ paths: Paths }>()
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { security }]) => {
      const forKey = security.find(({ apiKey }) => apiKey)?.apiKey
      return forKey ? [[`${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`, forKey[0] ?? 'any']] : []
    }),
  )
  expect(Object.fromEntries(described)).toEqual(Object.fromEntries(forKeys.map((route) => [route, keyScopeOf(route)])))
})

it('API keys are refused for all keys but their own scopes, for sessions, passwords, billing, the profile and admins', () => {
  const isOffLimits = (route: string) =>
    / \/api\/(keys(?!\/current$)|auth|payments|profile|admin|status)(\/|$)/.test(route)
  expect(guarded.filter(isOffLimits).length).toBeGreaterThan(25)
  expect(forKeys.filter(isOffLimits)).toEqual([])
})

describe.each(neverForKeys)('%s', (route) => {
  it('the route is 403 for an API key with every scope and changes nothing', async () => {
    const { record, fingerprint } = ROUTES[route]!
    const owner = await signIn(world.context, { role: roleFor(route) })
    const key = await createTestKey(world.context, owner)
    const params = (await record?.(world.context, owner)) ?? {}
    const before = await fingerprint?.(world.context, params)
    const response = await send(route, key, params)
    expect(response.statusCode, response.body).toBe(403)
    expect(response.json()).toMatchObject({ success: false, code: 'SESSION_REQUIRED' })
    expect(await fingerprint?.(world.context, params)).toEqual(before)
  })
})

const neededFor = (route: string): RouteScope => (PUBLISHING.includes(route) ? 'posts:publish' : keyScopeOf(route))

const isEnough = (scope: ApiKeyScope, needed: RouteScope) =>
  needed === 'any' || hasScope([scope], needed as ApiKeyScope)

describe.each(forKeys)('%s', (route) => {
  const { record, status } = ROUTES[route]!

  it.each(API_KEY_SCOPES.filter((scope) => isEnough(scope, neededFor(route))))(
    'the route serves an API key with the scope %s',
    async (scope) => {
      const owner = await signIn(world.context)
      const key = await createTestKey(world.context, owner, { scopes: [scope] })
      const response = await send(route, key, (await record?.(world.context, owner)) ?? {})
      expect(response.statusCode, response.body).toBe(status)
    },
  )
})

describe.each(forKeys.filter((route) => neededFor(route) !== 'any'))('%s', (route) => {
  const { record, fingerprint } = ROUTES[route]!

  it('the route is 403 for API keys with other scopes and changes nothing', async () => {
    const owner = await signIn(world.context)
    const params = (await record?.(world.context, owner)) ?? {}
    const before = await fingerprint?.(world.context, params)
    const others = API_KEY_SCOPES.filter((scope) => !isEnough(scope, neededFor(route)))
    expect(others).not.toEqual([])
    for (const scope of others) {
      const key = await createTestKey(world.context, owner, { scopes: [scope] })
      const response = await send(route, key, params)
      expect(response.statusCode, `${scope}: ${response.body}`).toBe(403)
      const missing = hasScope([scope], 'posts:draft') ? neededFor(route) : keyScopeOf(route)
      expect(response.json()).toMatchObject({ success: false, code: 'INSUFFICIENT_SCOPE', scope: missing })
      expect(await fingerprint?.(world.context, params)).toEqual(before)
    }
  })
})

describe.each(forKeys.filter((route) => withOwner.includes(route)))('%s', (route) => {
  it('the route treats a foreign record like a missing one when the caller is an API key', async () => {
    const { record, fingerprint } = ROUTES[route]!
    const owner = await signIn(world.context)
    const strangersKey = await createTestKey(world.context, await signIn(world.context))
    const params = await record!(world.context, owner)
    const before = await fingerprint!(world.context, params)
    const response = await send(route, strangersKey, params)
    expect(response.statusCode).toBe(404)
    expect(response.json()).toMatchObject({ success: false, code: 'NOT_FOUND' })
    expect(await fingerprint!(world.context, params)).toEqual(before)
  })
})

function mapValues(params: Params, value: () => string): Params {
  return Object.fromEntries(Object.keys(params).map((name) => [name, value()]))
}
