import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findMongod, startMongod, type Mongod } from '../../../../sandbox/servers/mongod.ts'
import { apiWorld, PASSWORD, createAccount, signIn, type ApiWorld, type SignedIn } from '../../../support/api.ts'
import { eventOf, paymentsWithoutProcessor, signatureOf } from '../../../support/webhooks.ts'

/** A database for this file only, so that the file can stop it. */
let mongod: Mongod
let world: ApiWorld
let ann: SignedIn

beforeAll(async () => {
  const logFile = join(mkdtempSync(join(tmpdir(), 'postonce-outage-')), 'mongod.log')
  mongod = await startMongod({ program: await findMongod(), logFile })
  world = await apiWorld({ MONGODB_URL: mongod.url }, { payments: paymentsWithoutProcessor(SECRET) })
  ann = await signIn(world.context)
})

afterAll(async () => {
  await world?.close()
  await mongod?.stop()
})

const credentials = { email: 'nobody@example.test', password: PASSWORD }
const post = { content: { text: 'Good morning' }, selectedPlatforms: ['bluesky'] }

const SECRET = 'whsec_outage'
const event = JSON.stringify(eventOf('invoice.payment_failed', { id: 'in_1' }))

/** Sends a read, a write, a login and a webhook concurrently. */
const REQUESTS: InjectOptions[] = [
  { url: '/api/posts' },
  { method: 'POST', url: '/api/posts', payload: post },
  { method: 'POST', url: '/api/auth/login', payload: credentials },
  {
    method: 'POST',
    url: '/api/payments/webhook',
    payload: event,
    headers: { 'content-type': 'application/json', 'stripe-signature': signatureOf(event, { secret: SECRET }) },
  },
]

async function ask(options: InjectOptions) {
  return world.app.inject({ ...options, headers: { ...options.headers, ...ann.headers } })
}

/** The body of a request whose deadline passed. Without a deadline it would have no response while the database hangs. */
function expectOutage(response: Awaited<ReturnType<typeof ask>>): void {
  expect(response.statusCode, response.body).toBe(503)
  expect(response.json()).toMatchObject({ success: false, statusCode: 503, code: 'SERVICE_UNAVAILABLE' })
  expect(Number(response.headers['retry-after'])).toBeGreaterThan(0)
}

describe('an API whose database does not respond', () => {
  beforeAll(() => void process.kill(mongod.pid, 'SIGSTOP'))
  afterAll(() => void process.kill(mongod.pid, 'SIGCONT'))

  it('every request is 503 within its deadline while the database hangs', async () => {
    for (const answer of await Promise.all(REQUESTS.map(ask))) expectOutage(answer)
  })

  it('/health/ready reports the outage before its deadline, and /health/live continues', async () => {
    const response = await ask({ url: '/health/ready' })
    expect(response.json()).toMatchObject({ statusCode: 503, missing: ['database'] })
    expect((await ask({ url: '/health/live' })).statusCode).toBe(200)
  })
})

describe('an API whose database is back', () => {
  it('the API serves requests again without a restart', async () => {
    await expect.poll(async () => (await ask({ url: '/health/ready' })).statusCode, { timeout: 50_000 }).toBe(200)
    const user = await createAccount(world.context, { withPassword: true })
    const payload = { email: user.email, password: PASSWORD }
    expect((await ask({ method: 'POST', url: '/api/auth/login', payload })).statusCode).toBe(200)
  })
})

describe('an API whose database is gone', () => {
  beforeAll(() => mongod.stop())

  it('every request is 503 within its deadline, from the first request on', async () => {
    for (const answer of await Promise.all([...REQUESTS, ...REQUESTS].map(ask))) expectOutage(answer)
  })
})
