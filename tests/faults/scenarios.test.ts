import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { churn } from './churn.ts'
import { killAfterAccept } from './faults.ts'
import { isOne } from './platforms.ts'
import { marked, type Wish } from './judge/evidence.ts'
import { runSeed } from './run.ts'
import { openSession, type Session } from './session.ts'
import { copySource } from './source.ts'
import { until } from './waiting.ts'
import { startFaultWorld, unique, type FaultWorld } from './world.ts'

/** Real processes are killed at the worst moment there is; each time the invariants are judged. */

const SECOND = 1_000
/** `npm run chaos` has more of them. */
const SEED = 12
const RESTARTED_WITHIN_MS = 60 * SECOND
/** Each of them to every platform. */
const CHURNED = 30

const dir = mkdtempSync(join(tmpdir(), 'postonce-faults-'))
let world: FaultWorld
let failed = 0
beforeAll(async () => void (world = await startFaultWorld({ dir })))
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') failed++
  await world?.heal()
})
afterAll(async () => {
  await world?.stop()
  if (failed === 0) rmSync(dir, { recursive: true, force: true })
  else console.error(`Logs and the journal of what was done: ${dir}`)
})

const text = () => marked(unique('post'), 'written once')
const open = () => openSession(world, { users: 1 })
const bluesky = () => world.platforms[0]!

async function create(session: Session, wish: Partial<Wish> = {}, api = 0): Promise<void> {
  const answer = await session.users[0]!.via(api).create({ text: text(), platforms: ['bluesky'], ...wish })
  if (answer?.status !== 201) throw new Error(`The create was answered ${JSON.stringify(answer)}`)
}

/** Everything is published, and the judge reports nothing. */
async function expectDelivered(session: Session): Promise<void> {
  await session.rest()
  expect((await session.posts()).map(({ status }) => status)).toSatisfy((all: string[]) =>
    all.every((status) => status === 'COMPLETED'),
  )
  expect(await session.verdict()).toEqual([])
}

/** Sees to it that a visible call is on its way. */
const callArrives = async (before: number) =>
  until(
    'a visible call',
    () => bluesky().control.requests(),
    (requests) => requests.slice(before).some((request) => isOne(bluesky().calls.publish, request)),
  )

const requestCount = async () => (await bluesky().control.requests()).length

describe('posts that Temporal never received', () => {
  let session: Session
  let backAt: number

  beforeAll(async () => {
    session = await open()
    const [user] = session.users
    world.part('temporal').freeze()
    // Stored, while the start of its workflow hangs: there the API is killed.
    const unanswered = user!.via(0).create({ text: text(), platforms: ['bluesky'] })
    await until(
      'the post is stored',
      () => session.posts(),
      (posts) => posts.length === 1,
    )
    await world.part('api-1').kill()
    await unanswered
    await create(session, {}, 1)
    // What the frozen server may have got in its buffers is gone with it.
    await world.part('temporal').kill()
    await world.heal()
    backAt = Date.now()
  })

  describe('with an inconclusive answer meanwhile', () => {
    it.each([
      ['is dropped', { dropAfterAccept: true }],
      ['breaks off', { truncate: true }],
      ['is a 500', { statusAfterAccept: 500, body: { error: 'InternalServerError' } }],
    ])('%s after the platform accepted: one record', async (_how, action) => {
      const other = await open()
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

  it('a post is delivered once within 60 s, whether or not its create got a response', async () => {
    await expectDelivered(session)
    const posts = await session.posts()
    expect(posts).toHaveLength(2)
    const creates = session.log.operations.filter(({ kind }) => kind === 'create')
    expect(creates.map(({ status }) => status)).toEqual([null, 201])
    for (const { platformStatuses } of posts) {
      expect(platformStatuses[0]!.completedAt!.getTime() - backAt).toBeLessThan(RESTARTED_WITHIN_MS)
    }
  })
})

it('a worker killed after the platform accepted and before that was recorded: one record', async () => {
  const session = await open()
  const killing = killAfterAccept(world, bluesky(), 20 * SECOND)
  await create(session)
  expect(await killing).toBe(true)
  expect(await session.posts()).toMatchObject([{ status: 'PROCESSING' }])
  await world.heal()
  await expectDelivered(session)
})

it('Temporal killed and started again across a due time: delivered then, and not before', async () => {
  const session = await open()
  // Further ahead than a post is ever armed: a delivery that is armed already needs no Temporal to be on time.
  const dueAt = Date.now() + 13 * SECOND
  await create(session, { scheduledAt: dueAt })
  await delay(SECOND)
  await world.part('temporal').kill()
  await delay(dueAt + SECOND - Date.now())
  expect(await session.posts()).toMatchObject([{ status: 'SCHEDULED' }])
  await world.part('temporal').start()
  await expectDelivered(session)
})

it('MongoDB killed while a call is on its way: its answer is recorded when it is back', async () => {
  const session = await open()
  const before = await requestCount()
  await bluesky().control.fault({ ...bluesky().calls.publish, times: 1, action: { delayMs: SECOND } })
  await create(session)
  await callArrives(before)
  await world.part('mongod').kill()
  await delay(2 * SECOND)
  await world.part('mongod').start()
  await expectDelivered(session)
})

it('a worker frozen past its lease between claim and call, and thawed when another one has published: one record', async () => {
  // The claim is made, and its answer takes its time: long enough to be frozen in.
  const slow = world.addWorker(
    'worker-slow',
    copySource(join(dir, 'slow'), [
      {
        anchor: 'claimed attempt',
        change: (code) => `await new Promise((go) => setTimeout(go, 2_000))\n${code}`,
      },
    ]),
    // With its slot taken it asks for nothing more: a frozen worker swallows what is handed to its open requests.
    { WORKER_ACTIVITY_SLOTS: '1' },
  )
  const others = world.parts('worker')
  await slow.start()
  await Promise.all(others.map((worker) => worker.kill()))
  const session = await open()
  await create(session)
  await until(
    'the claim',
    () => session.posts(),
    ([post]) => post?.status === 'PROCESSING',
  )
  slow.freeze()
  await Promise.all(others.map((worker) => worker.start()))
  await until(
    'the other one',
    () => session.posts(),
    ([post]) => post?.status === 'COMPLETED',
  )
  slow.thaw()
  // It continues with its call, which must not happen.
  await delay(3 * SECOND)
  await slow.stop()
  await expectDelivered(session)
  const [post] = await session.posts()
  expect(post!.platformStatuses[0]).toMatchObject({ delivery: { attempt: 2 } })
})

it('each post is published once while workers are killed in turn and many posts are due together', async () => {
  const calm = await churn(world, CHURNED, null)
  expect(calm.violations).toEqual([])
  const churned = await churn(world, CHURNED, 2 * SECOND)
  expect(churned.violations).toEqual([])
  console.log(
    `${CHURNED} posts: drained in ${calm.drainMs} ms in calm, in ${churned.drainMs} ms with ${churned.kills} kills`,
  )
})

it(`keeps every invariant under the faults of seed ${SEED}`, async () => {
  const { violations } = await runSeed(world, SEED, { users: 3, posts: 25, faults: 6, lengthMs: 10 * SECOND })
  expect(violations, `the journal is ${world.journal.file}`).toEqual([])
})
