import { request } from 'undici'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import { toUserAgent } from '../../../src/config/user-agent.ts'
import { startPlatformsWorld, type PlatformsWorld } from '../../support/platforms-world.ts'

// Every mix of accepting and refusing platforms ends in the matching status.

const USERS = 8

let world: PlatformsWorld
beforeAll(async () => void (world = await startPlatformsWorld({ WORKER_QUEUES: 'publishing,preparing,analytics' })))
afterAll(() => world?.stop())

it(
  'all mixes of outcomes end in the right status, with a notification per account besides that of the creation',
  { timeout: 240_000 },
  async () => {
    const all = world.platforms.map(({ platform }) => platform)
    const mixes = Array.from({ length: 2 ** all.length }, (_, bits) => all.filter((_platform, at) => (bits >> at) & 1))
    const outcomesByUser = await Promise.all(
      Array.from({ length: Math.min(USERS, mixes.length) }, async (_, number) => {
        const user = await world.user()
        const own = mixes.filter((_mix, index) => index % USERS === number)
        const outcomes = []
        // Posts are created in sequence, so that each refusal affects its own post.
        for (const refusing of own) outcomes.push(await outcomeOf(user, all, refusing))
        return outcomes
      }),
    )
    const outcomes = outcomesByUser.flat()
    expect(outcomes).toHaveLength(mixes.length)
    expect(outcomes.filter(({ actual, expected }) => JSON.stringify(actual) !== JSON.stringify(expected))).toEqual([])
  },
)

async function outcomeOf(user: Awaited<ReturnType<PlatformsWorld['user']>>, all: Platform[], refusing: Platform[]) {
  for (const platform of refusing) {
    const { control, calls, refusals } = world.find(platform)
    const { accountId: account } = user.accountOn(platform)
    await control.fault({ ...calls.publish, account, times: 1, action: refusals.definite })
  }
  const text = `Refused by ${refusing.join(', ') || 'no platform'}`
  const postId = await user.post(all, text)
  const { status, platformStatuses } = await user.until(postId)
  const kinds = all.map((platform) => (refusing.includes(platform) ? 'error' : 'success'))
  await expect
    .poll(() => notifiedOf(user.userId, postId), { timeout: 50_000 })
    .toEqual(['success', ...kinds].toSorted())
  const actual: Record<string, unknown> = { status }
  const expected: Record<string, unknown> = { status: statusFor(all.length, refusing.length) }
  for (const platform of all) {
    const entry = platformStatuses.find((candidate) => candidate.platform === platform)!
    const records = (await user.published(platform)).filter((record) => record.text === text)
    actual[platform] = [entry.status, entry.errorCode, entry.platformPostId, records.length]
    expected[platform] = refusing.includes(platform)
      ? ['failed', 'validation', null, 0]
      : ['completed', null, records[0]?.id ?? 'an id', 1]
  }
  return { actual, expected }
}

async function notifiedOf(userId: string, postId: string): Promise<string[]> {
  const all = await world.context.notifications.listOf(userId, 100)
  const ofPost = all.filter(({ reference }) => reference.id === postId)
  return ofPost.map(({ type }) => type).toSorted()
}

function statusFor(platforms: number, refusing: number): string {
  if (refusing === 0) return 'COMPLETED'
  return refusing === platforms ? 'FAILED' : 'PARTIAL_SUCCESS'
}

it('every call for an account names the service, and the platforms refuse calls without the name', async () => {
  const own = toUserAgent(world.context.config)
  for (const { platform, control } of world.platforms) {
    const calls = (await control.requests()).filter(({ account }) => account !== null)
    expect([platform, ...new Set(calls.map(({ userAgent }) => userAgent))]).toEqual([platform, own])
  }
  for (const [platform, { url }] of world.fronts) {
    const { statusCode, body } = await request(url)
    await body.dump()
    expect([platform, statusCode]).toEqual([platform, 403])
  }
})
