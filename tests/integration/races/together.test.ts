import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../../faults/client.ts'
import type { PostInput } from '../../faults/judge/evidence.ts'
import type { Answer } from '../../faults/operations.ts'
import { unique } from '../../support/servers.ts'
import { toCreatedId, startRaceWorld, type ApiProcess, type RaceUser, type RaceWorld } from './world.ts'

interface Body {
  code?: string
  data?: unknown
}

let world: RaceWorld
let apis: ApiProcess[]

beforeAll(async () => {
  world = await startRaceWorld()
  apis = await Promise.all([world.startApi(), world.startApi()])
  await world.startWorker()
})
afterAll(() => world?.stop())

/** Sends the same request concurrently over both processes. */
async function sendConcurrently(
  count: number,
  user: RaceUser,
  ask: (posts: Client) => Promise<Answer | null>,
): Promise<Answer[]> {
  const answers = await Promise.all(Array.from({ length: count }, (_, index) => ask(apis[index % 2]!.as(user))))
  return answers.filter((answer) => answer !== null)
}

const inputFor = (text: string): PostInput & { text: string } => ({ text: unique(text), platforms: ['bluesky'] })
const collection = (name: string) => world.context.database.connection.collection(name)
const usageOf = async ({ userId }: RaceUser) => (await world.context.users.findById(userId))!.usage.postsCreated
const postsOf = async ({ userId }: RaceUser) =>
  (await collection('posts').find({ userId }).toArray()).map(({ _id }) => String(_id))
const textsOf = async (user: RaceUser) => (await user.published()).map(({ text }) => text).toSorted()
const statusesOf = async (user: RaceUser, path: string) => (await world.callsOf(user, path)).map(({ status }) => status)
const allow = ({ userId }: RaceUser, maxPosts: number) =>
  collection('users').updateOne({ _id: userId as never }, { $set: { 'limits.maxPosts': maxPosts } })

/** Counts the responses by status. */
function tally(answers: { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

describe('20 concurrent retries of a failed post', () => {
  it('exactly one retry succeeds, and the post is delivered once', async () => {
    const user = await world.user()
    const refusal = { status: 400, headers: {}, body: JSON.stringify({ error: 'InvalidRequest', message: 'no' }) }
    await world.control.fault({ account: user.account.did, path: 'putRecord', times: 1, action: refusal })
    const postId = toCreatedId(await user.posts.create(inputFor('Again')))
    expect(await user.until(postId)).toMatchObject({ status: 'FAILED' })

    const answers = await sendConcurrently(20, user, (posts) => posts.retry(postId))
    const { 200: won, 400: nothingFailed = 0, 409: inProgress = 0 } = tally(answers)
    expect([won, nothingFailed + inProgress]).toEqual([1, 19])
    for (const { status, body } of answers.filter((answer) => answer.status !== 200)) {
      expect((body as Body).code).toBe(status === 400 ? 'NO_FAILED_PLATFORMS' : 'POST_IN_PROGRESS')
    }

    expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED', platformStatuses: [{ attemptCount: 2 }] })
    await world.workflowsEnd([postId])
    expect(await user.published()).toHaveLength(1)
    expect(await statusesOf(user, 'putRecord')).toEqual([400, 200])
    expect((await world.context.posts.find(postId))!.platformStatuses[0]!.delivery.round).toBe(1)
  })
})

describe('50 concurrent creates', () => {
  it('creates with the same idempotency key make a single post and delivery and return the same data', async () => {
    const user = await world.user()
    const input = { ...inputFor('Only one'), idempotencyKey: randomUUID() }
    const answers = await sendConcurrently(50, user, (posts) => posts.create(input))
    expect(tally(answers)).toEqual({ 200: 49, 201: 1 })
    expect(new Set(answers.map(({ body }) => JSON.stringify((body as Body).data)))).toHaveLength(1)

    const [postId] = await postsOf(user)
    expect(await user.until(postId!)).toMatchObject({ status: 'COMPLETED' })
    await world.workflowsEnd([postId!])
    expect([await postsOf(user), await usageOf(user)]).toEqual([[postId], 1])
    expect(await textsOf(user)).toEqual([input.text])
  })

  it('creates at one below the plan limit make exactly one post', async () => {
    const user = await world.user()
    const [before, last] = [inputFor('The last but one'), inputFor('The last')]
    const firstId = toCreatedId(await user.posts.create(before))
    await allow(user, 2)
    const answers = await sendConcurrently(50, user, (posts) => posts.create(last))
    expect(tally(answers)).toEqual({ 201: 1, 403: 49 })
    for (const { body } of answers.filter(({ status }) => status === 403)) {
      expect(body).toMatchObject({ code: 'POST_LIMIT_REACHED', usage: 2, limit: 2 })
    }

    const lastId = toCreatedId(answers.find(({ status }) => status === 201)!)
    expect([(await postsOf(user)).toSorted(), await usageOf(user)]).toEqual([[firstId, lastId].toSorted(), 2])
    for (const postId of [firstId, lastId]) expect(await user.until(postId)).toMatchObject({ status: 'COMPLETED' })
    await world.workflowsEnd([firstId, lastId])
    expect(await textsOf(user)).toEqual([before.text, last.text].toSorted())
  })

  it('creates within the plan limit make 50 posts', async () => {
    const user = await world.user()
    await allow(user, 50)
    const answers = await sendConcurrently(50, user, (posts) => posts.create({ ...inputFor('Room'), status: 'DRAFT' }))
    expect(tally(answers)).toEqual({ 201: 50 })
    expect([(await postsOf(user)).length, await usageOf(user)]).toEqual([50, 50])
  })
})

describe.concurrent('20 posts due at the same time', () => {
  const EVER = new Date(0)

  it.each([
    ['that the server refuses', (user: RaceUser) => world.control.expire(user.account.did)],
    [
      'at its end',
      ({ userId }: RaceUser) =>
        collection('accounts').updateOne({ userId, platform: 'bluesky' }, { $set: { 'auth.expiresAt': EVER } }),
    ],
  ])(
    '20 posts due with an access token %s make a single refresh over two workers, and all are published',
    { timeout: 120_000 },
    async (_, endToken) => {
      const user = await world.user()
      // Long enough for others to find the same token while the first renewal is in progress.
      await world.control.fault({ account: user.account.did, path: 'refreshSession', action: { delayMs: 2_500 } })
      const scheduledAt = Date.now() + 10_000
      const inputs = Array.from({ length: 20 }, () => ({ ...inputFor('Due'), scheduledAt }))
      const postIds = (await Promise.all(inputs.map((input) => user.posts.create(input)))).map(toCreatedId)
      await endToken(user)
      await world.workflowsEnd(postIds)

      expect(await textsOf(user)).toEqual(inputs.map(({ text }) => text).toSorted())
      for (const postId of postIds) expect(await user.status(postId)).toMatchObject({ status: 'COMPLETED' })
      expect(await statusesOf(user, 'refreshSession')).toEqual([200])
      expect(await world.workersOf(postIds)).toHaveLength(2)
    },
  )
})

it('the delivery invariants hold after concurrent requests', async () => {
  expect(await world.verdict()).toEqual([])
})
