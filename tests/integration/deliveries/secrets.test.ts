import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readHistories } from '../../faults/gather.ts'
import { ALL_QUEUES, startDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts'
import { unique } from '../../support/servers.ts'
import { allRecords, createRecordedLogger } from '../../support/traces.ts'

// Invariant I7: no store, log, history or response contains a planted secret.

let world: DeliveryWorld
const captured = createRecordedLogger()
const text = unique('words-of-a-post')
const responses: string[] = []
const secrets: Record<string, string> = {}

beforeAll(async () => {
  world = await startDeliveryWorld(ALL_QUEUES, { logger: captured.logger })
  const user = await world.user()
  Object.assign(secrets, user.secrets)
  const account = await world.context.credentials.get(user.userId, 'bluesky', { signal: AbortSignal.timeout(60_000) })
  secrets['accessToken'] = account!.accessToken
  secrets['refreshToken'] = account!.refreshToken!

  const record = async (response: Promise<{ body: unknown }>) => responses.push(JSON.stringify((await response).body))
  await user.until(await user.create({ content: { text } }))
  const path = '/xrpc/com.atproto.repo.putRecord'
  const body = JSON.stringify({ error: 'InvalidRequest', message: `No: ${account!.accessToken}` })
  await world.control.fault({ path, times: 1, action: { status: 400, headers: {}, body } })
  const refused = await user.create({ content: { text } })
  await user.until(refused)
  await world.control.fault({ path, times: 1, action: { dropAfterAccept: true } })
  await user.until(await user.create({ content: { text } }))
  await record(user.call('GET', `/api/posts/${refused}`))
  await record(user.call('GET', '/api/platform/find'))
  await record(user.call('GET', '/api/platform/bluesky/refresh'))
  await record(user.call('GET', '/api/auth/me'))
  await record(user.connect())
  const wrong = { identifier: user.account.handle, appPassword: secrets['password'] }
  await record(user.call('POST', '/api/platform/bluesky/connect', wrong))
  await world.app.inject({
    method: 'POST',
    url: '/api/auth/login?token=in-the-address',
    payload: { email: user.secrets.email, password: `${secrets['password']}!` },
  })
})
afterAll(() => world?.stop())

function expectNone(where: string, except: string[] = []): void {
  expect(where.length).toBeGreaterThan(100)
  for (const [name, secret] of Object.entries(secrets)) {
    if (!except.includes(name)) expect(where.includes(secret), name).toBe(false)
  }
}

describe('planted secrets', () => {
  it('the database contains no planted secret, but sealed tokens and hashed passwords', async () => {
    const records = await allRecords(world.context)
    expectNone(JSON.stringify(records), ['email'])
    expect(JSON.stringify(records)).toContain(text)
  })

  it('workflow histories contain no planted secret and no text of a post', async () => {
    const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE } = world.context.config
    const { text: histories } = await readHistories(TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE)
    expect(histories).toContain('publishBriefly')
    expectNone(histories)
    expect(histories).not.toContain(text)
  })

  it('the log contains no planted secret, address or query value', () => {
    const log = captured.written()
    expect(log).toContain('post created')
    expectNone(log)
    expect(log).not.toContain(text)
    expect(log).not.toContain('in-the-address')
    const lines = log.trim().split('\n')
    expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({
        msg: 'post created',
        requestId: expect.stringMatching(/^[\w-]{36}$/),
        postId: expect.stringMatching(/^[0-9a-f]{24}$/),
      }),
    )
  })

  it('responses contain no planted secret and no sealed token', () => {
    expectNone(responses.join('\n'), ['email'])
    expect(responses.join('\n')).not.toMatch(/v1\.[^.]+\.[^.]+\.[^.]+\./)
  })
})
