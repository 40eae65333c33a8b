import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { killAfterAccept } from './faults.ts'
import { matchesCall } from './platforms.ts'
import { marked, type PostInput } from './judge/evidence.ts'
import { openSession, type Session } from './session.ts'
import { copySource } from '../support/copied-source.ts'
import { useFaultCluster } from './test-cluster.ts'
import { waitFor } from './wait-for.ts'
import { unique } from './cluster.ts'

/** Kills real processes at the worst moments, and judges the invariants each time. */

const SECOND = 1_000
const PUBLISHED_WITHIN_MS = 60 * SECOND

const tested = useFaultCluster()

const text = () => marked(unique('post'), 'written once')
const openUserSession = () => openSession(tested.cluster, { users: 1, withWebhooks: true })
const bluesky = () => tested.cluster.platforms[0]!

async function create(session: Session, input: Partial<PostInput> = {}, api = 0): Promise<void> {
  const answer = await session.users[0]!.clientFor(api).create({ text: text(), platforms: ['bluesky'], ...input })
  if (answer?.status !== 201) throw new Error(`The create returned ${JSON.stringify(answer)}`)
}

/** Waits until everything is idle. Expects that every post is published and the judge reports nothing. */
async function expectDelivered(session: Session): Promise<void> {
  await session.waitUntilIdle()
  expect((await session.readPosts()).map(({ status }) => status)).toSatisfy((all: string[]) =>
    all.every((status) => status === 'COMPLETED'),
  )
  expect(await session.verdict()).toEqual([])
}

/** Waits for a visible call after the first `before` requests. */
const waitForVisibleCall = async (before: number) =>
  waitFor(
    'a visible call',
    () => bluesky().control.requests(),
    (requests) => requests.slice(before).some((request) => matchesCall(bluesky().calls.publish, request)),
  )

const countRequests = async () => (await bluesky().control.requests()).length

describe('posts that Temporal never received', () => {
  let session: Session
  let recoveredAt: number

  beforeAll(async () => {
    session = await openUserSession()
    tested.cluster.process('temporal').freeze()
    await create(session, {}, 0)
    // Killed while the start of the workflow hangs.
    await tested.cluster.process('api-1').kill()
    await create(session, {}, 1)
    // The kill also drops requests that the frozen server has only buffered.
    await tested.cluster.process('temporal').kill()
    await tested.cluster.heal()
    recoveredAt = Date.now()
  })

  describe('with an inconclusive response meanwhile', () => {
    it.each([
      ['dropped', { dropAfterAccept: true }],
      ['truncated', { truncate: true }],
      ['a 500', { statusAfterAccept: 500, body: { error: 'InternalServerError' } }],
    ])('a post has one record when the response after acceptance is %s', async (_fault, action) => {
      const other = await openUserSession()
      await bluesky().control.fault({
        ...bluesky().calls.publish,
        account: other.users[0]!.accounts.get('bluesky')!.accountId,
        times: 1,
        action,
      })
      await create(other)
      await expectDelivered(other)
    })
  })

  it('a post is delivered once within 60 s, whether or not the API that created it was killed', async () => {
    await expectDelivered(session)
    const posts = await session.readPosts()
    expect(posts).toHaveLength(2)
    for (const { platformStatuses } of posts) {
      expect(platformStatuses[0]!.completedAt!.getTime() - recoveredAt).toBeLessThan(PUBLISHED_WITHIN_MS)
    }
  })
})

it('a post has one record when its worker is killed after the platform accepted it', async () => {
  const session = await openUserSession()
  const { killed } = await killAfterAccept(tested.cluster, bluesky(), 20 * SECOND)
  await create(session)
  expect(await killed).toBe(true)
  expect(await session.readPosts()).toMatchObject([{ status: 'PROCESSING' }])
  await tested.cluster.heal()
  await expectDelivered(session)
})

it('a post that is due while Temporal is down is published after the restart', async () => {
  const session = await openUserSession()
  // Farther ahead than the longest arm lead: an armed delivery is on time even without Temporal.
  const dueAt = Date.now() + 13 * SECOND
  await create(session, { scheduledAt: dueAt })
  await delay(SECOND)
  await tested.cluster.process('temporal').kill()
  await delay(dueAt + SECOND - Date.now())
  expect(await session.readPosts()).toMatchObject([{ status: 'SCHEDULED' }])
  await tested.cluster.process('temporal').start()
  await expectDelivered(session)
})

it('the response to a call is recorded after a restart of MongoDB during the call', async () => {
  const session = await openUserSession()
  const before = await countRequests()
  await bluesky().control.fault({ ...bluesky().calls.publish, times: 1, action: { delayMs: SECOND } })
  await create(session)
  await waitForVisibleCall(before)
  await tested.cluster.process('mongod').kill()
  await delay(2 * SECOND)
  await tested.cluster.process('mongod').start()
  await expectDelivered(session)
})

it('a post has one record when its worker is frozen past the lease and thawed after another worker published it', async () => {
  // This worker waits between its claim and its call, long enough to be frozen there.
  const slow = tested.cluster.addWorker(
    'worker-slow',
    copySource(join(tested.dir, 'slow'), [
      {
        anchor: 'claimed attempt',
        change: (code) => `await new Promise((resolve) => setTimeout(resolve, 2_000))\n${code}`,
      },
    ]),
    // With its only slot taken it polls for no more tasks. A frozen worker would lose a task that arrives at an open poll.
    { WORKER_ACTIVITY_SLOTS: '1' },
  )
  const others = tested.cluster.processes('worker')
  await slow.start()
  await Promise.all(others.map((worker) => worker.kill()))
  const session = await openUserSession()
  await create(session)
  await waitFor(
    'the claim',
    () => session.readPosts(),
    ([post]) => post?.status === 'PROCESSING',
  )
  slow.freeze()
  await Promise.all(others.map((worker) => worker.start()))
  await waitFor(
    'the publication by another worker',
    () => session.readPosts(),
    ([post]) => post?.status === 'COMPLETED',
  )
  slow.thaw()
  // The thawed worker continues. It must not make its call.
  await delay(3 * SECOND)
  await slow.stop()
  await expectDelivered(session)
  const [post] = await session.readPosts()
  expect(post!.platformStatuses[0]).toMatchObject({ delivery: { attempt: 2 } })
})
