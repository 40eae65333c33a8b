import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/clock.ts'
import type { NewEvent } from '../../../src/domain/events/events.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/domain/shared/times.ts'
import type { WebhookDelivery } from '../../../src/domain/webhooks/deliveries.ts'
import { createTestKey, type TestKey } from '../../support/api-keys.ts'
import { apiWorld, signIn, type ApiWorld } from '../../support/api.ts'
import { INACTIVE_ORCHESTRATOR } from '../../support/inactive-orchestrator.ts'
import { unique } from '../../support/servers.ts'
import { hang, startReceiver, status, verifySignature, type Receiver } from '../../support/webhook-receiver.ts'
import { createRounds, postEvent, storeEvents } from './world.ts'

let shiftMs = 0
const now = () => new Date(Date.now() + shiftMs)
let receiver: Receiver
let world: ApiWorld
let runRound: ReturnType<typeof createRounds>
beforeAll(async () => {
  receiver = await startReceiver()
  world = await apiWorld(
    { ALLOWED_PRIVATE_SERVERS: receiver.origin, WEBHOOK_TIMEOUT_MS: 500 },
    { orchestrator: INACTIVE_ORCHESTRATOR, clock: { ...systemClock, now } },
  )
  runRound = createRounds(world.context)
})
beforeEach(() => {
  shiftMs = 0
})
afterAll(async () => {
  await world?.close()
  await receiver?.stop()
})

/** Creates a user with a webhook at a path of its own. */
async function createWebhook(body: object = {}) {
  const owner = await signIn(world.context)
  // A key does not expire when the clock moves.
  const who = await createTestKey(world.context, owner)
  const path = `/${unique('hook')}`
  const { id, secret } = (await call(who, 'POST', '', { url: `${receiver.origin}${path}`, ...body })).json().data
  const userId = owner.user._id
  return {
    ...{ who, path, id: id as string, secret: secret as string, userId },
    add: (...events: NewEvent[]) => storeEvents(world.context, userId, events),
    round: () => runRound(userId, id),
    /** Moves the clock to the time of the next round, and runs it. */
    async roundAt(at: Date | null) {
      shiftMs += Math.max(0, at!.getTime() - now().getTime() + 1)
      return runRound(userId, id)
    },
    stored: async () => (await world.context.webhooks.find(userId, id))!,
    log: async (): Promise<Logged[]> => (await call(who, 'GET', `/${id}/deliveries`)).json().data.deliveries,
    call: (method: 'GET' | 'POST' | 'PATCH', sub: string, payload?: object) =>
      call(who, method, `/${id}${sub}`, payload),
    received: () => receiver.requestsTo(path).map(({ event }) => event.id),
    notifications: async () =>
      (await world.context.notifications.listOf(userId, 20)).filter(({ dedupeKey }) =>
        dedupeKey.startsWith('webhook-disabled'),
      ),
  }
}

interface Logged extends Pick<WebhookDelivery, 'state' | 'attemptCount'> {
  id: string
  eventId: string
  nextAttemptAt: string | null
  request: string
  attempts: { status: number | null; error: string | null; response: string | null; durationMs: number }[]
}

const call = (who: TestKey, method: 'GET' | 'POST' | 'PATCH', path: string, payload?: object) =>
  world.app.inject({ method, url: `/api/webhooks${path}`, headers: who.headers, ...(payload && { payload }) })

const ids = (events: NewEvent[]) => events.map(({ id }) => id)

describe('a delivered event', () => {
  it('has the body of the feed and a signature that only its secret verifies', async () => {
    const hook = await createWebhook()
    const event = postEvent('p1', { data: { postId: 'p1', url: 'https://example.com/ü' } })
    await hook.add(event)
    expect(await hook.round()).toBeNull()
    const [request] = receiver.requestsTo(hook.path)
    expect(request!.event).toEqual({
      id: event.id,
      sequence: 1,
      type: 'post.published',
      timestamp: event.occurredAt.toISOString(),
      data: event.data,
    })
    expect(request!.headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': event.id })
    verifySignature(hook.secret, request!)
    const other = await createWebhook()
    expect(() => verifySignature(other.secret, request!)).toThrow('No matching signature found')
    expect(() => verifySignature(hook.secret, { ...request!, body: request!.body.replace('p1', 'p2') })).toThrow(
      'No matching signature found',
    )
    expect(await hook.log()).toMatchObject([
      {
        eventId: event.id,
        state: 'delivered',
        attemptCount: 1,
        nextAttemptAt: null,
        request: request!.body,
        attempts: [{ status: 204, error: null, response: '', durationMs: expect.any(Number) }],
      },
    ])
  })

  it('has one of the chosen types, and a webhook gets no events from before its creation', async () => {
    const hook = await createWebhook({ events: ['post.failed'] })
    const wanted = postEvent('p', { type: 'post.failed' })
    await hook.add(postEvent('p'), wanted, postEvent('p'))
    const response = await call(hook.who, 'POST', '', { url: `${receiver.origin}${hook.path}-late` })
    await hook.round()
    await runRound(hook.userId, response.json().data.id)
    expect(hook.received()).toEqual([wanted.id])
    expect(receiver.requestsTo(`${hook.path}-late`)).toEqual([])
    expect((await hook.stored()).cursor).toBe(3)
  })

  it('carries two signatures for a day after a rotation', async () => {
    const hook = await createWebhook()
    const { secret } = (await hook.call('POST', '/rotate-secret')).json().data
    await hook.add(postEvent('p'))
    await hook.round()
    const [during] = receiver.requestsTo(hook.path)
    expect(during!.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/)
    for (const valid of [hook.secret, secret]) verifySignature(valid, during!)
    await shifted(DAY, async () => {
      await hook.add(postEvent('p', { occurredAt: now() }))
      await hook.round()
    })
    const after = receiver.requestsTo(hook.path)[1]!
    expect(after.headers['webhook-signature']).toMatch(/^v1,\S+$/)
  })
})

async function shifted(ms: number, act: () => Promise<void>): Promise<void> {
  shiftMs += ms
  await act()
}

describe('a receiver that fails', () => {
  it.each<[string, Parameters<Receiver['respond']>[1], object]>([
    ['responds with 500', status(500, {}, 'out of order'), { status: 500, error: null, response: 'out of order' }],
    ['redirects', status(302, { location: 'http://127.0.0.1:1/' }), { status: 302, error: null }],
    ['hangs', hang, { status: null, error: 'did not answer in time', response: null }],
    ['closes the connection', (_, response) => response.destroy(), { status: null, error: 'closed the connection' }],
    ['sends no HTTP', (_, response) => void response.socket!.end('garbage\r\n\r\n'), { status: null }],
  ])('that %s gets the event again with the same id', async (_, respond, attempt) => {
    const hook = await createWebhook()
    const event = postEvent('p')
    await hook.add(event)
    receiver.respond(hook.path, respond)
    const nextAt = await hook.round()
    expect(nextAt!.getTime()).toBeGreaterThan(now().getTime())
    expect(await hook.log()).toMatchObject([{ state: 'pending', attemptCount: 1, attempts: [attempt] }])
    receiver.accept(hook.path)
    expect(await hook.roundAt(nextAt)).toBeNull()
    expect(hook.received()).toEqual([event.id, event.id])
    expect(await hook.log()).toMatchObject([
      { state: 'delivered', attemptCount: 2, attempts: [attempt, { status: 204 }] },
    ])
  })

  it('a long or endless response counts by its status, and the log has its first kilobyte', async () => {
    const hook = await createWebhook()
    await hook.add(postEvent('p'))
    receiver.respond(hook.path, (_, response) => void response.writeHead(200).write('x'.repeat(100_000)))
    expect(await hook.round()).toBeNull()
    await hook.add(postEvent('p'))
    receiver.respond(hook.path, (_, response) => void response.writeHead(200).write('begin\u0007'))
    expect(await hook.round()).toBeNull()
    const responses = (await hook.log()).map(({ state, attempts }) => [state, attempts[0]!.response])
    expect(responses).toEqual([
      ['delivered', 'begin\ufffd'],
      ['delivered', 'x'.repeat(1_024)],
    ])
  })

  it('events of other posts arrive meanwhile, and those of the post in order afterwards', async () => {
    const hook = await createWebhook()
    const [first, second, third] = [postEvent('a'), postEvent('a'), postEvent('a')]
    const others = [postEvent('b'), postEvent('c')]
    await hook.add(first, others[0]!, second, others[1]!, third)
    receiver.respond(hook.path, ({ event }, response) => {
      response.writeHead(event.data['postId'] === 'a' ? 503 : 200).end()
    })
    const nextAt = await hook.round()
    expect(hook.received().toSorted()).toEqual([...ids(others), first.id].toSorted())
    receiver.accept(hook.path)
    expect(await hook.roundAt(nextAt)).toBeNull()
    expect(hook.received().slice(3)).toEqual(ids([first, second, third]))
  })

  it('after five failures in a row a single event tests it', async () => {
    const hook = await createWebhook()
    const events = Array.from({ length: 30 }, (_, nth) => postEvent(`p${nth}`))
    await hook.add(...events)
    receiver.respond(hook.path, status(500))
    let nextAt = await hook.round()
    const failures = hook.received().length
    expect(failures).toBeGreaterThanOrEqual(5)
    expect(failures).toBeLessThan(10)
    nextAt = await hook.roundAt(nextAt)
    expect(hook.received()).toHaveLength(failures + 1)
    receiver.accept(hook.path)
    while (nextAt !== null) nextAt = await hook.roundAt(nextAt)
    expect(new Set(hook.received())).toEqual(new Set(ids(events)))
    expect((await hook.stored()).health).toMatchObject({ failures: 0, failingSince: null, pausedUntil: null })
  })

  it('a slow write of an earlier failure does not end the pause', async () => {
    const hook = await createWebhook()
    await hook.add(...Array.from({ length: 30 }, (_, nth) => postEvent(`p${nth}`)))
    receiver.respond(hook.path, status(500))
    const { webhooks } = world.context
    const setHealth: typeof webhooks.setHealth = async (webhook, health) => {
      if (health.failures === 1) await delay(200)
      await webhooks.setHealth(webhook, health)
    }
    await createRounds(world.context, { webhooks: { ...webhooks, setHealth } })(hook.userId, hook.id)
    const { failures, pausedUntil } = (await hook.stored()).health
    expect(failures).toBe(hook.received().length)
    expect(pausedUntil).not.toBeNull()
  })

  it('Retry-After with 429 postpones all events', async () => {
    const hook = await createWebhook()
    await hook.add(postEvent('a'))
    receiver.respond(hook.path, status(429, { 'retry-after': '7200' }))
    const nextAt = await hook.round()
    expect(nextAt!.getTime() - now().getTime()).toBeGreaterThan(HOUR)
    receiver.accept(hook.path)
    await hook.add(postEvent('b'))
    shiftMs += HOUR
    expect(await hook.round()).toEqual(nextAt)
    expect(hook.received()).toHaveLength(1)
    expect(await hook.roundAt(nextAt)).toBeNull()
    expect(hook.received()).toHaveLength(3)
  })

  it('410 disables the webhook, and its owner gets a notification', async () => {
    const hook = await createWebhook()
    await hook.add(postEvent('a'), postEvent('a'))
    receiver.respond(hook.path, status(410))
    expect(await hook.round()).toBeNull()
    expect(hook.received()).toHaveLength(1)
    expect((await hook.call('GET', '')).json().data).toMatchObject({ enabled: false, disabledReason: 'gone' })
    expect((await hook.log()).map(({ state }) => state)).toEqual(['failed', 'failed'])
    expect(await hook.notifications()).toMatchObject([
      {
        type: 'warning',
        message: expect.stringMatching(
          /^Your webhook to 127\.0\.0\.1:\d+ was disabled, because its receiver responded with 410/,
        ),
      },
    ])
    expect(await hook.round()).toBeNull()
    expect(hook.received()).toHaveLength(1)
  })

  it('an event is given up after three days, and the webhook is disabled after five', async () => {
    const hook = await createWebhook()
    const first = postEvent('a')
    await hook.add(first)
    receiver.respond(hook.path, status(500))
    const begin = now().getTime()
    let nextAt = await hook.round()
    for (let day = 1; (await hook.stored()).isEnabled;) {
      if (now().getTime() - begin > day * DAY) {
        await hook.add(postEvent(`day ${day}`))
        day += 1
      }
      if (nextAt === null) shiftMs += 6 * HOUR
      nextAt = nextAt === null ? await hook.round() : await hook.roundAt(nextAt)
      if (now().getTime() - begin > 8 * DAY) throw new Error('still enabled')
    }
    expect(now().getTime() - begin).toBeGreaterThanOrEqual(5 * DAY)
    const given = (await hook.log()).find(({ eventId }) => eventId === first.id)!
    expect(given).toMatchObject({ state: 'failed', nextAttemptAt: null })
    expect(given.attemptCount).toBeGreaterThan(8)
    expect((await hook.call('GET', '')).json().data).toMatchObject({ disabledReason: 'failing' })
    expect(await hook.notifications()).toHaveLength(1)
    receiver.accept(hook.path)
    await hook.call('PATCH', '', { enabled: true })
    const fresh = postEvent('b', { occurredAt: now() })
    await hook.add(fresh)
    expect(await hook.round()).toBeNull()
    expect(hook.received().at(-1)).toBe(fresh.id)
  })

  it('a secret that can no longer be read is reported in the log', async () => {
    const hook = await createWebhook()
    await world.context.database.connection
      .collection<{ _id: string }>('webhooks')
      .updateOne({ _id: hook.id }, { $set: { sealedSecret: 'v1.lost.a.b.c' } })
    await hook.add(postEvent('a'))
    const nextAt = await hook.round()
    expect(await hook.log()).toMatchObject([{ attempts: [{ error: expect.stringContaining('Rotate it') }] }])
    const { secret } = (await hook.call('POST', '/rotate-secret')).json().data
    expect(await hook.roundAt(nextAt)).toBeNull()
    verifySignature(secret, receiver.requestsTo(hook.path)[0]!)
  })
})

describe('sending again', () => {
  it('one event is sent again with its id', async () => {
    const hook = await createWebhook()
    const events = [postEvent('a'), postEvent('b')]
    await hook.add(...events)
    await hook.round()
    const logged = (await hook.log()).find(({ eventId }) => eventId === events[0]!.id)!
    const response = await hook.call('POST', `/deliveries/${logged.id}/redeliver`)
    expect(response.json()).toMatchObject({ data: { id: logged.id, state: 'pending', attemptCount: 0 } })
    await hook.round()
    expect(hook.received()).toHaveLength(3)
    expect(hook.received()[2]).toBe(events[0]!.id)
    expect(await hook.log()).toHaveLength(2)
  })

  it('all events since an instant are sent again in order, and then the new ones', async () => {
    const hook = await createWebhook()
    const begin = now().getTime()
    const events = [0, 1, 2, 3].map((nth) => postEvent('a', { occurredAt: new Date(begin + nth * MINUTE) }))
    await hook.add(...events)
    await hook.round()
    const since = new Date(begin + 2 * MINUTE).toISOString()
    expect((await hook.call('POST', '/redeliver', { since })).statusCode).toBe(202)
    const fresh = postEvent('a')
    await hook.add(fresh)
    await hook.round()
    expect(hook.received()).toEqual([...ids(events), ...ids(events.slice(2)), fresh.id])
    expect((await hook.call('POST', '/redeliver', { since: new Date(begin + DAY).toISOString() })).statusCode).toBe(202)
    await hook.round()
    expect(hook.received()).toHaveLength(7)
  })

  it('a test event is signed like others', async () => {
    const hook = await createWebhook({ events: ['post.failed'] })
    const { eventId } = (await hook.call('POST', '/test')).json().data
    await hook.round()
    const [request] = receiver.requestsTo(hook.path)
    expect(request!.event).toMatchObject({
      id: eventId,
      type: 'webhook.test',
      sequence: 0,
      data: { webhookId: hook.id },
    })
    verifySignature(hook.secret, request!)
  })
})

describe('what keeps a round from sending', () => {
  it('a disabled account gets nothing until it is enabled again', async () => {
    const hook = await createWebhook()
    const users = world.context.database.connection.collection<{ _id: string }>('users')
    const setDisabled = (isDisabled: boolean) => users.updateOne({ _id: hook.userId }, { $set: { isDisabled } })
    await setDisabled(true)
    const event = postEvent('a')
    await hook.add(event)
    expect(await hook.round()).toBeNull()
    await setDisabled(false)
    shiftMs += HOUR + SECOND
    await hook.round()
    expect(hook.received()).toEqual([event.id])
  })

  it('an address that is no longer allowed is not called', async () => {
    const hook = await createWebhook()
    await world.context.database.connection
      .collection<{ _id: string }>('webhooks')
      .updateOne({ _id: hook.id }, { $set: { url: 'http://127.0.0.1:1/x' } })
    await hook.add(postEvent('a'))
    await hook.round()
    expect(await hook.log()).toMatchObject([{ attempts: [{ status: null, error: 'is not at an allowed address' }] }])
  })

  it('a flood of events waits in the feed, and all of them arrive', async () => {
    const hook = await createWebhook()
    const events = Array.from({ length: 1_200 }, (_, nth) => postEvent(`p${nth % 300}`))
    for (let from = 0; from < events.length; from += 400) await hook.add(...events.slice(from, from + 400))
    receiver.respond(hook.path, status(500))
    await hook.round()
    const pending = await world.context.webhookDeliveries.listPending({ _id: hook.id, userId: hook.userId })
    expect(pending.length).toBeLessThanOrEqual(610)
    receiver.accept(hook.path)
    const before = hook.received().length
    for (let nextAt = await hook.roundAt((await hook.stored()).wakeAt); nextAt !== null;)
      nextAt = await hook.roundAt(nextAt)
    const arrived = receiver.requestsTo(hook.path).slice(before)
    expect(new Set(arrived.map(({ event }) => event.id)).size).toBe(1_200)
    for (const postId of ['p0', 'p299']) {
      const sequences = arrived
        .filter(({ event }) => event.data['postId'] === postId)
        .map(({ event }) => event.sequence)
      expect(sequences).toEqual(sequences.toSorted((a, b) => a - b))
    }
  })
})
