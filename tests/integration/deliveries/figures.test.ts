import { Connection, WorkflowClient } from '@temporalio/client'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { publishPostWorkflowId } from '../../../src/workflows/contract/publishing.ts'
import { DUE_AT, PLATFORM_NAMES } from '../../../src/workflows/contract/search-attributes.ts'
import { unique } from '../../support/servers.ts'
import { poll, startDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts'

let world: DeliveryWorld

beforeAll(async () => {
  world = await startDeliveryWorld()
})
afterEach(() => world.control.clearFaults())
afterAll(() => world?.stop())

const PUT_RECORD = '/xrpc/com.atproto.repo.putRecord'

/** Returns the value of a metric, 0 while it does not exist. */
async function readMetric(name: string, labels: Record<string, string> = {}): Promise<number> {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  const lines = (await world.context.metrics.text()).split('\n')
  const line = lines.find(
    (candidate) =>
      new RegExp(`^postonce_${name}[{ ]`).test(candidate) && wanted.every((label) => candidate.includes(label)),
  )
  return Number(line?.split(' ').at(-1) ?? 0)
}

const bluesky = { platform: 'bluesky' }

/** Waits for the end of all deliveries, because an outcome is visible a moment before it is counted. */
async function waitForDeliveries(): Promise<void> {
  await poll(
    async () =>
      (await readMetric('activities_running', { activity: 'publishToPlatform' })) +
      (await readMetric('activities_running', { activity: 'publishBriefly' })),
    (running) => running === 0,
  )
}

it('the metrics count a post from the request to the platform', async () => {
  const user = await world.user()
  const postId = await user.create({ content: { text: 'A post to count' } })
  expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
  await waitForDeliveries()

  const created = { method: 'POST', route: '/api/posts', status: '2xx' }
  expect(await readMetric('http_request_duration_seconds_count', created)).toBe(1)
  expect(await readMetric('publish_lateness_seconds_count', { ...bluesky, timing: 'immediate' })).toBe(1)
  expect(await readMetric('acceptance_lateness_seconds_count', { ...bluesky, timing: 'immediate' })).toBe(1)
  expect(await readMetric('publish_calls_total', { ...bluesky, outcome: 'accepted' })).toBe(1)
  expect(await readMetric('deliveries_total', { ...bluesky, outcome: 'accepted' })).toBe(1)
  expect(await readMetric('platform_step_seconds_count', { ...bluesky, step: 'publish' })).toBe(1)
  expect(await readMetric('send_wait_seconds_count', bluesky)).toBe(1)
})

it('the metrics count deliveries that wait until they are due', async () => {
  const user = await world.user()
  const scheduledAt = new Date(Date.now() + 12_000).toISOString()
  const postId = await user.create({ content: { text: 'A post in time' }, scheduledAt })
  await poll(
    () => readMetric('deliveries_armed'),
    (armed) => armed === 1,
  )
  expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
  await waitForDeliveries()
  expect(await readMetric('deliveries_armed')).toBe(0)
  expect(await readMetric('queue_wait_seconds_count', { activity: 'publishToPlatform' })).toBe(1)
  expect(await readMetric('acceptance_lateness_seconds_count', { ...bluesky, timing: 'scheduled' })).toBe(1)
})

it('the metrics count a lost answer as unknown, and the result of its reconcile', async () => {
  const user = await world.user()
  await world.control.fault({ path: PUT_RECORD, times: 1, action: { dropAfterAccept: true } })
  const postId = await user.create({ content: { text: 'A lost answer' } })
  expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
  await waitForDeliveries()
  expect(await readMetric('publish_calls_total', { ...bluesky, outcome: 'unknown' })).toBe(1)
  expect(await readMetric('deliveries_total', { ...bluesky, outcome: 'unknown' })).toBe(1)
  expect(await readMetric('reconciles_total', { ...bluesky, result: 'found' })).toBe(1)
})

it('the metrics count a failure with its reason', async () => {
  const user = await world.user({ connected: false })
  const postId = await user.create({ content: { text: 'Nowhere to go' } })
  expect(await user.until(postId)).toMatchObject({ status: 'FAILED' })
  await waitForDeliveries()
  expect(await readMetric('deliveries_total', { ...bluesky, outcome: 'failed' })).toBe(1)
  expect(await readMetric('delivery_failures_total', { ...bluesky, code: 'PLATFORM_NOT_CONNECTED' })).toBe(1)
})

it('search attributes find a failed post in Temporal, and its result has the reason for each platform', async () => {
  const user = await world.user()
  const text = unique('words of the user')
  const body = { content: { text }, selectedPlatforms: ['bluesky', 'mastodon'] }
  const postId = await user.create(body)
  await user.until(postId)
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = world.context.config
  const connection = await Connection.connect({ address })
  try {
    const workflows = new WorkflowClient({ connection, namespace })
    const handle = workflows.getHandle(publishPostWorkflowId(postId))
    const result = await handle.result()
    expect(result).toEqual({
      status: 'PARTIAL_SUCCESS',
      platforms: [
        { platform: 'bluesky', outcome: 'completed' },
        {
          platform: 'mastodon',
          outcome: 'failed',
          failure: { code: 'PLATFORM_NOT_SUPPORTED', message: 'Mastodon is not set up here' },
        },
      ],
    })
    expect(JSON.stringify(result)).not.toContain(text)
    const { typedSearchAttributes } = await handle.describe()
    expect(typedSearchAttributes.get(PLATFORM_NAMES)).toEqual(['bluesky', 'mastodon'])
    expect(typedSearchAttributes.get(DUE_AT)).toEqual((await world.context.posts.find(postId))!.dueAt)
    // This is the query of docs/operations/monitoring.md. Temporal indexes search attributes a moment after the workflow ends.
    const today = new Date().toISOString().slice(0, 10)
    const query = `PostStatus IN ('FAILED', 'PARTIAL_SUCCESS') AND CloseTime >= '${today}T00:00:00Z' AND UserId = '${user.userId}'`
    const found = () => Array.fromAsync(workflows.list({ query }))
    expect(await poll(found, ({ length }) => length > 0)).toMatchObject([{ workflowId: publishPostWorkflowId(postId) }])
  } finally {
    await connection.close()
  }
})

it('the metrics name requests by route pattern, and never by URL or user', async () => {
  const user = await world.user()
  const postId = await user.create({ content: { text: 'A text of this test only' } })
  await user.until(postId)
  await user.call('GET', `/api/posts/${postId}`)
  await user.call('GET', `/api/nothing/${postId}`)
  const text = await world.context.metrics.text()
  expect(text).toContain('route="/api/posts/:postId"')
  expect(text).toContain('route="none"')
  for (const secret of [
    postId,
    user.userId,
    user.account.handle,
    user.account.did,
    'A text of this test',
    '/api/nothing',
  ]) {
    expect(text).not.toContain(secret)
  }
})
