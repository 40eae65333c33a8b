import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SECRET_PATTERN, type Webhook } from '../../../src/domain/webhooks/webhooks.ts'
import { disableWebhook } from '../../../src/commands/webhooks/disable-webhook.ts'
import { createTestKey } from '../../support/api-keys.ts'
import { apiWorld, signIn, type ApiWorld, type SignedIn } from '../../support/api.ts'
import { INACTIVE_ORCHESTRATOR } from '../../support/inactive-orchestrator.ts'
import { postEvent, storeEvents } from './world.ts'

let world: ApiWorld
beforeAll(async () => {
  world = await apiWorld({ ALLOWED_PRIVATE_SERVERS: 'http://127.0.0.1:*' }, { orchestrator: INACTIVE_ORCHESTRATOR })
})
afterAll(() => world?.close())

type Caller = Pick<SignedIn, 'headers'>
const call = (who: Caller, method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path = '', payload?: object, headers = {}) =>
  world.app.inject({
    ...{ method, url: `/api/webhooks${path}`, headers: { ...who.headers, ...headers } },
    ...(payload && { payload }),
  })
const URL = 'https://example.com/hooks'
const create = (who: Caller, body: object = {}) => call(who, 'POST', '', { url: URL, ...body })
const created = async (who: Caller, body: object = {}) => (await create(who, body)).json().data
const records = () => world.context.database.connection.collection<Webhook>('webhooks')

describe('creating a webhook', () => {
  it('only the response to the creation contains the secret, which is stored encrypted', async () => {
    const who = await signIn(world.context)
    const response = await create(who, { events: ['post.published'], description: 'CRM' })
    expect(response.statusCode).toBe(201)
    const { secret, ...shown } = response.json().data
    expect(secret).toMatch(new RegExp(`^${SECRET_PATTERN}$`))
    expect(shown).toEqual({
      id: expect.stringMatching(/^[\da-f]{24}$/),
      url: URL,
      events: ['post.published'],
      description: 'CRM',
      enabled: true,
      disabledReason: null,
      disabledAt: null,
      failingSince: null,
      pausedUntil: null,
      lastDeliveredAt: null,
      oldSecretValidUntil: null,
      createdAt: expect.any(String),
      etag: '"0"',
    })
    expect((await call(who, 'GET')).json().data).toEqual([shown])
    expect((await call(who, 'GET', `/${shown.id}`)).json().data).toEqual(shown)
    const stored = await records().findOne({ _id: shown.id })
    expect(JSON.stringify(stored)).not.toContain(secret.slice(6, -1))
    expect(stored!.sealedSecret).toMatch(/^v1\./)
  })

  it('the owner gets a notification with the host alone', async () => {
    const who = await signIn(world.context)
    const { id } = await created(who, { url: 'https://hooks.example.com/T0/secret-path' })
    const [notification] = await world.context.notifications.listOf(who.user._id, 10)
    expect(notification).toMatchObject({
      type: 'info',
      message:
        'A webhook to hooks.example.com was created. If you did not create it, delete it and change your password.',
      reference: { type: 'webhook', id, model: 'Webhook' },
    })
  })

  it.each([
    'http://example.com/hooks',
    'https://example.com:8443/hooks',
    'https://127.0.0.1/hooks',
    'https://[::1]/hooks',
    'https://169.254.169.254/latest/meta-data',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://localhost/hooks',
    'https://database.internal/hooks',
    'https://ann:password@example.com/hooks',
    'https://example.com/hooks#part',
    'http://localhost:80/hooks',
    'ftp://example.com/hooks',
    'file:///etc/passwd',
    'example.com/hooks',
    'https://',
  ])('the URL %s is refused', async (url) => {
    const who = await signIn(world.context)
    expect((await create(who, { url })).json()).toMatchObject({
      code: 'VALIDATION_FAILED',
      errors: [{ path: 'url', code: 'URL_NOT_ALLOWED' }],
    })
    const { id } = await created(who)
    expect((await call(who, 'PATCH', `/${id}`, { url })).statusCode).toBe(400)
  })

  it('a receiver on an allowed private server may be named', async () => {
    const who = await signIn(world.context)
    expect((await create(who, { url: 'http://127.0.0.1:39999/hooks' })).statusCode).toBe(201)
  })

  it.each([
    [{ events: ['post.everything'] }, 'events.0'],
    [{ events: ['post.failed', 'post.failed'] }, 'events'],
    [{ events: ['webhook.test'] }, 'events.0'],
    [{ url: '' }, 'url'],
    [{ url: `${URL}/${'x'.repeat(2_048)}` }, 'url'],
    [{ description: 'x'.repeat(201) }, 'description'],
  ])('the body %# is refused and stores nothing', async (body, path) => {
    const who = await signIn(world.context)
    expect((await create(who, body)).json()).toMatchObject({ statusCode: 400, errors: [{ path }] })
    expect((await call(who, 'GET')).json().data).toEqual([])
  })

  it('a user has at most 10 webhooks, also when more are created concurrently', async () => {
    const who = await signIn(world.context)
    const responses = await Promise.all(Array.from({ length: 13 }, () => create(who)))
    const refused = responses.filter(({ statusCode }) => statusCode !== 201)
    expect(refused.map((response) => response.json())).toMatchObject(
      Array.from({ length: 3 }, () => ({ statusCode: 403, code: 'WEBHOOK_LIMIT_REACHED', limit: 10 })),
    )
    const webhooks = (await call(who, 'GET')).json().data
    expect(webhooks).toHaveLength(10)
    await call(who, 'DELETE', `/${webhooks[0].id}`)
    expect((await create(who)).statusCode).toBe(201)
  })
})

describe('a webhook of another user', () => {
  it('is not found by any route', async () => {
    const { id } = await created(await signIn(world.context))
    const stranger = await signIn(world.context)
    const since = new Date().toISOString()
    const responses = await Promise.all([
      call(stranger, 'GET', `/${id}`),
      call(stranger, 'PATCH', `/${id}`, { description: 'mine' }),
      call(stranger, 'PATCH', `/${id}`, { enabled: false }),
      call(stranger, 'DELETE', `/${id}`),
      call(stranger, 'POST', `/${id}/rotate-secret`),
      call(stranger, 'GET', `/${id}/deliveries`),
      call(stranger, 'POST', `/${id}/test`),
      call(stranger, 'POST', `/${id}/redeliver`, { since }),
      call(stranger, 'POST', `/${id}/deliveries/${id}/redeliver`),
    ])
    expect(responses.map(({ statusCode }) => statusCode)).toEqual(responses.map(() => 404))
    expect(await records().findOne({ _id: id })).toMatchObject({ isEnabled: true, description: '' })
  })
})

describe('changing a webhook', () => {
  it('only the given fields change', async () => {
    const who = await signIn(world.context)
    const { secret: _, ...before } = await created(who, { events: ['post.failed'], description: 'CRM' })
    const changed = (await call(who, 'PATCH', `/${before.id}`, { url: 'https://example.org/' })).json().data
    expect(changed).toEqual({ ...before, url: 'https://example.org/', etag: '"1"' })
    expect((await call(who, 'PATCH', `/${before.id}`, {})).json().data).toEqual(changed)
    expect((await call(who, 'PATCH', `/${before.id}`, { events: [] })).json().data).toEqual({
      ...{ ...changed, events: [], etag: '"2"' },
    })
  })

  it('a disabled webhook refuses to send, and continues with new events when it is enabled', async () => {
    const who = await signIn(world.context)
    const { id } = await created(who)
    const { deliveryId } = await testDelivery(who, id)
    const disabled = (await call(who, 'PATCH', `/${id}`, { enabled: false })).json().data
    expect(disabled).toMatchObject({ enabled: false, disabledReason: 'user', disabledAt: expect.any(String) })
    expect((await call(who, 'GET', `/${id}/deliveries`)).json().data.deliveries).toMatchObject([{ state: 'failed' }])
    const since = new Date().toISOString()
    for (const [path, body] of [
      ['test', undefined],
      ['redeliver', { since }],
      [`deliveries/${deliveryId}/redeliver`, undefined],
    ] as const) {
      const response = await call(who, 'POST', `/${id}/${path}`, body)
      expect(response.json(), path).toMatchObject({ statusCode: 409, code: 'WEBHOOK_DISABLED' })
    }
    await storeEvents(world.context, who.user._id, [postEvent('p'), postEvent('p')])
    const enabled = (await call(who, 'PATCH', `/${id}`, { enabled: true })).json().data
    expect(enabled).toMatchObject({ enabled: true, disabledReason: null, disabledAt: null })
    expect((await records().findOne({ _id: id }))!.cursor).toBe(2)
    await storeEvents(world.context, who.user._id, [postEvent('p')])
    await call(who, 'PATCH', `/${id}`, { enabled: true })
    expect((await records().findOne({ _id: id }))!.cursor, 'an enabled webhook skips nothing').toBe(2)
  })
})

describe('edits of a webhook on two devices', () => {
  it('an edit is 412 when the webhook has changed since it was read', async () => {
    const who = await signIn(world.context)
    const { id } = await created(who)
    const { etag } = (await call(who, 'GET', `/${id}`)).headers as { etag: string }
    const edit = (body: object, ifMatch: string) => call(who, 'PATCH', `/${id}`, body, { 'if-match': ifMatch })
    const edits = [{ events: ['post.failed'] }, { events: ['post.published'] }, { enabled: false }]
    const responses = await Promise.all(edits.map((body) => edit(body, etag)))
    const [applied, ...others] = responses.filter(({ statusCode }) => statusCode === 200)
    expect([applied?.headers['etag'], others]).toEqual([applied?.json().data.etag, []])
    const refused = responses.filter((response) => response !== applied)
    expect(refused.map((response) => response.json().code)).toEqual(['PRECONDITION_FAILED', 'PRECONDITION_FAILED'])
    const read = (await call(who, 'GET', `/${id}`)).json().data
    expect(read).toEqual(applied!.json().data)
    expect((await edit({ description: 'CRM' }, read.etag)).statusCode).toBe(200)
    expect((await edit({}, '*')).statusCode).toBe(200)
  })

  it('a webhook that the service has disabled since is 412, and a missing one 404', async () => {
    const who = await signIn(world.context)
    const webhook = await created(who)
    const stored = (await world.context.webhooks.find(who.user._id, webhook.id))!
    await disableWebhook(world.context, stored, 'gone')
    const ifMatch = { 'if-match': webhook.etag as string }
    expect((await call(who, 'PATCH', `/${webhook.id}`, { enabled: true }, ifMatch)).statusCode).toBe(412)
    expect((await call(who, 'PATCH', `/${'0'.repeat(24)}`, { enabled: true }, ifMatch)).statusCode).toBe(404)
  })
})

async function testDelivery(who: Caller, id: string): Promise<{ deliveryId: string }> {
  const response = await call(who, 'POST', `/${id}/test`)
  expect(response.statusCode).toBe(202)
  return { deliveryId: response.json().data.id as string }
}

describe('rotating the secret', () => {
  it('a rotation returns a new secret, and the old one is valid for a day', async () => {
    const who = await signIn(world.context)
    const { id, secret: old } = await created(who)
    const rotated = (await call(who, 'POST', `/${id}/rotate-secret`)).json().data
    expect(rotated.secret).toMatch(new RegExp(`^${SECRET_PATTERN}$`))
    expect(rotated.secret).not.toBe(old)
    const { oldSecretValidUntil } = (await call(who, 'GET', `/${id}`)).json().data
    expect(Date.parse(oldSecretValidUntil) - Date.now()).toBeGreaterThan(23 * 3_600_000)
  })

  it('of concurrent rotations one succeeds', async () => {
    const who = await signIn(world.context)
    const { id } = await created(who)
    const responses = await Promise.all(Array.from({ length: 4 }, () => call(who, 'POST', `/${id}/rotate-secret`)))
    expect(responses.filter(({ statusCode }) => statusCode === 200).length).toBeGreaterThanOrEqual(1)
    const stored = await world.context.webhooks.find(who.user._id, id)
    const secrets = responses.flatMap((response) => (response.statusCode === 200 ? [response.json().data.secret] : []))
    expect(secrets).toContain(
      world.context.cipher.open(stored!.sealedSecret, { collection: 'webhooks', id, field: 'secret' }),
    )
  })
})

it('a key with webhooks:read reads, and only one with webhooks:write changes', async () => {
  const who = await signIn(world.context)
  const { id } = await created(who)
  const reader = await createTestKey(world.context, who, { scopes: ['webhooks:read'] })
  const writer = await createTestKey(world.context, who, { scopes: ['webhooks:write'] })
  for (const key of [reader, writer]) expect((await call(key, 'GET', `/${id}`)).statusCode).toBe(200)
  expect((await create(reader)).json()).toMatchObject({ code: 'INSUFFICIENT_SCOPE', scope: 'webhooks:write' })
  expect((await call(reader, 'POST', `/${id}/rotate-secret`)).statusCode).toBe(403)
  expect((await create(writer)).statusCode).toBe(201)
})

it('an export contains webhooks and their deliveries without secrets', async () => {
  const who = await signIn(world.context)
  const { id, secret } = await created(who)
  await testDelivery(who, id)
  const response = await world.app.inject({ method: 'GET', url: '/api/profile/export', headers: who.headers })
  expect(response.statusCode).toBe(200)
  expect(response.json().data).toMatchObject({ webhooks: [{ id }], webhookDeliveries: [{ eventType: 'webhook.test' }] })
  expect(response.body).not.toContain(secret)
  expect(response.body).not.toMatch(/sealed|v1\./)
})

it('addresses and test events are limited per user and hour', async () => {
  const who = await signIn(world.context)
  const { id } = await created(who)
  for (let nth = 1; nth < 30; nth += 1) expect((await call(who, 'PATCH', `/${id}`, { url: URL })).statusCode).toBe(200)
  expect((await call(who, 'PATCH', `/${id}`, { url: URL })).json()).toMatchObject({ code: 'RATE_LIMITED' })
  expect((await create(who)).json()).toMatchObject({ code: 'RATE_LIMITED', bucket: 'webhook_url' })
  const tests = await Promise.all(Array.from({ length: 62 }, () => call(who, 'POST', `/${id}/test`)))
  expect(tests.filter(({ statusCode }) => statusCode === 429)).toHaveLength(2)
})

it('deleting a webhook deletes its log', async () => {
  const who = await signIn(world.context)
  const { id } = await created(who)
  await testDelivery(who, id)
  expect((await call(who, 'DELETE', `/${id}`)).statusCode).toBe(200)
  expect((await call(who, 'GET', `/${id}/deliveries`)).statusCode).toBe(404)
  expect(
    await world.context.database.connection.collection('webhookDeliveries').countDocuments({ webhookId: id }),
  ).toBe(0)
})
