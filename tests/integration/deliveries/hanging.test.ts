import { afterAll, beforeAll, expect, it } from 'vitest'
import { MOST_GROWTH } from '../../../src/activities/publishing/publish-activities.ts'
import { findEntry } from '../../../src/domain/posts/post-entries.ts'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import { MINUTE } from '../../../src/domain/shared/times.ts'
import { poll, type PostStatusData } from '../../support/delivery-world.ts'
import { matchesCall } from '../../faults/platforms.ts'
import { startPlatformsWorld, type PlatformsWorld } from '../../support/platforms-world.ts'

// A hanging platform delays no other post. The tests hold its calls instead of measuring time.

const CALLS_IN_FLIGHT = 2
/** Each test waits for dozens of deliveries. */
const TIMEOUT_MS = 5 * MINUTE
/** The number adapts to the server, up to this. */
const MOST_CALLS_IN_FLIGHT = CALLS_IN_FLIGHT * MOST_GROWTH
const BURST = MOST_CALLS_IN_FLIGHT + 4

type User = Awaited<ReturnType<PlatformsWorld['user']>>

let world: PlatformsWorld
let platforms: Platform[]
beforeAll(async () => {
  world = await startPlatformsWorld({
    PLATFORM_CALLS_IN_FLIGHT: CALLS_IN_FLIGHT,
    // Calls hang until all tests of this file have ended.
    PUBLISH_TIMEOUT_MS: 2 * TIMEOUT_MS,
    SHUTDOWN_GRACE_MS: 500,
  })
  platforms = world.platforms.map(({ platform }) => platform)
}, TIMEOUT_MS)
afterAll(() => world?.stop())

/** Makes every further visible call of this user to the platform hang without a response. */
async function hang(user: User, platform: Platform): Promise<void> {
  const { control, calls } = world.find(platform)
  await control.fault({ ...calls.publish, account: user.accountOn(platform).accountId, action: { hang: true } })
}

const untilCallsArrive = (user: User, platform: Platform, count: number) =>
  poll(
    () => user.visibleCalls(platform),
    (calls) => calls.length >= count,
  )

const untilRestCompletes = (user: User, postId: string, platform: Platform): Promise<PostStatusData> =>
  poll(
    () => user.status(postId),
    ({ platformStatuses }) =>
      platformStatuses.every((entry) => entry.platform === platform || entry.status === 'completed'),
  )

/** Expects that the delivery is claimed, its call is in progress and nothing is published. */
async function expectInProgress(user: User, postId: string, platform: Platform): Promise<void> {
  const entry = findEntry((await world.context.posts.find(postId))!, platform)!
  expect(entry).toMatchObject({ status: 'processing', attemptCount: 1, delivery: { outcome: 'none' } })
  expect(await user.published(platform)).toEqual([])
}

it(
  'posts to other platforms and posts of other users complete while one platform hangs',
  async () => {
    const [bystander, ...victims] = await Promise.all([world.user(), ...platforms.map(() => world.user())])
    const posts = await Promise.all(
      platforms.map(async (platform, index) => {
        const user = victims[index]!
        await hang(user, platform)
        const postId = await user.post(platforms, `All but ${platform}`)
        await untilCallsArrive(user, platform, 1)
        return { user, platform, postId }
      }),
    )
    for (const { user, platform, postId } of posts) {
      expect(await untilRestCompletes(user, postId, platform)).toMatchObject({ status: 'PROCESSING' })
    }
    const otherPost = await bystander.post(platforms, 'Not delayed')
    expect(await bystander.until(otherPost)).toMatchObject({ status: 'COMPLETED' })
    for (const { user, platform, postId } of posts) {
      await expectInProgress(user, postId, platform)
      expect(await user.visibleCalls(platform)).toHaveLength(1)
    }
  },
  TIMEOUT_MS,
)

it(
  'many posts to a hanging platform use only its allowed calls, while all other posts are published',
  async () => {
    const [platform, ...others] = platforms as [Platform, ...Platform[]]
    const { control, calls } = world.find(platform)
    const heldCalls = async () =>
      (await control.requests()).filter((call) => matchesCall(calls.publish, call) && call.status === null).length
    const [user, bystander] = await Promise.all([world.user(), world.user()])
    const before = await heldCalls()
    await hang(user, platform)
    const postIds = await Promise.all(Array.from({ length: BURST }, (_, at) => user.post(platforms, `Held ${at}`)))
    for (const postId of postIds) await untilRestCompletes(user, postId, platform)
    const otherPost = await bystander.post(others, 'Nothing to do with it')
    expect(await bystander.until(otherPost)).toMatchObject({ status: 'COMPLETED' })

    const held = await heldCalls()
    expect(held).toBeGreaterThanOrEqual(CALLS_IN_FLIGHT)
    expect(held).toBeLessThanOrEqual(MOST_CALLS_IN_FLIGHT)
    const states = await Promise.all(postIds.map((postId) => user.status(postId)))
    const entries = states.map(({ platformStatuses }) => platformStatuses.find((entry) => entry.platform === platform)!)
    // All other deliveries wait without a claim.
    const claimed = entries.filter(({ status }) => status === 'processing')
    expect(claimed).toHaveLength(held - before)
    expect(entries.filter(({ status }) => status === 'pending')).toHaveLength(BURST - claimed.length)
  },
  TIMEOUT_MS,
)
