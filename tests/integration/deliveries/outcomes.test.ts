import { Client, Connection } from '@temporalio/client'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { changeActivity } from '../../../src/commands/users/change-activity.ts'
import { CLI_ACTOR } from '../../../src/domain/users/audit.ts'
import { DAY, HOUR } from '../../../src/domain/shared/times.ts'
import { publishPostWorkflowId } from '../../../src/workflows/contract/publishing.ts'
import { readHistories } from '../../faults/gather.ts'
import { ALL_QUEUES, poll, startDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts'
import { createRecordedLogger } from '../../support/traces.ts'

let world: DeliveryWorld
const captured = createRecordedLogger()

beforeAll(async () => {
  world = await startDeliveryWorld(ALL_QUEUES, { logger: captured.logger })
})
afterEach(() => world.control.clearFaults())
afterAll(() => world?.stop())

const PUT_RECORD = '/xrpc/com.atproto.repo.putRecord'
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString()

/** Changes a stored record directly, without the service. */
const change = (collection: string, id: string, fields: object) =>
  world.context.database.connection.collection<{ _id: string }>(collection).updateOne({ _id: id }, { $set: fields })

const administer = (userId: string, isActive: boolean) => changeActivity(world.context, CLI_ACTOR, userId, isActive)

const messagesOf = async (userId: string) =>
  (await world.notificationsOf(userId)).map(({ type, message }) => `${type}: ${message}`)

describe('a call in progress', () => {
  it('a call accepted after a delete restores nothing, and the owner is notified', async () => {
    const user = await world.user()
    await world.control.fault({ path: PUT_RECORD, times: 1, action: { delayMs: 1_500 } })
    const postId = await user.create({ content: { text: 'Too late to delete' } })
    await user.until(postId, ['PROCESSING'])
    expect((await user.call('DELETE', `/api/posts/${postId}`)).status).toBe(200)

    const [notification] = await poll(
      () => world.notificationsOf(user.userId),
      ([newest]) => newest?.message === 'Successfully posted on bluesky: “Too late to delete”',
    )
    expect(notification).toMatchObject({
      type: 'success',
      reference: { type: 'post', id: postId, model: 'Post' },
      options: { link: expect.stringMatching(/^https:\/\/bsky\.app\/profile\//) },
    })
    expect(await user.published()).toHaveLength(1)
    expect((await user.call('GET', `/api/posts/${postId}`)).status).toBe(404)
    expect(await world.context.posts.find(postId)).toBeNull()
  })

  it('a call that outlasts its workflow task is made once, and its activity waits for it', async () => {
    const user = await world.user()
    await world.control.fault({ path: PUT_RECORD, times: 1, action: { delayMs: 4_000 } })
    const postId = await user.create({ content: { text: 'Slowly accepted' } })
    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED', platformStatuses: [{ attemptCount: 1 }] })
    expect(await user.published()).toHaveLength(1)
    const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = world.context.config
    const connection = await Connection.connect({ address })
    const handle = new Client({ connection, namespace }).workflow.getHandle(publishPostWorkflowId(postId))
    await handle.result()
    const { events } = await handle.fetchHistory()
    await connection.close()
    expect(events!.flatMap((event) => event.activityTaskStartedEventAttributes?.attempt ?? [])).toEqual([1])
  })

  it('a claimed post cannot be cancelled', async () => {
    const user = await world.user()
    await world.control.fault({ path: PUT_RECORD, times: 1, action: { delayMs: 1_500 } })
    const postId = await user.create({ content: { text: 'Too late to cancel' } })
    await user.until(postId, ['PROCESSING'])
    expect(await user.call('POST', `/api/posts/${postId}/cancel`)).toMatchObject({
      status: 404,
      body: { message: 'Post not found, unauthorized, or not in a cancellable state' },
    })
    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
    expect(await user.published()).toHaveLength(1)
  })
})

const refusal = (status: number, error: string, message: string, headers = {}) => ({
  status,
  headers,
  body: JSON.stringify({ error, message }),
})

describe('a platform that refuses or asks to wait', () => {
  const TEXT = 'Words that the platform repeats'
  it('a refusal by the platform is in the status, timeline, log and history, but not in the notification', async () => {
    const user = await world.user()
    const message = `<b>Invalid</b> record: the text "${TEXT}" is not wanted here`
    await world.control.fault({ path: PUT_RECORD, times: 1, action: refusal(400, 'InvalidRecord', message) })
    const postId = await user.create({ content: { text: TEXT } })
    const words = 'Invalid record: the text "[hidden]" is not wanted here'
    expect(await user.until(postId)).toMatchObject({
      platformStatuses: [
        {
          status: 'failed',
          errorCode: 'validation',
          error: `Bluesky refused the post as invalid. Bluesky says: “${words}” (InvalidRecord)`,
        },
      ],
    })
    const { body } = await user.call('GET', `/api/posts/${postId}/timeline`)
    expect(body.data.events).toContainEqual(
      expect.objectContaining({ result: 'refused', platformCode: 'InvalidRecord', platformText: words }),
    )
    const line = { msg: 'delivery failed', postId, errorCode: 'validation', platformCode: 'InvalidRecord' }
    expect(
      captured
        .written()
        .split('\n')
        .filter(Boolean)
        .map((text) => JSON.parse(text) as object),
    ).toContainEqual(expect.objectContaining({ ...line, platformText: words }))
    await expect
      .poll(() => messagesOf(user.userId))
      .toContain(
        `error: Posting “${TEXT}” on Bluesky failed: Bluesky refused the post as invalid. Create a changed post.`,
      )
    const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE } = world.context.config
    const history = async () => (await readHistories(TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE)).text
    // The result is in the history when the workflow task has ended.
    await poll(history, (text) => text.includes('is not wanted here” (InvalidRecord)'))
    expect(await history()).not.toContain(TEXT)
    expect(captured.written()).not.toContain(TEXT)
  })

  it('the status shows why and until when a delivery waits, until the delivery continues', async () => {
    const user = await world.user()
    const limited = refusal(429, 'RateLimitExceeded', 'Slow down', { 'retry-after': '6' })
    await world.control.fault({ path: PUT_RECORD, times: 1, action: limited })
    const begun = Date.now()
    const postId = await user.create({ content: { text: 'Patience' } })
    const waiting = await poll(
      () => user.status(postId),
      ({ platformStatuses: [entry] }) => entry!.nextAttemptAt !== null,
    )
    expect(waiting).toMatchObject({
      status: 'PROCESSING',
      platformStatuses: [
        {
          status: 'pending',
          errorCode: 'rate_limited',
          error: 'Bluesky asks to slow down. Bluesky says: “Slow down” (RateLimitExceeded)',
        },
      ],
    })
    expect(Date.parse(waiting.platformStatuses[0]!.nextAttemptAt!)).toBeGreaterThan(begun + 5_000)
    const { body } = await user.call('GET', `/api/posts/${postId}`)
    expect(body.data.post.platformStatuses).toEqual(waiting.platformStatuses)
    expect(await user.until(postId)).toMatchObject({
      platformStatuses: [{ status: 'completed', error: null, errorCode: null, nextAttemptAt: null }],
    })
  })
})

describe('a delivery that waits for long', () => {
  const WAIT_SECONDS = 3_000
  async function waitingPost(selectedPlatforms: string[] = ['bluesky']) {
    const user = await world.user()
    const retryAfter = { 'retry-after': String(WAIT_SECONDS) }
    const action = refusal(429, 'RateLimitExceeded', 'Slow down', retryAfter)
    await world.control.fault({ path: PUT_RECORD, times: 1, action })
    const postId = await user.create({ content: { text: 'Much patience' }, selectedPlatforms })
    const waiting = await poll(
      () => user.status(postId),
      ({ platformStatuses: [entry, other] }) => entry!.nextAttemptAt !== null && other?.status !== 'pending',
    )
    return { user, postId, entry: waiting.platformStatuses[0]! }
  }

  it('the user is notified, Retry-After says when it continues, and the post can be edited and cancelled', async () => {
    const { user, postId } = await waitingPost()
    const { headers } = await user.call('GET', `/api/posts/${postId}/status`)
    expect(Number(headers['retry-after'])).toBeGreaterThan(WAIT_SECONDS - 60)
    const { body } = await user.call('GET', '/api/notifications')
    const messages: string[] = body.data.notifications.map(({ message }: { message: string }) => message)
    expect(
      messages.filter((text) => /waits for Bluesky: Bluesky asks to slow down\. The next attempt is on/.test(text)),
    ).toHaveLength(1)

    const edited = await user.call('PATCH', `/api/posts/${postId}`, { content: { text: 'Changed' } })
    expect([edited.status, edited.body.data]).toMatchObject([200, { status: 'PROCESSING' }])
    expect((await user.call('POST', `/api/posts/${postId}/cancel`)).body.data).toEqual({ postId, status: 'CANCELLED' })
    expect(await user.published()).toEqual([])
  })

  it('a platform that failed meanwhile can be retried, and the waiting one can be given up and retried', async () => {
    const { user, postId, entry } = await waitingPost(['bluesky', 'threads'])
    const retry = (body?: object) => user.call('POST', `/api/posts/${postId}/retry`, body)
    expect((await retry()).body.data).toEqual({ postId, retryingPlatforms: ['threads'] })
    const again = await poll(
      () => user.status(postId),
      ({ platformStatuses: [, other] }) => other!.status === 'failed',
    )
    expect(again.platformStatuses[0]).toEqual(entry)

    expect((await user.call('POST', `/api/posts/${postId}/cancel`)).status).toBe(404)
    const accounts = [entry.accountId]
    const stopped = await user.call('POST', `/api/posts/${postId}/cancel`, { accounts })
    expect(stopped.body.data).toEqual({ postId, status: 'FAILED' })
    expect((await user.status(postId)).platformStatuses[0]).toMatchObject({ status: 'failed', errorCode: 'CANCELLED' })
    expect((await retry({ accounts })).status).toBe(200)
    expect((await user.until(postId)).platformStatuses[0]).toMatchObject({ status: 'completed' })
    expect(await user.published()).toHaveLength(1)
  })
})

describe('a delivery that is not attempted', () => {
  it('a post of a disabled user fails with ACCOUNT_DISABLED when it is due, and can be retried later', async () => {
    const user = await world.user()
    const scheduledAt = inSeconds(12)
    const postId = await user.create({ content: { text: 'Disabled' }, scheduledAt })
    await administer(user.userId, false)
    const post = await poll(
      () => world.context.posts.find(postId),
      (stored) => stored?.status === 'FAILED',
    )
    expect(post!.updatedAt.getTime()).toBeGreaterThanOrEqual(Date.parse(scheduledAt))
    expect((await user.call('GET', `/api/posts/${postId}`)).status).toBe(403)

    await administer(user.userId, true)
    expect(await user.status(postId)).toMatchObject({
      status: 'FAILED',
      platformStatuses: [{ errorCode: 'ACCOUNT_DISABLED', error: 'The account of this user is disabled' }],
    })
    expect(await messagesOf(user.userId)).toContain(
      'error: Posting “Disabled” on Bluesky failed: The account of this user is disabled. Ask an administrator to enable the account.',
    )
    expect(await user.published()).toEqual([])
    expect((await user.call('POST', `/api/posts/${postId}/retry`)).status).toBe(200)
    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
    expect(await user.published()).toHaveLength(1)
  })

  it('a post is published when its owner is enabled again before it is due', async () => {
    const user = await world.user()
    const postId = await user.create({ content: { text: 'Enabled in time' }, scheduledAt: inSeconds(12) })
    await administer(user.userId, false)
    await administer(user.userId, true)
    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
    expect(await user.published()).toHaveLength(1)
  })

  it('a post that is a day late fails with TOO_LATE and a notification, and can be retried', async () => {
    const user = await world.user()
    const postId = await user.create({ content: { text: 'Yesterday' }, scheduledAt: inSeconds(3_600) })
    const dueAt = new Date(Date.now() - DAY - HOUR)
    await change('posts', postId, { dueAt, scheduledAt: dueAt })
    // Any edit signals the workflow, which then reads the post again.
    expect((await user.call('PATCH', `/api/posts/${postId}`, { timezone: 'Europe/Vienna' })).status).toBe(200)
    expect(await user.until(postId)).toMatchObject({
      status: 'FAILED',
      platformStatuses: [{ errorCode: 'TOO_LATE', error: 'The post could not be sent in time' }],
    })
    await expect
      .poll(() => messagesOf(user.userId))
      .toContain(
        'error: Posting “Yesterday” on Bluesky failed: The post could not be sent in time. You can retry the post.',
      )
    expect((await user.call('POST', `/api/posts/${postId}/retry`)).status).toBe(200)
    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
    expect(await user.published()).toHaveLength(1)
  })

  it.each([
    ['skip', 30, 'SKIPPED', []],
    ['ask', 30, 'TOO_LATE', [true]],
  ] as const)(
    'a post that is later than its own limit is not sent: %s',
    async (action, afterMinutes, code, needsUser) => {
      const user = await world.user()
      const ifLate = { action, afterMinutes }
      const postId = await user.create({ content: { text: `Late, ${action}` }, scheduledAt: inSeconds(3_600), ifLate })
      expect((await user.call('GET', `/api/posts/${postId}`)).body.data.post.ifLate).toEqual(ifLate)
      const dueAt = new Date(Date.now() - 40 * 60_000)
      await change('posts', postId, { dueAt, scheduledAt: dueAt })
      await user.call('PATCH', `/api/posts/${postId}`, { timezone: 'Europe/Vienna' })
      expect(await user.until(postId)).toMatchObject({ status: 'FAILED', platformStatuses: [{ errorCode: code }] })
      const { posts } = (await user.call('GET', '/api/posts?unresolved=true')).body.data
      expect(posts.map(({ _id }: { _id: string }) => _id === postId)).toEqual(needsUser)
      expect(await user.published()).toEqual([])
      // The retry is due now.
      await user.call('POST', `/api/posts/${postId}/retry`)
      expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
      expect(await user.published()).toHaveLength(1)
    },
  )

  it('a post that is late within its limit is sent, and so is one whose limit was taken back', async () => {
    const user = await world.user()
    const late = async (limit: number, change_: object) => {
      const ifLate = { action: 'skip', afterMinutes: limit }
      const postId = await user.create({ content: { text: `Late ${limit}` }, scheduledAt: inSeconds(3_600), ifLate })
      const dueAt = new Date(Date.now() - 40 * 60_000)
      await change('posts', postId, { dueAt, scheduledAt: dueAt })
      expect((await user.call('PATCH', `/api/posts/${postId}`, change_)).status).toBe(200)
      return user.until(postId)
    }
    expect(await late(60, { timezone: 'Europe/Vienna' })).toMatchObject({ status: 'COMPLETED' })
    expect(await late(30, { ifLate: null })).toMatchObject({ status: 'COMPLETED' })
  })

  it('a failed post notifies once per round, with platform, cause and next step', async () => {
    const user = await world.user({ connected: false })
    const postId = await user.create({ content: { text: 'Nowhere to go' } })
    const failed =
      'error: Posting “Nowhere to go” on Bluesky failed: The platform is not connected. Connect the account in settings, then retry the post.'
    await user.until(postId)
    // The notification is a separate write after the status.
    const errors = async () => (await messagesOf(user.userId)).filter((message) => message.startsWith('error'))
    await expect.poll(errors).toEqual([failed])
    await user.call('POST', `/api/posts/${postId}/retry`)
    await user.until(postId)
    await expect.poll(errors).toEqual([failed, failed])
  })
})

it('GET /health/delivery returns 200 while workers poll and the sweeper has its Schedule', async () => {
  await world.context.orchestrator.ensureSchedules(world.context.config.SWEEP_INTERVAL_MS)
  const response = await poll(
    () => world.app.inject({ url: '/health/delivery' }),
    ({ statusCode }) => statusCode === 200,
  )
  expect(response.json()).toEqual({ success: true, message: 'Healthy', data: { status: 'ok' } })
})
