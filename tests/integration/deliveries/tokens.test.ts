import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DAY, SECOND } from '../../../src/domain/shared/times.ts'
import { PLATFORMS, platformLabel, type Platform } from '../../../src/domain/shared/platforms.ts'
import { poll } from '../../support/delivery-world.ts'
import { matchesCall, RENEWING_PLATFORMS } from '../../faults/platforms.ts'
import { startPlatformsWorld, type PlatformsWorld } from '../../support/platforms-world.ts'

// A revoked login on one platform affects the posts on that platform only. Tested for each platform.

type User = Awaited<ReturnType<PlatformsWorld['user']>>

let world: PlatformsWorld
beforeAll(async () => void (world = await startPlatformsWorld({ WORKER_QUEUES: 'publishing,preparing,analytics' })))
afterEach(() => world?.clearFaults())
afterAll(() => world?.stop())

/** Revokes the login; where tokens are renewed, also expires the access token. */
async function revoke(user: User, platform: Platform): Promise<void> {
  const { control, calls } = world.find(platform)
  const { accountId } = user.accountOn(platform)
  await control.revoke(accountId)
  if (calls.renew) await control.expire(accountId)
}

const healthOf = async (user: User, platform: Platform) =>
  (await user.call('GET', '/api/platform/find')).body.data[platform].health as object

/** Returns the warnings about connections, without those about posts. */
const warningsOf = async (user: User) =>
  (await world.notificationsOf(user.userId))
    .filter(({ type, reference }) => type === 'warning' && reference.type === 'platform')
    .map(({ message }) => message)

async function expectExpired(user: User, platform: Platform): Promise<void> {
  expect(await healthOf(user, platform)).toMatchObject({ status: 'expired', needsReconnection: true })
  const warning = `Your ${platformLabel(platform)} connection has expired. Reconnect the account in settings.`
  expect(await warningsOf(user)).toEqual([warning])
}

/** Returns the platform whose login connects accounts of this one; for most platforms it is the same. */
const connectedBy = (platform: Platform): Platform => (platform === 'instagram' ? 'facebook' : platform)

/** Returns status and error code of a post by platform. */
async function entriesOf(user: User, postId: string) {
  const { platformStatuses } = await user.status(postId)
  return Object.fromEntries(
    platformStatuses.map(({ platform, status, errorCode }) => [platform, { status, errorCode }]),
  )
}

const COMPLETED = { status: 'completed', errorCode: null }
const UNAUTHORIZED = { status: 'failed', errorCode: 'unauthorized' }

describe.each(PLATFORMS)('a login of %s', (platform) => {
  /** Platforms with another login. */
  let others: Platform[]
  let user: User
  beforeEach(async () => {
    const { server } = world.find(platform)
    others = PLATFORMS.filter((one) => !server.includes(one))
    user = await world.user()
    // A later follower count would also detect the revoked login, so the tests start after it.
    await user.followersCounted()
  })

  const everywhere = () => [platform, ...others]
  const all = (entry: object) => Object.fromEntries(others.map((one) => [one, entry]))

  it('a revoked login fails its posts with one notification, and the other platforms continue', async () => {
    await revoke(user, platform)
    const posts = await Promise.all([1, 2, 3].map((number) => user.post(everywhere(), `Without a login ${number}`)))
    for (const postId of posts) {
      expect(await user.until(postId)).toMatchObject({ status: 'PARTIAL_SUCCESS' })
      expect(await entriesOf(user, postId)).toEqual({ ...all(COMPLETED), [platform]: UNAUTHORIZED })
    }
    expect(await user.published(platform)).toEqual([])
    await expectExpired(user, platform)

    await user.reconnect(platform)
    expect(await healthOf(user, platform)).toMatchObject({ status: 'active', needsReconnection: false })
    for (const postId of posts) {
      expect((await user.call('POST', `/api/posts/${postId}/retry`)).status).toBe(200)
      expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
    }
    for (const one of everywhere()) expect(await user.published(one)).toHaveLength(posts.length)
    expect(await warningsOf(user)).toHaveLength(1)
  })

  it('a login revoked during the visible call fails the post, and nothing is published', async () => {
    const { control, calls } = world.find(platform)
    const account = user.accountOn(platform).accountId
    await control.fault({ ...calls.publish, account, times: 1, action: { delayMs: 1_000 } })
    const postId = await user.post(everywhere(), 'Dead on arrival')
    await poll(
      () => user.visibleCalls(platform),
      (arrived) => arrived.length === 1,
    )
    await revoke(user, platform)
    expect(await user.until(postId)).toMatchObject({ status: 'PARTIAL_SUCCESS' })
    expect(await entriesOf(user, postId)).toEqual({ ...all(COMPLETED), [platform]: UNAUTHORIZED })
    expect(await user.published(platform)).toEqual([])
    await expectExpired(user, platform)
  })

  it('a disconnect while posts wait stops them on that platform alone', async () => {
    const scheduledAt = new Date(Date.now() + DAY).toISOString()
    const texts = ['First', 'Second']
    const posts = await Promise.all(texts.map((text) => user.post(everywhere(), text, { scheduledAt })))
    expect((await user.call('DELETE', `/api/platform/${connectedBy(platform)}/disconnect`)).status).toBe(200)
    const soon = { scheduledAt: new Date(Date.now() + SECOND).toISOString() }
    for (const postId of posts) expect((await user.call('PATCH', `/api/posts/${postId}`, soon)).status).toBe(200)
    for (const postId of posts) {
      expect(await user.until(postId)).toMatchObject({ status: 'PARTIAL_SUCCESS' })
      const notConnected = { status: 'failed', errorCode: 'PLATFORM_NOT_CONNECTED' }
      expect(await entriesOf(user, postId)).toEqual({ ...all(COMPLETED), [platform]: notConnected })
    }
    expect(await user.visibleCalls(platform)).toEqual([])
    expect(await warningsOf(user)).toEqual([])

    await user.reconnect(platform)
    for (const postId of posts) {
      expect((await user.call('POST', `/api/posts/${postId}/retry`)).status).toBe(200)
      expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
    }
    expect((await user.published(platform)).map(({ text }) => text).toSorted()).toEqual(texts)
  })
})

describe.each(RENEWING_PLATFORMS)('an access token of %s', (platform) => {
  it('posts that are due together on an expired access token renew it once', async () => {
    const user = await world.user()
    const { control, calls } = world.find(platform)
    const renew = calls.renew!
    const { accountId } = user.accountOn(platform)
    await control.expire(accountId)
    // Long enough for every post to find the expired token.
    await control.fault({ ...renew, account: accountId, action: { delayMs: 1_000 } })
    const posts = await Promise.all(
      Array.from({ length: 12 }, (_, number) => user.post([...PLATFORMS], `Renewed once ${number}`)),
    )
    for (const postId of posts) {
      await user.until(postId)
      expect(await entriesOf(user, postId)).toEqual(Object.fromEntries(PLATFORMS.map((one) => [one, COMPLETED])))
    }
    const renewals = (await control.requests()).filter((call) => call.account === accountId && matchesCall(renew, call))
    expect(renewals).toHaveLength(1)
    expect(await user.published(platform)).toHaveLength(posts.length)
    expect(await healthOf(user, platform)).toMatchObject({ status: 'active' })
  })
})
