import { Client, Connection } from '@temporalio/client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PLATFORMS, platformLabel, type Platform } from '../../../src/domain/shared/platforms.ts'
import { DAY } from '../../../src/domain/shared/times.ts'
import { signIn } from '../../support/api.ts'
import { poll } from '../../support/delivery-world.ts'
import { startPlatformsWorld, type PlatformsWorld } from '../../support/platforms-world.ts'

/** The whole way of metrics, over Schedules, workers and the servers of the sandbox. */
let world: PlatformsWorld
let temporal: Connection
let client: Client
let user: Awaited<ReturnType<PlatformsWorld['user']>>
let postId: string

beforeAll(async () => {
  // What is deleted here was published just before.
  world = await startPlatformsWorld({ ANALYTICS_DELETION_GRACE_SECONDS: 0 })
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = world.context.config
  temporal = await Connection.connect({ address })
  client = new Client({ connection: temporal, namespace })
  await world.context.orchestrator.ensureSchedules(DAY, DAY)
  user = await world.user()
  await user.followersCounted()
}, 120_000)
async function publishOn(platforms: readonly Platform[]): Promise<void> {
  postId = await user.post(platforms, 'Counted everywhere')
  await user.until(postId, ['COMPLETED'])
}
afterEach(async () => {
  await world.clearFaults()
  await world.context.database.connection.collection('posts').deleteMany({})
  await world.context.database.connection.collection('deadLetters').deleteMany({})
})
afterAll(async () => {
  await temporal?.close()
  await world?.stop()
})

/** One run of a Schedule, as its time brings it. */
async function runOf(scheduleId: string): Promise<unknown> {
  const handle = client.schedule.getHandle(scheduleId)
  const { info: before } = await handle.describe()
  await handle.trigger()
  const { info } = await poll(
    () => handle.describe(),
    (described) => described.info.numActionsTaken > before.numActionsTaken,
  )
  const { workflow } = info.recentActions.at(-1)!.action
  return client.workflow.getHandle(workflow.workflowId, workflow.firstExecutionRunId).result()
}

const idOn = async (platform: Platform, id = postId) =>
  (await user.status(id)).platformStatuses.find((entry) => entry.platform === platform)!.platformPostId!
const snapshotsOf = async (id: string) =>
  world.context.database.connection.collection('postSnapshots').find({ postId: id }).toArray()
const lettersOf = (userId: string) => Array.fromAsync(world.context.deadLetters.allOf(userId))
/** Simulates the end of the last collected slot. */
const nextSlot = () =>
  world.context.database.connection
    .collection('posts')
    .updateMany({}, { $unset: { 'platformStatuses.$[].metricsSlot': 1 } })

it('every platform reports metrics of a post and of the account', async () => {
  await publishOn(PLATFORMS)
  for (const platform of PLATFORMS) {
    const { control } = world.find(platform)
    await control.setMetrics(await idOn(platform), { likes: 5, comments: 2, shares: 1 })
  }
  // Counted when they were connected, and once in a slot.
  expect(await runOf('collectAccountMetrics')).toMatchObject({ taken: 0, skipped: PLATFORMS.length, failed: 0 })
  expect(await runOf('collectPostMetrics')).toEqual({ saved: PLATFORMS.length, deleted: 0, skipped: 0, failed: 0 })
  const snapshots = await snapshotsOf(postId)
  expect(snapshots.map(({ platform }) => platform as string).toSorted()).toEqual([...PLATFORMS].toSorted())
  for (const snapshot of snapshots) {
    expect(snapshot, snapshot['platform']).toMatchObject({ likes: 5, comments: 2, shares: 1, totalEngagement: 8 })
    expect(snapshot['followerCountAtSnapshot'], snapshot['platform']).toEqual(expect.any(Number))
  }
  expect(await runOf('collectPostMetrics')).toEqual({ saved: 0, deleted: 0, skipped: 0, failed: 0 })
  expect(await lettersOf(user.userId)).toEqual([])
})

describe.each(['bluesky', 'threads'] as const)('%s', (platform) => {
  beforeEach(() => publishOn([platform, 'mastodon']))

  it('a post that was deleted there is marked so, and the others go on', async () => {
    await world.find(platform).control.deletePost(await idOn(platform))
    expect(await runOf('collectPostMetrics')).toMatchObject({ saved: 1, deleted: 1 })
    const { platformStatuses, status } = await user.status(postId)
    expect(status).toBe('COMPLETED')
    expect(platformStatuses.filter((entry) => entry.status === 'deleted').map((entry) => entry.platform)).toEqual([
      platform,
    ])
    const before = (await world.find(platform).control.requests()).length
    await nextSlot()
    expect(await runOf('collectPostMetrics')).toMatchObject({ saved: 1, deleted: 0 })
    expect((await world.find(platform).control.requests()).length).toBe(before)
  })

  it('a rate limit pauses it and nothing else', async () => {
    const { control, refusals } = world.find(platform)
    await control.fault({ method: 'GET', path: '/', action: refusals.limited })
    expect(await runOf('collectPostMetrics')).toMatchObject({ saved: 1, skipped: 1, failed: 0 })
    expect(await lettersOf(user.userId)).toEqual([])
    await control.clearFaults()
    expect(await runOf('collectPostMetrics')).toEqual({ saved: 1, deleted: 0, skipped: 0, failed: 0 })
  })

  it('an outage is a dead letter, which an admin has replayed', async () => {
    const { control } = world.find(platform)
    await control.fault({ method: 'GET', path: '/', action: { status: 500 } })
    expect(await runOf('collectPostMetrics')).toMatchObject({ saved: 1, failed: 1 })
    const admin = await signIn(world.context, { role: 'admin' })
    const ask = async (method: 'GET' | 'POST', path: string) => {
      const response = await world.app.inject({ method, url: `/api/admin${path}`, headers: admin.headers })
      return { status: response.statusCode, body: response.json() }
    }
    const { body } = await ask('GET', '/dead-letters')
    expect(body).toMatchObject({ total: 1, data: [{ type: 'post', postId, userId: user.userId, platform, count: 1 }] })
    expect(body.data[0].reason).toMatch(/^transient: /)
    const replay = `/dead-letters/${body.data[0]._id}/replay`
    expect((await ask('POST', replay)).status).toBe(202)
    await poll(
      () => lettersOf(user.userId),
      ([letter]) => letter?.count === 2,
    )
    await control.clearFaults()
    // The run before may be at its very end.
    await poll(
      async () => {
        await ask('POST', replay)
        return lettersOf(user.userId)
      },
      (letters) => letters.length === 0,
    )
    expect((await snapshotsOf(postId)).map((snapshot) => snapshot['platform'])).toContain(platform)
    expect((await ask('POST', replay)).status).toBe(404)
    const [noted] = (await ask('GET', '/audit')).body.data
    expect(noted).toMatchObject({
      actorId: admin.user._id,
      action: 'replay-dead-letter',
      subjectId: user.userId,
      before: { deadLetter: { type: 'post', platform, postId } },
      after: {},
    })
  })
})

// The last ones: the user has no such login afterwards.
it.each(['mastodon', 'facebook'] as const)(
  'a login that was revoked on %s expires once, with one warning',
  async (platform) => {
    const ids = await Promise.all(['First', 'Second'].map((text) => user.post([platform], text)))
    for (const id of ids) expect(await user.until(id)).toMatchObject({ status: 'COMPLETED' })
    const { control, calls } = world.find(platform)
    const { accountId } = user.accountOn(platform)
    await control.revoke(accountId)
    if (calls.renew) await control.expire(accountId)
    await runOf('collectPostMetrics')
    await nextSlot()
    await runOf('collectPostMetrics')
    const { body } = await user.call('GET', '/api/platform/find')
    expect(body.data[platform].health).toMatchObject({ status: 'expired', needsReconnection: true })
    const told = (await world.notificationsOf(user.userId)).map(({ message }) => message)
    expect(told.filter((message) => message.includes('expired') && message.includes(platformLabel(platform)))).toEqual([
      `Your ${platformLabel(platform)} connection has expired. Reconnect the account in settings.`,
    ])
    expect(await lettersOf(user.userId)).toEqual([])
    expect((await user.status(ids[0]!)).platformStatuses).toMatchObject([{ status: 'completed' }])
  },
)
