import { Client, Connection } from '@temporalio/client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PLATFORMS, platformLabel, type Platform } from '../../../src/domain/shared/platforms.ts'
import { DAY } from '../../../src/domain/shared/times.ts'
import { signIn } from '../../support/api.ts'
import { ALL_QUEUES, poll } from '../../support/delivery-world.ts'
import { startPlatformsWorld, type PlatformsWorld } from '../../support/platforms-world.ts'

// Collects metrics end to end: over Schedules, workers and the servers of the sandbox.

let world: PlatformsWorld
let temporal: Connection
let client: Client
let user: Awaited<ReturnType<PlatformsWorld['user']>>
let postId: string

beforeAll(async () => {
  // The tests delete posts right after publication, so a missing post counts as deleted immediately.
  world = await startPlatformsWorld({ ANALYTICS_DELETION_GRACE_SECONDS: 0, ...ALL_QUEUES })
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = world.context.config
  temporal = await Connection.connect({ address })
  client = new Client({ connection: temporal, namespace })
  await world.context.orchestrator.ensureSchedules(DAY, DAY)
  user = await world.user()
  await user.followersCounted()
})
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

/** Triggers a run of the Schedule. */
async function startSchedule(scheduleId: string) {
  const handle = client.schedule.getHandle(scheduleId)
  const { info: before } = await handle.describe()
  await handle.trigger()
  const { info } = await poll(
    () => handle.describe(),
    (described) => described.info.numActionsTaken > before.numActionsTaken,
  )
  const { workflow } = info.recentActions.at(-1)!.action
  return client.workflow.getHandle(workflow.workflowId, workflow.firstExecutionRunId)
}

const runSchedule = async (scheduleId: string): Promise<unknown> => (await startSchedule(scheduleId)).result()

const idOn = async (platform: Platform, id = postId) =>
  (await user.status(id)).platformStatuses.find((entry) => entry.platform === platform)!.platformPostId!
const snapshotsOf = async (id: string) =>
  world.context.database.connection.collection('postSnapshots').find({ postId: id }).toArray()
const lettersOf = (userId: string) => Array.fromAsync(world.context.deadLetters.allOf(userId))
/** Simulates the end of the last collected slot. */
const nextSlot = () =>
  world.context.database.connection
    .collection('posts')
    .updateMany({}, { $set: { 'platformStatuses.$[].metricsDueAt': new Date(0) } })

it('every platform reports metrics of a post and of the account', async () => {
  await publishOn(PLATFORMS)
  for (const platform of PLATFORMS) {
    const { control } = world.find(platform)
    await control.setMetrics(await idOn(platform), { likes: 5, comments: 2, shares: 1 })
  }
  // Connecting counted the followers, and there is one count per slot.
  expect(await runSchedule('collectAccountMetrics')).toMatchObject({ saved: 0, skipped: PLATFORMS.length, failed: 0 })
  expect(await runSchedule('collectPostMetrics')).toEqual({
    saved: PLATFORMS.length,
    deleted: 0,
    skipped: 0,
    failed: 0,
  })
  const snapshots = await snapshotsOf(postId)
  expect(snapshots.map(({ platform }) => platform as string).toSorted()).toEqual([...PLATFORMS].toSorted())
  for (const snapshot of snapshots) {
    expect(snapshot, snapshot['platform']).toMatchObject({ likes: 5, comments: 2, shares: 1, totalEngagement: 8 })
    expect(snapshot['followerCountAtSnapshot'], snapshot['platform']).toEqual(expect.any(Number))
  }
  expect(await runSchedule('collectPostMetrics')).toEqual({ saved: 0, deleted: 0, skipped: 0, failed: 0 })
  expect(await lettersOf(user.userId)).toEqual([])
})

// A pause outlasts the lease of what was claimed, so both platforms share one run.
it('a rate limit pauses only its own platform, and the run collects its posts afterwards', async () => {
  const limited = ['bluesky', 'threads'] as const
  await publishOn([...limited, 'mastodon'])
  for (const { control, refusals } of limited.map(world.find)) {
    await control.fault({ method: 'GET', path: '/', action: refusals.limited })
  }
  const run = await startSchedule('collectPostMetrics')
  await poll(
    () => snapshotsOf(postId),
    (snapshots) => snapshots.length === 1,
  )
  expect(await snapshotsOf(postId)).toMatchObject([{ platform: 'mastodon' }])
  const isWaiting = ({ pendingActivities }: { pendingActivities?: unknown[] | null }) => !pendingActivities?.length
  await poll(async () => (await run.describe()).raw, isWaiting)
  await world.clearFaults()
  // The pauses end.
  await world.context.database.connection.collection('quotas').deleteMany({})
  expect(await run.result()).toMatchObject({ saved: 3, skipped: 2, failed: 0 })
  expect(await lettersOf(user.userId)).toEqual([])
})

describe.each(['bluesky', 'threads'] as const)('%s', (platform) => {
  beforeEach(() => publishOn([platform, 'mastodon']))

  it('a post that was deleted on its platform is marked deleted, and other platforms are still collected', async () => {
    await world.find(platform).control.deletePost(await idOn(platform))
    expect(await runSchedule('collectPostMetrics')).toMatchObject({ saved: 1, deleted: 1 })
    const { platformStatuses, status } = await user.status(postId)
    expect(status).toBe('COMPLETED')
    expect(platformStatuses.filter((entry) => entry.status === 'deleted').map((entry) => entry.platform)).toEqual([
      platform,
    ])
    const before = (await world.find(platform).control.requests()).length
    await nextSlot()
    expect(await runSchedule('collectPostMetrics')).toMatchObject({ saved: 1, deleted: 0 })
    expect((await world.find(platform).control.requests()).length).toBe(before)
  })

  it('an outage makes a dead letter, which an admin can replay', async () => {
    const { control } = world.find(platform)
    await control.fault({ method: 'GET', path: '/', action: { status: 500 } })
    expect(await runSchedule('collectPostMetrics')).toMatchObject({ saved: 1, failed: 1 })
    const admin = await signIn(world.context, { role: 'admin' })
    const callAdmin = async (method: 'GET' | 'POST', path: string) => {
      const response = await world.app.inject({ method, url: `/api/admin${path}`, headers: admin.headers })
      return { status: response.statusCode, body: response.json() }
    }
    const { body } = await callAdmin('GET', '/dead-letters')
    expect(body).toMatchObject({ total: 1, data: [{ type: 'post', postId, userId: user.userId, platform, count: 1 }] })
    expect(body.data[0].reason).toMatch(/^transient: /)
    const replay = `/dead-letters/${body.data[0]._id}/replay`
    expect((await callAdmin('POST', replay)).status).toBe(202)
    await poll(
      () => lettersOf(user.userId),
      ([letter]) => letter?.count === 2,
    )
    await control.clearFaults()
    // A replay is ignored until the previous one has ended.
    await poll(
      async () => {
        await callAdmin('POST', replay)
        return lettersOf(user.userId)
      },
      (letters) => letters.length === 0,
    )
    expect((await snapshotsOf(postId)).map((snapshot) => snapshot['platform'])).toContain(platform)
    expect((await callAdmin('POST', replay)).status).toBe(404)
    const [auditEntry] = (await callAdmin('GET', '/audit')).body.data
    expect(auditEntry).toMatchObject({
      actorId: admin.user._id,
      action: 'replay-dead-letter',
      subjectId: user.userId,
      before: { deadLetter: { type: 'post', platform, postId } },
      after: {},
    })
  })
})

// These tests run last, because the user loses the login.
it.each(['mastodon', 'facebook'] as const)(
  'a login that was revoked on %s expires with one warning',
  async (platform) => {
    const ids = await Promise.all(['First', 'Second'].map((text) => user.post([platform], text)))
    for (const id of ids) expect(await user.until(id)).toMatchObject({ status: 'COMPLETED' })
    const { control, calls } = world.find(platform)
    const { accountId } = user.accountOn(platform)
    await control.revoke(accountId)
    if (calls.renew) await control.expire(accountId)
    await runSchedule('collectPostMetrics')
    await nextSlot()
    await runSchedule('collectPostMetrics')
    const { body } = await user.call('GET', '/api/platform/find')
    expect(body.data[platform].health).toMatchObject({ status: 'expired', needsReconnection: true })
    const messages = (await world.notificationsOf(user.userId)).map(({ message }) => message)
    expect(
      messages.filter((message) => message.includes('expired') && message.includes(platformLabel(platform))),
    ).toEqual([`Your ${platformLabel(platform)} connection has expired. Reconnect the account in settings.`])
    expect(await lettersOf(user.userId)).toEqual([])
    expect((await user.status(ids[0]!)).platformStatuses).toMatchObject([{ status: 'completed' }])
  },
)
