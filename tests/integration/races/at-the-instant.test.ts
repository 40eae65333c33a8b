import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Post } from '../../../src/domain/posts/post.ts'
import { armLeadMs } from '../../../src/domain/posts/publish-plan.ts'
import type { LedgerEntry } from '../../support/platform-control.ts'
import { unique } from '../../support/servers.ts'
import { marked, type Wish } from '../../faults/judge/evidence.ts'
import type { Answer } from '../../faults/operations.ts'
import { inTurns, madePost, startRaceWorld, type ApiProcess, type RaceUser, type RaceWorld } from './world.ts'

/** A post that something happens to around its instant. */
interface Racer {
  user: RaceUser
  postId: string
  text: string
  dueAt: Date
}

/** What was done to it, what the API said, and when that answer was there. */
interface Raced extends Racer {
  status: number | undefined
  answeredAt: Date
}

/** Creating hundreds of posts takes a while, and then they have to be armed. Whatever is late races at once. */
const FIRST_INSTANT_MS = 16_000
const BETWEEN_INSTANTS_MS = 500
const AROUND_MS = 100
const USERS = 6

let world: RaceWorld
let apis: ApiProcess[]
let users: RaceUser[]
let turn = 0
/** The processes take turns. */
const api = () => apis[turn++ % apis.length]!

/** Everything races in one stretch of time, and is judged when all of it is over. */
let raced: Awaited<ReturnType<typeof race>>
let ledger: LedgerEntry[]

beforeAll(async () => {
  world = await startRaceWorld()
  apis = await Promise.all([world.startApi(), world.startApi()])
  users = await inTurns(Array.from({ length: USERS }), 3, () => world.user())
  raced = await race()
  await world.workflowsEnd(Object.values(raced).flatMap((racers) => racers.map(({ postId }) => postId)))
  ledger = await world.control.ledger()
}, 180_000)
afterAll(() => world?.stop())

async function race() {
  const start = Date.now() + FIRST_INSTANT_MS
  let instants = 0
  const nextInstant = () => new Date(start + BETWEEN_INSTANTS_MS * instants++)
  /** `count` posts at each of some instants; those of one instant belong to all users. */
  const plan = (count: number, times: number) =>
    Array.from({ length: times }, nextInstant).flatMap((dueAt) => Array.from({ length: count }, () => dueAt))

  // First, while there is no backlog yet that could hide that they were moved forward.
  const moves = plan(10, 3)
  const [deletes, edits, delays] = [plan(10, 5), plan(10, 5), plan(10, 3)]
  const twins = Array.from({ length: 6 }, nextInstant)
  const cancels = plan(20, 10)
  const [deleted, edited, delayed, twinned, cancelled, moved] = await Promise.all([
    enter(
      deletes,
      2,
      around((racer) => api().as(racer.user).delete(racer.postId)),
    ),
    enter(
      edits,
      2,
      around(({ user, postId, text }) => editTo(user, postId, { text: `${text} edited` })),
    ),
    enter(
      delays,
      2,
      around(({ user, postId, dueAt }) => editTo(user, postId, { scheduledAt: delayedTo(dueAt) })),
    ),
    inTurns([...twins.entries()], 1, ([index, dueAt]) => createTwins(dueAt, users[index % USERS]!)),
    enter(
      cancels,
      6,
      around((racer) => api().as(racer.user).cancel(racer.postId)),
    ),
    enter(moves, 2, (racer, index) => move(racer, (['later', 'earlier', 'now'] as const)[index % 3]!)),
  ])
  return { cancelled, deleted, edited, delayed, moved, twinned: twinned.flat() }
}

/** Creates posts a few at a time, and sends each into its race as soon as it is there. */
async function enter<T>(
  dueAts: Date[],
  width: number,
  goOn: (racer: Racer, index: number) => Promise<T>,
): Promise<T[]> {
  const racing = await inTurns([...dueAts.entries()], width, async ([index, dueAt]) => ({
    end: goOn(await create(dueAt), index),
  }))
  return Promise.all(racing.map(({ end }) => end))
}

const delayedTo = (dueAt: Date) => dueAt.getTime() + 2_000
const editTo = (user: RaceUser, postId: string, wish: Wish) => api().as(user).edit(postId, wish)

async function create(
  dueAt: Date,
  user = users[turn % USERS]!,
  text = marked(unique('race'), 'hello'),
): Promise<Racer> {
  const wish = { text, platforms: ['bluesky' as const], scheduledAt: dueAt.getTime() }
  return { user, postId: madePost(await api().as(user).create(wish)), text, dueAt }
}

async function createTwins(dueAt: Date, user: RaceUser): Promise<Racer[]> {
  const text = marked(unique('twin'), 'hello')
  return Promise.all([create(dueAt, user, text), create(dueAt, user, text)])
}

/** Acts at a random moment around the post's instant. */
const around =
  (act: (racer: Racer) => Promise<Answer | null>) =>
  async (racer: Racer): Promise<Raced> => {
    await until(racer.dueAt.getTime() + (Math.random() * 2 - 1) * AROUND_MS)
    const answer = await act(racer)
    return { ...racer, status: answer?.status, answeredAt: new Date() }
  }

/** Moves an armed post, with other words. */
async function move(racer: Racer, where: 'later' | 'earlier' | 'now') {
  const { user, postId, text, dueAt } = racer
  // In the first half of the time it is armed.
  await until(dueAt.getTime() - armLeadMs(postId) * 0.75)
  const now = Date.now()
  const movedTo = {
    later: new Date(dueAt.getTime() + 2_000),
    earlier: new Date((now + dueAt.getTime()) / 2),
    now: null,
  }[where]
  const wish = { text: `${text} moved`, scheduledAt: movedTo?.getTime() ?? null }
  const answer = await editTo(user, postId, wish)
  return { ...racer, status: answer?.status, answeredAt: new Date(), where, movedTo: movedTo ?? new Date(now) }
}

const until = (instant: number) => delay(Math.max(0, instant - Date.now()))
const recordsOf = ({ text }: Racer) => ledger.filter((entry) => entry.text.startsWith(text))
const stored = ({ postId }: Racer) => world.context.posts.find(postId)
const accepted = (racers: Raced[]) => racers.filter(({ status }) => status === 200)

/** One record with these words on the right account, not before its time, and the post knows it. */
async function expectPublished(racer: Racer, text: string, notBefore: Date): Promise<void> {
  const records = recordsOf(racer)
  expect(records, text).toMatchObject([{ text, account: racer.user.account.handle }])
  expect(Date.parse(records[0]!.createdAt)).toBeGreaterThanOrEqual(notBefore.getTime())
  expect(await stored(racer)).toMatchObject({
    status: 'COMPLETED',
    platformStatuses: [{ status: 'completed', platformPostId: records[0]!.id }],
  } satisfies PartOf<Post>)
}

type PartOf<T> = { [K in keyof T]?: T[K] extends (infer Item)[] ? PartOf<Item>[] : T[K] }

describe('200 posts cancelled around their instant', () => {
  it('are answered 200 or 404, and both happen', () => {
    const statuses = raced.cancelled.map(({ status }) => status)
    expect(statuses).toHaveLength(200)
    expect(new Set(statuses)).toEqual(new Set([200, 404]))
  })

  it('leave nothing on the server where the cancel was acknowledged', async () => {
    for (const racer of accepted(raced.cancelled)) {
      expect(recordsOf(racer)).toEqual([])
      expect(await stored(racer)).toMatchObject({
        status: 'CANCELLED',
        platformStatuses: [{ status: 'pending', attemptCount: 0 }],
      })
    }
  })

  it('are on the server exactly once where it was not', async () => {
    for (const racer of raced.cancelled.filter(({ status }) => status === 404)) {
      await expectPublished(racer, racer.text, racer.dueAt)
    }
  })
})

describe('posts deleted around their instant', () => {
  it('are gone in every case', async () => {
    for (const racer of raced.deleted) {
      expect(racer.status).toBe(200)
      expect(await stored(racer)).toBeNull()
    }
  })

  it('go out only when they were claimed before the answer, once, and their owner is told', async () => {
    const [gone, out] = [0, 1].map((count) => raced.deleted.filter((racer) => recordsOf(racer).length === count))
    expect(gone!.length + out!.length).toBe(raced.deleted.length)
    for (const racer of out!) {
      expect(Date.parse(recordsOf(racer)[0]!.createdAt)).toBeGreaterThanOrEqual(racer.dueAt.getTime())
      expect(Date.parse(recordsOf(racer)[0]!.createdAt)).toBeLessThanOrEqual(racer.answeredAt.getTime())
    }
    expect(await successesOf(out!)).toEqual(out!.map(() => 1))
    expect(await successesOf(gone!)).toEqual(gone!.map(() => 0))
  })
})

describe('posts edited around their instant', () => {
  it('are answered 200 or 409, and both happen', () => {
    expect(new Set(raced.edited.map(({ status }) => status))).toEqual(new Set([200, 409]))
  })

  it('go out once, with the words that were acknowledged', async () => {
    for (const racer of raced.edited) {
      await expectPublished(racer, racer.status === 200 ? `${racer.text} edited` : racer.text, racer.dueAt)
    }
  })
})

describe('posts put off around their instant', () => {
  it('go out once: at the later instant where that was acknowledged', async () => {
    expect(new Set(raced.delayed.map(({ status }) => status))).toEqual(new Set([200, 409]))
    for (const racer of raced.delayed) {
      await expectPublished(racer, racer.text, racer.status === 200 ? new Date(delayedTo(racer.dueAt)) : racer.dueAt)
    }
  })
})

describe('armed posts that are moved and edited', () => {
  it.each(['later', 'earlier', 'now'] as const)('%s go out once, with the new words, never early', async (where) => {
    const racers = raced.moved.filter((racer) => racer.where === where)
    expect(racers).toHaveLength(10)
    for (const racer of racers) {
      expect(racer.status).toBe(200)
      await expectPublished(racer, `${racer.text} moved`, racer.movedTo)
    }
    // Moved forward, they do not wait for the instant they had; on a busy machine it may overtake some.
    const first = Math.min(...racers.map((racer) => Date.parse(recordsOf(racer)[0]!.createdAt) - racer.dueAt.getTime()))
    if (where !== 'later') expect(first).toBeLessThan(0)
  })
})

describe('two posts with the same words at the same instant', () => {
  it('are two records, and each post knows its own', async () => {
    for (let pair = 0; pair < raced.twinned.length; pair += 2) {
      const twins = raced.twinned.slice(pair, pair + 2)
      const posts = await Promise.all(twins.map(stored))
      expect(posts.map((post) => post!.status)).toEqual(['COMPLETED', 'COMPLETED'])
      const ids = posts.map((post) => post!.platformStatuses[0]!.platformPostId)
      expect(new Set(ids).size).toBe(2)
      expect(recordsOf(twins[0]!).map(({ id }) => id)).toEqual(expect.arrayContaining(ids))
      expect(recordsOf(twins[0]!)).toHaveLength(2)
    }
  })
})

it('no visible call was made of what is not there', async () => {
  const calls = (await Promise.all(users.map((user) => world.callsOf(user, 'putRecord')))).flat()
  const there = new Set(ledger.map(({ text }) => text))
  expect(calls.length).toBeGreaterThanOrEqual(ledger.length)
  expect(calls.filter(({ text }) => !there.has(text!))).toEqual([])
})

it('the invariants hold', async () => {
  expect(await world.verdict()).toEqual([])
})

/** How many success notifications each has. */
async function successesOf(racers: Racer[]): Promise<number[]> {
  const told = (await Promise.all(users.map(({ userId }) => world.context.notifications.listOf(userId, 1_000)))).flat()
  return racers.map(
    ({ postId }) =>
      told.filter(({ reference, message }) => reference?.id === postId && message.startsWith('Successfully')).length,
  )
}
