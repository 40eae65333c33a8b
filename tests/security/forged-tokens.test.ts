import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { API_KEY_BYTES, toApiKey } from '../../src/domain/users/api-keys.ts'
import { apiWorld, signIn, type ApiWorld, type SignedIn } from '../support/api.ts'
import { FORGERIES, forge } from '../support/forged-tokens.ts'
import { buildRequest, ROUTES } from '../support/routes.ts'
import { newId } from '../../src/store/shared/schema.ts'

/** A forged token never passes a guard: tests all forgeries on all protected routes. */

let world: ApiWorld
let admin: SignedIn
beforeAll(async () => {
  world = await apiWorld()
  admin = await signIn(world.context, { role: 'admin' })
})
afterAll(() => world.close())

const guarded = Object.keys(ROUTES).filter((route) => ROUTES[route]!.access !== 'public')

function ask(route: string, token: string) {
  const { body } = ROUTES[route]!
  const params = Object.fromEntries([...route.matchAll(/:(\w+)/g)].map(([, name]) => [name!, newId()]))
  return world.app.inject({
    ...buildRequest(route, params),
    headers: { authorization: `Bearer ${token}` },
    ...(body ? { payload: body } : {}),
  })
}

it('the token that the forgeries are based on is valid', async () => {
  const response = await ask('GET /api/auth/me', forge(admin.accessToken, world.context.config.JWT_SECRET, {}))
  expect(response.statusCode).toBe(200)
})

it.each([
  ['that was never issued', () => toApiKey(randomBytes(API_KEY_BYTES))],
  ['with a wrong checksum', () => `po_live_${'0'.repeat(49)}`],
  ['with a character more', () => `${toApiKey(randomBytes(API_KEY_BYTES))}0`],
])('an API key %s is refused by every route', async (_, build) => {
  await assertRefused(build())
})

it.each(FORGERIES)('a token with %s is refused by every route', async (_, forgery) => {
  const token = forge(admin.accessToken, world.context.config.JWT_SECRET, forgery)
  await assertRefused(token)
})

async function assertRefused(token: string): Promise<void> {
  const answers = await Promise.all(guarded.map(async (route) => ({ route, answer: await ask(route, token) })))
  for (const { route, answer } of answers) {
    expect(answer.statusCode, route).toBe(401)
    expect(answer.json(), route).toMatchObject({ success: false, message: 'Unauthorized', code: 'UNAUTHORIZED' })
  }
}
