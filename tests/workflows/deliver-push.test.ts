import type { TestWorkflowEnvironment } from '@temporalio/testing'
import type { CommandContext } from '../../src/commands/context.ts'
import { Worker, type WorkflowBundleOption } from '@temporalio/worker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createPushActivities } from '../../src/activities/notifications/push.ts'
import { registerPushDevice } from '../../src/commands/notifications/push-devices.ts'
import { PUSH_LIFE_MS, type PushState } from '../../src/domain/notifications/push.ts'
import { HOUR, MINUTE, SECOND } from '../../src/domain/shared/times.ts'
import { newUser } from '../../src/domain/users/user.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import type { PushOutcome } from '../../src/integrations/push/push.ts'
import { createTokenCipher } from '../../src/security/token-cipher.ts'
import type { Notification } from '../../src/store/notifications/notifications.ts'
import type { PushDevice, PushTokenStore } from '../../src/store/notifications/push-tokens.ts'
import { newId } from '../../src/store/shared/schema.ts'
import { loadBundle } from '../../src/worker/bundle.ts'
import { createSkippedClock, startTestServer, synced } from './skipped-time.ts'
import { partial } from '../support/partial.ts'

let env: TestWorkflowEnvironment
let workflowBundle: WorkflowBundleOption
let stop = async () => {}
beforeAll(async () => {
  env = await startTestServer()
  workflowBundle = await loadBundle()
})
afterEach(() => stop())
afterAll(() => env?.teardown())

/** `isUnavailable` is false so that the circuit breaker stays closed: its clock cannot be skipped. */
const down: PushOutcome = { kind: 'later', why: 'answered 503', isUnavailable: false }
const busy = (waitMs: number): PushOutcome => ({ kind: 'later', why: 'answered 429', waitMs, isUnavailable: false })
const sent: PushOutcome = { kind: 'sent' }

/** Runs the real workflow and activity under skipped time with one notification in memory. `respond` is the push service. */
async function startDelivery(
  tokens: string[],
  respond: (token: string, sinceMs: number, attempt: number) => PushOutcome,
) {
  const clock = await createSkippedClock(env)
  const startedAt = clock.now()
  const userId = newId()
  const notification: Notification & { push: { state: PushState; servedDevices: string[]; reason?: string } } = {
    _id: newId(),
    userId,
    dedupeKey: 'x',
    kind: 'webhook',
    message: 'Something happened',
    type: 'info',
    reference: { type: 'post', id: newId(), model: 'Post' },
    options: {},
    isListed: true,
    read: false,
    createdAt: startedAt,
    push: { state: 'waiting', servedDevices: [] },
  }
  let canRecord = true
  const devices: PushDevice[] = []
  const cipher = createTokenCipher(`test:${Buffer.alloc(32, 1).toString('base64')}`)
  const register = async (device: Pick<PushDevice, '_id' | 'userId' | 'platform' | 'sealedToken'>) => {
    devices.push({ ...device, createdAt: startedAt, lastSeen: startedAt })
  }
  for (const token of tokens) {
    const pushTokens = { register } as unknown as PushTokenStore
    await registerPushDevice(partial<CommandContext>({ cipher, pushTokens }), { userId, token, platform: 'ios' })
  }
  /** All calls to the push service, in order. */
  const calls: { token: string; at: number; accepted: boolean }[] = []
  const limits = { maxPosts: 1, maxCaptionGenerations: 1 }
  const activities = createPushActivities(
    partial({
      push: partial({
        async send(token) {
          const at = clock.now().getTime() - startedAt.getTime()
          const outcome = respond(token, at, calls.filter((call) => call.token === token).length + 1)
          calls.push({ token, at, accepted: outcome.kind === 'sent' })
          return outcome
        },
      }),
      pushes: {
        find: async () => structuredClone(notification),
        acknowledge: async () => void (notification.push.state = 'started'),
        addServedDevice: async (_id, deviceId) => {
          if (canRecord) notification.push.servedDevices.push(deviceId)
        },
        finish: async (_id, state, reason) => void Object.assign(notification.push, { state, reason }),
        listUnstarted: async () => [],
      },
      pushTokens: partial({ listOf: async () => devices, removeUnlessRenewed: async () => undefined }),
      users: partial({
        findById: async () =>
          newUser({ _id: userId, email: 'x@example.com', name: 'X', passwordHash: null, limits }, startedAt),
      }),
      planWeights: { free: 1, pro: 1 },
      notificationSlots: 100,
      cipher,
      clock,
      metrics: createMetrics(),
    }),
  )
  const taskQueue = `push-${notification._id}`
  const worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue,
    workflowBundle,
    activities: synced(activities, clock.sync),
  })
  const running = worker.run()
  stop = async () => {
    worker.shutdown()
    await running
    stop = async () => {}
  }
  const workflowId = `push/${notification._id}`
  const result = () =>
    env.client.workflow.execute<(id: string) => Promise<PushState>>('deliverPush', {
      workflowId,
      taskQueue,
      args: [notification._id],
    })
  return {
    notification,
    calls,
    result,
    /** Drops every later record of a device that has the message, as in a database outage. */
    loseRecords: () => void (canRecord = false),
    acceptedBy: (token: string) => calls.filter((call) => call.token === token && call.accepted),
    history: async () => (await env.client.workflow.getHandle(workflowId).fetchHistory()).events!,
  }
}

describe('a push service that is down', () => {
  it('each device gets the message once after an outage of the push service', async () => {
    const push = await startDelivery(['phone', 'tablet'], (_token, sinceMs) => (sinceMs < MINUTE ? down : sent))
    expect(await push.result()).toBe('sent')
    for (const token of ['phone', 'tablet']) expect(push.acceptedBy(token)).toHaveLength(1)
    expect(push.calls.at(-1)!.at).toBeLessThan(3 * MINUTE)
  })

  it('retries to a failing push service back off and leave a short history', async () => {
    const push = await startDelivery(['phone'], (_token, sinceMs) => (sinceMs < 5 * HOUR ? down : sent))
    expect(await push.result()).toBe('sent')
    // The waits are 1 s, 2 s, 4 s and so on, and then ten minutes each.
    expect(push.calls.length).toBeLessThan(45)
    expect((await push.history()).length).toBeLessThan(15)
  })
})

describe('a device that has the message', () => {
  it('a device that has the message does not get it again while another device is retried', async () => {
    const push = await startDelivery(['phone', 'tablet'], (token, _at, attempt) =>
      token === 'tablet' && attempt < 5 ? down : sent,
    )
    expect(await push.result()).toBe('sent')
    expect(push.calls.filter(({ token }) => token === 'phone')).toHaveLength(1)
    expect(push.calls.filter(({ token }) => token === 'tablet')).toHaveLength(5)
  })

  it('a device that has the message does not get it again when the database was down', async () => {
    const push = await startDelivery(['phone', 'tablet'], (token, _at, attempt) =>
      token === 'tablet' && attempt < 2 ? down : sent,
    )
    push.loseRecords()
    expect(await push.result()).toBe('sent')
    expect(push.acceptedBy('phone')).toHaveLength(1)
  })
})

it('a push retry waits for the time that a busy service states', async () => {
  const push = await startDelivery(['phone'], (_token, _at, attempt) => (attempt === 1 ? busy(40 * SECOND) : sent))
  expect(await push.result()).toBe('sent')
  expect(push.calls[1]!.at - push.calls[0]!.at).toBeGreaterThanOrEqual(40 * SECOND)
})

it('a push that is a day old fails with a reason on its record', async () => {
  const push = await startDelivery(['phone'], () => down)
  expect(await push.result()).toBe('failed')
  expect(push.notification.push).toMatchObject({
    state: 'failed',
    reason: '1 of 1 devices not reached: the push service answered 503',
  })
  expect(push.calls.at(-1)!.at).toBeGreaterThanOrEqual(PUSH_LIFE_MS)
  expect(push.calls.at(-1)!.at).toBeLessThan(PUSH_LIFE_MS + HOUR)
})
