import { MockActivityEnvironment } from '@temporalio/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createSweepActivities } from '../../../src/activities/publishing/sweep.ts'
import { MINUTE } from '../../../src/domain/shared/times.ts'
import { readDatabase, readHistories } from '../../faults/gather.ts'
import { ALL_QUEUES, poll, startDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts'
import { listPushStates, registerDevice, startPushReceiver, type PushReceiver } from '../../support/push.ts'
import { unique } from '../../support/servers.ts'
import { killWorker } from './killed.ts'

let push: PushReceiver
let world: DeliveryWorld
beforeAll(async () => {
  push = await startPushReceiver()
  world = await startDeliveryWorld({ ...push.env(), ...ALL_QUEUES })
})
afterEach(() => push.control.clearFaults())
afterAll(async () => {
  await world?.stop()
  await push?.stop()
})

/** Stores one notification and nothing else. */
async function notify(userId: string): Promise<string> {
  const dedupeKey = unique('event')
  const reference = { type: 'post', id: dedupeKey, model: 'Post' }
  await world.context.notifications.insertOnce({
    userId,
    dedupeKey,
    kind: 'webhook',
    message: 'Something happened',
    type: 'info',
    reference,
    options: {},
  })
  const [newest] = await world.context.notifications.listOf(userId, 1)
  return newest!._id
}

const statesOf = (userId: string) => listPushStates(world.context, userId)
const untilAll = (userId: string, state: string, count: number) =>
  poll(
    () => statesOf(userId),
    (states) => states.length === count && states.every((one) => one === state),
  )

describe('pushes of a post', () => {
  it('a post is on time while the push service hangs', async () => {
    const user = await world.user()
    await registerDevice(user)
    await push.control.fault({ action: { hang: true } })
    const done = await user.until(await user.create({ content: { text: 'Good morning' } }))
    expect(done.status).toBe('COMPLETED')
    expect(await statesOf(user.userId)).toEqual(expect.arrayContaining(['started']))
  })

  it('a push reaches every device of its user once', async () => {
    const user = await world.user()
    const devices = [await registerDevice(user), await registerDevice(user, 'web')]
    await user.until(await user.create({ content: { text: 'Good morning' } }))
    // One for the creation and one for the publication.
    await untilAll(user.userId, 'sent', 2)
    const ids = (await world.notificationsOf(user.userId)).map(({ _id }) => _id).toSorted()
    for (const device of devices) expect((await push.sentTo(device)).toSorted()).toEqual(ids)
  })

  it('a user without devices causes no push workflow', async () => {
    const user = await world.user()
    await user.until(await user.create({ content: { text: 'Good morning' } }))
    await untilAll(user.userId, 'none', 2)
    const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE } = world.context.config
    const histories = JSON.stringify(await readHistories(TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE))
    for (const { _id } of await world.notificationsOf(user.userId)) expect(histories).not.toContain(`push/${_id}`)
  })
})

describe('a device', () => {
  it('an unreachable device gets the message later, and the other devices do not get it again', async () => {
    const user = await world.user({ connected: false })
    const devices = [await registerDevice(user), await registerDevice(user), await registerDevice(user)]
    await push.control.fault({ path: 'messages:send', times: 1, action: { status: 503 } })
    const id = await notify(user.userId)
    await untilAll(user.userId, 'sent', 1)
    for (const device of devices) expect(await push.sentTo(device)).toEqual([id])
  })

  it('a dead device is removed', async () => {
    const user = await world.user({ connected: false })
    const [gone, left] = [await registerDevice(user), await registerDevice(user)]
    await push.control.revoke(gone)
    const id = await notify(user.userId)
    await untilAll(user.userId, 'sent', 1)
    expect(await push.sentTo(left)).toEqual([id])
    expect(await world.context.pushTokens.listOf(user.userId)).toHaveLength(1)
    expect((await user.call('DELETE', `/api/notifications/devices/${encodeURIComponent(gone)}`)).status).toBe(404)
  })

  it('a dead device that another user has registered meanwhile is not removed', async () => {
    const [before, after] = [await world.user({ connected: false }), await world.user({ connected: false })]
    const token = await registerDevice(before)
    const [asRead] = await world.context.pushTokens.listOf(before.userId)
    await after.call('POST', '/api/notifications/devices', { token, platform: 'ios' })
    await world.context.pushTokens.removeUnlessRenewed(asRead!)
    expect(await world.context.pushTokens.listOf(after.userId)).toHaveLength(1)
  })

  it('a message that Firebase permanently refuses is given up, and the reason is stored', async () => {
    const user = await world.user({ connected: false })
    const token = await registerDevice(user)
    const details = [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode: 'INVALID_ARGUMENT' }]
    const body = { error: { code: 400, message: 'Invalid message', status: 'INVALID_ARGUMENT', details } }
    await push.control.fault({ path: 'messages:send', times: 1, action: { status: 400, body } })
    await notify(user.userId)
    await untilAll(user.userId, 'failed', 1)
    const [notification] = await world.notificationsOf(user.userId)
    expect(notification!.push).toMatchObject({ reason: 'the push service answered 400 INVALID_ARGUMENT' })
    expect(await push.sentTo(token)).toEqual([])
    expect(await world.context.pushTokens.listOf(user.userId)).toHaveLength(1)
  })
})

it('the user of a disabled account gets no push', async () => {
  const user = await world.user({ connected: false })
  const token = await registerDevice(user)
  const { database } = world.context
  const _id = user.userId
  await database.connection.collection<{ _id: string }>('users').updateOne({ _id }, { $set: { isDisabled: true } })
  await notify(user.userId)
  await untilAll(user.userId, 'failed', 1)
  expect(await push.sentTo(token)).toEqual([])
})

it('the sweeper starts a push that no workflow has started', async () => {
  const user = await world.user({ connected: false })
  const token = await registerDevice(user)
  const { orchestrator } = world.context
  const { startWork } = orchestrator
  let id: string
  try {
    orchestrator.startWork = async () => false
    id = await notify(user.userId)
  } finally {
    orchestrator.startWork = startWork
  }
  expect(await statesOf(user.userId)).toEqual(['waiting'])
  const clock = { ...world.context.clock, now: () => new Date(Date.now() + MINUTE) }
  const { sweepDeliveries } = createSweepActivities({ ...world.context, clock })
  await new MockActivityEnvironment().run(sweepDeliveries)
  await untilAll(user.userId, 'sent', 1)
  expect(await push.sentTo(token)).toEqual([id])
})

it('push tokens are in no record, history or log in plain text', async () => {
  const user = await world.user({ connected: false })
  const token = await registerDevice(user)
  await notify(user.userId)
  await untilAll(user.userId, 'sent', 1)
  const { config, database } = world.context
  const { document } = await readDatabase(database.connection.db!)
  const histories = await readHistories(config.TEMPORAL_ADDRESS, config.TEMPORAL_NAMESPACE)
  expect(JSON.stringify(document)).toContain(user.userId)
  expect(JSON.stringify([document, histories])).not.toContain(token)
})

describe('a worker killed between an accepted effect and its record', () => {
  let killed: Awaited<ReturnType<typeof killWorker>>
  beforeAll(async () => {
    killed = await killWorker(world, push)
  })

  it('a killed worker leaves exactly one notification of a published post', async () => {
    const { user, postId, news, storedWhenKilled, heldWhenKilled } = killed
    expect([storedWhenKilled, heldWhenKilled]).toEqual([2, 1])
    expect(news.filter(({ dedupeKey }) => dedupeKey === `post-published:${postId}:bluesky`)).toHaveLength(1)
    expect(await user.published()).toHaveLength(1)
  })

  it('a killed worker leaves every device with each message once, also the one in flight', async () => {
    const ids = killed.news.map(({ _id }) => _id).toSorted()
    expect(ids).toHaveLength(3)
    for (const device of killed.devices) expect((await push.sentTo(device)).toSorted()).toEqual(ids)
  })
})
