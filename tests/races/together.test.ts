import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startRaceWorld, type Answer, type ApiProcess, type RaceUser, type RaceWorld } from './world.ts'

let world: RaceWorld
let apis: ApiProcess[]

beforeAll(async () => {
  world = await startRaceWorld()
  apis = await Promise.all([world.startApi(), world.startApi()])
  await world.startWorker()
}, 120_000)
afterAll(() => world?.stop())

/** The same request so many times at once, over both processes. */
const together = (count: number, ...request: Parameters<ApiProcess['call']>): Promise<Answer[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => apis[index % 2]!.call(...request)))

const bodyOf = (text: string) => ({ content: { text }, selectedPlatforms: ['bluesky'] })
const collection = (name: string) => world.context.database.connection.collection(name)
const usageOf = async ({ userId }: RaceUser) => (await world.context.users.findById(userId))!.usage.postsCreated
const postsOf = ({ userId }: RaceUser) => collection('posts').find({ userId }).toArray()
const messagesOf = async ({ userId }: RaceUser) =>
  (await world.notificationsOf(userId)).map(({ message }) => message).toSorted()

/** How often each status was answered. */
function tally(answers: Answer[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

describe('20 retries of a failed post at once', () => {
  it('have one winner, and make one delivery', async () => {
    const user = await world.user()
    const refusal = { status: 400, headers: {}, body: JSON.stringify({ error: 'InvalidRequest', message: 'no' }) }
    await world.control.fault({ account: user.account.did, path: 'putRecord', times: 1, action: refusal })
    const postId = await user.create(bodyOf('Again'))
    expect(await user.until(postId)).toMatchObject({ status: 'FAILED' })

    const answers = await together(20, user, 'POST', `/api/posts/${postId}/retry`)
    const { 200: won, 400: nothingFailed = 0, 409: inProgress = 0 } = tally(answers)
    expect([won, nothingFailed + inProgress]).toEqual([1, 19])
    for (const { status, body } of answers.filter(({ status }) => status !== 200)) {
      expect(body.code).toBe(status === 400 ? 'NO_FAILED_PLATFORMS' : 'POST_IN_PROGRESS')
    }

    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED', platformStatuses: [{ attemptCount: 2 }] })
    await world.workflowsEnd([postId])
    expect(await user.published()).toHaveLength(1)
    expect((await world.visibleCalls(user)).map(({ status }) => status)).toEqual([400, 200])
    expect((await world.context.posts.find(postId))!.platformStatuses[0]!.delivery.round).toBe(1)
    expect(await messagesOf(user)).toEqual([
      expect.stringMatching(/^Posting on Bluesky failed: /),
      'Successfully posted on bluesky',
      'Your post was created and is now pending',
    ])
  })
})

describe('50 creates at once', () => {
  it('with one idempotency key make one post, one delivery, and get the same data', async () => {
    const user = await world.user()
    const key = { 'idempotency-key': randomUUID() }
    const answers = await together(50, user, 'POST', '/api/posts', bodyOf('Only one'), key)
    expect(tally(answers)).toEqual({ 200: 49, 201: 1 })
    expect(new Set(answers.map(({ body }) => JSON.stringify(body.data)))).toHaveLength(1)

    const [{ body }] = answers as [Answer]
    expect(await user.until(body.data.postId)).toMatchObject({ status: 'COMPLETED' })
    expect([(await postsOf(user)).length, await usageOf(user)]).toEqual([1, 1])
    expect((await user.published()).map(({ text }) => text)).toEqual(['Only one'])
    expect(await messagesOf(user)).toEqual([
      'Successfully posted on bluesky',
      'Your post was created and is now pending',
    ])
  })

  it('at one below the allowance make exactly one post', async () => {
    const user = await world.user()
    const before = await user.create(bodyOf('The last but one'))
    await collection('users').updateOne({ _id: user.userId as never }, { $set: { 'limits.maxPosts': 2 } })
    const answers = await together(50, user, 'POST', '/api/posts', bodyOf('The last'))
    expect(tally(answers)).toEqual({ 201: 1, 403: 49 })
    for (const { body } of answers.filter(({ status }) => status === 403)) {
      expect(body).toMatchObject({ code: 'POST_LIMIT_REACHED', usage: 2, limit: 2 })
    }

    const postId: string = answers.find(({ status }) => status === 201)!.body.data.postId
    expect([(await postsOf(user)).map(({ _id }) => String(_id)).toSorted(), await usageOf(user)]).toEqual([
      [before, postId].toSorted(),
      2,
    ])
    for (const made of [before, postId]) expect(await user.until(made)).toMatchObject({ status: 'COMPLETED' })
    expect((await user.published()).map(({ text }) => text).toSorted()).toEqual(['The last', 'The last but one'])
    expect(await messagesOf(user)).toHaveLength(4)
  })

  it('each with room enough make 50 posts', async () => {
    const user = await world.user()
    await collection('users').updateOne({ _id: user.userId as never }, { $set: { 'limits.maxPosts': 50 } })
    const answers = await together(50, user, 'POST', '/api/posts', { ...bodyOf('Room'), status: 'DRAFT' })
    expect(tally(answers)).toEqual({ 201: 50 })
    expect([(await postsOf(user)).length, await usageOf(user)]).toEqual([50, 50])
  })
})

describe.concurrent('20 posts due at once with an access token', () => {
  const EVER = new Date(0)

  it.each([
    ['that the server refuses', (user: RaceUser) => world.control.expire(user.account.did)],
    [
      'at its end',
      ({ userId }: RaceUser) =>
        collection('platformAccounts').updateOne({ userId }, { $set: { 'bluesky.auth.expiresAt': EVER } }),
    ],
  ])('%s make one refresh over two workers, and all go out', async (_, endToken) => {
    const user = await world.user()
    // Long enough for others to find the same token while the first renewal is under way.
    await world.control.fault({ account: user.account.did, path: 'refreshSession', action: { delayMs: 2_500 } })
    const texts = Array.from({ length: 20 }, (_unused, index) => `Post ${index}`).toSorted()
    const scheduledAt = new Date(Date.now() + 10_000).toISOString()
    const postIds = await Promise.all(texts.map((text) => user.create({ ...bodyOf(text), scheduledAt })))
    await endToken(user)
    await world.workflowsEnd(postIds)

    expect((await user.published()).map(({ text }) => text).toSorted()).toEqual(texts)
    for (const postId of postIds) expect(await user.status(postId)).toMatchObject({ status: 'COMPLETED' })
    expect(await refreshesOf(user)).toEqual([200])
    expect(await world.workersOf(postIds)).toHaveLength(2)
  })
})

/** What the platform answered to each renewal of a user's tokens. */
const refreshesOf = async ({ account }: RaceUser) =>
  (await world.control.requests())
    .filter((call) => call.path.includes('refreshSession') && call.account === account.did)
    .map(({ status }) => status)
