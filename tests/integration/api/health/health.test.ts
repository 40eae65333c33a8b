import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../../../src/api/app.ts'
import { createContext } from '../../../../src/context.ts'
import { apiWorld, type ApiWorld } from '../../../support/api.ts'
import { poll } from '../../../support/delivery-world.ts'
import { connectedUser } from '../../../support/published.ts'
import { testConfig } from '../../../support/servers.ts'

let world: ApiWorld
beforeAll(async () => {
  world = await apiWorld({ RATE_LIMIT_PER_ADDRESS: 3 })
})
afterAll(() => world.close())

const get = (path: string, app = world.app) => app.inject({ url: `/health/${path}` })
const HEALTHY = { success: true, message: 'Healthy', data: { status: 'ok' } }

describe('health routes', () => {
  it('/health/live responds without calling another service', async () => {
    const response = await get('live')
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual(HEALTHY)
  })

  it('/health/ready responds with 200 when the database and its indexes are available', async () => {
    const response = await get('ready')
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual(HEALTHY)
  })

  it('/health/ready names missing indexes', async () => {
    const context = await createContext(testConfig())
    const app = await buildApp(context)
    try {
      const response = await get('ready', app)
      expect(response.statusCode).toBe(503)
      expect(response.json()).toMatchObject({ success: false, statusCode: 503, code: 'SERVICE_UNAVAILABLE' })
      expect(response.json().missing).toContain('index users: email')

      await context.database.createSchema()
      expect(await get('ready', app)).toMatchObject({ statusCode: 200 })
    } finally {
      await app.close()
      await context.close()
    }
  })

  it('/health/ready is 503 while the process is stopping', async () => {
    const stopping = await apiWorld()
    try {
      expect(await get('ready', stopping.app)).toMatchObject({ statusCode: 200 })
      stopping.context.drain()
      expect((await get('ready', stopping.app)).json()).toMatchObject({ missing: ['process is stopping'] })
    } finally {
      await stopping.close()
    }
  })

  it('/health/delivery lists what prevents publishing: here no worker runs', async () => {
    await world.context.orchestrator.ensureSchedules(world.context.config.SWEEP_INTERVAL_MS)
    // A busy Temporal server may respond later than the check waits.
    const response = await poll(
      () => get('delivery'),
      (answer) => !answer.json().missing.includes('Temporal does not answer'),
    )
    expect(response.statusCode).toBe(503)
    expect(response.json()).toMatchObject({ success: false, code: 'SERVICE_UNAVAILABLE' })
    expect(response.json().missing).toContain('No worker polls the task queue publishing for workflows')
  })

  it('/health/delivery names unavailable object storage', async () => {
    const context = await createContext(testConfig({ S3_ENDPOINT: 'http://127.0.0.1:9' }))
    const app = await buildApp(context)
    try {
      expect((await get('delivery', app)).json().missing.join()).toMatch(/storage/i)
    } finally {
      await app.close()
      await context.close()
    }
  })

  it('/health/delivery names an encryption key that stored logins need', async () => {
    const context = await createContext(testConfig())
    const app = await buildApp(context)
    try {
      const { _id: userId } = await connectedUser(context, ['bluesky'])
      const accounts = context.database.connection.collection('accounts')
      await accounts.updateOne({ userId }, { $set: { 'auth.accessToken': 'v1.lost.a.b.c' } })
      expect((await get('delivery', app)).json().missing).toContain(
        'Stored secrets need the encryption key lost, which is not configured',
      )
    } finally {
      await app.close()
      await context.close()
    }
  })

  it('health routes do not count against the limit per address', async () => {
    for (let count = 0; count < 5; count += 1) expect(await get('live')).toMatchObject({ statusCode: 200 })
  })
})
