import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Post } from '../../../src/domain/posts/post.ts'
import { armLeadMs } from '../../../src/domain/posts/publish-plan.ts'
import type { LedgerEntry } from '../../support/platform-control.ts'
import { unique } from '../../support/servers.ts'
import { marked, type PostInput } from '../../faults/judge/evidence.ts'
import type { Answer } from '../../faults/operations.ts'
import { mapLimited, toCreatedId, startRaceWorld, type ApiProcess, type RaceUser, type RaceWorld } from './world.ts'

/** A post that is changed around its scheduled time. */
interface Racer {
  user: RaceUser
  postId: string
  text: string
  dueAt: Date
}

/** The change, the response of the API and the time of the response. */
interface Raced extends Racer {
  status: number | undefined
  answeredAt: Date
}

/** Creating and arming hundreds of posts takes a while. Posts that are late race immediately. */
const FIRST_INSTANT_MS = 16_000
const BETWEEN_INSTANTS_MS = 500
const AROUND_MS = 100
/** On a busy machine posts are claimed later, so a third of the requests come up to this time after the instant. */
const LATE_MS = 3_000
const USERS = 6

let world: RaceWorld
let apis: ApiProcess[]
let users: RaceUser[]
let turn = 0
/** Sends requests to the API processes in turn. */
const api = () => apis[turn++ % apis.length]!

/** All races run in the same period and are checked afterwards. */
let raced: Awaited<ReturnType<typeof race>>
let ledger: LedgerEntry[]

beforeAll(async () => {
  world = await startRaceWorld()
  apis = await Promise.all([world.startApi(), world.startApi()])
  users = await mapLimited(Array.from({ length: USERS }), 3, () => world.user())
  raced = await race()
  await world.workflowsEnd(Object.values(raced).flatMap((racers) => racers.map(({ postId }) => postId)))
  ledger = await world.control.ledger()
})
afterAll(() => world?.stop())

async function race() {
  const start = Date.now() + FIRST_INSTANT_MS
  let instants = 0
  const nextInstant = () => new Date(start + BETWEEN_INSTANTS_MS * instants++)
  /** `count` posts at each of several times; posts with the same time belong to all users. */
  const plan = (count: number, times: number) =>
    Array.from({ length: times }, nextInstant).flatMap((dueAt) => Array.from({ length: count }, () => dueAt))

  // Runs first, while no backlog exists that could hide that posts were moved forward.
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
    mapLimited([...twins.entries()], 1, ([index, dueAt]) => createTwins(dueAt, users[index % USERS]!)),
    enter(
      cancels,
      6,
      around((racer) => api().as(racer.user).cancel(racer.postId)),
    ),
    enter(moves, 2, (racer, index) => move(racer, (['later', 'earlier', 'now'] as const)[index % 3]!)),
  ])
  return { cancelled, deleted, edited, delayed, moved, twinned: twinned.flat() }
}

/** Creates posts a few at a time and starts the race of each immediately. */
async function enter<T>(
  dueAts: Date[],
  width: number,
  goOn: (racer: Racer, index: number) => Promise<T>,
): Promise<T[]> {
  const racing = await mapLimited([...dueAts.entries()], width, async ([index, dueAt]) => ({
    end: goOn(await create(dueAt), index),
  }))
  return Promise.all(racing.map(({ end }) => end))
}

const delayedTo = (dueAt: Date) => dueAt.getTime() + 2_000
const editTo = (user: RaceUser, postId: string, input: PostInput) => api().as(user).edit(postId, input)

async function create(
  dueAt: Date,
  user = users[turn % USERS]!,
  text = marked(unique('race'), 'hello'),
): Promise<Racer> {
  const input = { text, platforms: ['bluesky' as const], scheduledAt: dueAt.getTime() }
  return { user, postId: toCreatedId(await api().as(user).create(input)), text, dueAt }
}

async function createTwins(dueAt: Date, user: RaceUser): Promise<Racer[]> {
  const text = marked(unique('twin'), 'hello')
  return Promise.all([create(dueAt, user, text), create(dueAt, user, text)])
}

/** Acts at a random moment around the scheduled time of the post. */
const around =
  (act: (racer: Racer) => Promise<Answer | null>) =>
  async (racer: Racer): Promise<Raced> => {
    const offsetMs = Math.random() < 1 / 3 ? Math.random() * LATE_MS : (Math.random() * 2 - 1) * AROUND_MS
    await until(racer.dueAt.getTime() + offsetMs)
    const answer = await act(racer)
    return { ...racer, status: answer?.status, answeredAt: new Date() }
  }

/** Moves an armed post and changes its text. */
async function move(racer: Racer, where: 'later' | 'earlier' | 'now') {
  const { user, postId, text, dueAt } = racer
  // In the first half of the time for which it is armed.
  await until(dueAt.getTime() - armLeadMs(postId) * 0.75)
  const now = Date.now()
  const movedTo = {
    later: new Date(dueAt.getTime() + 2_000),
    earlier: new Date((now + dueAt.getTime()) / 2),
    now: null,
  }[where]
  const input = { text: `${text} moved`, scheduledAt: movedTo?.getTime() ?? null }
  const answer = await editTo(user, postId, input)
  return { ...racer, status: answer?.status, answeredAt: new Date(), where, movedTo: movedTo ?? new Date(now) }
}

const until = (instant: number) => delay(Math.max(0, instant - Date.now()))
const recordsOf = ({ text }: Racer) => ledger.filter((entry) => entry.text.startsWith(text))
const stored = ({ postId }: Racer) => world.context.posts.find(postId)
const accepted = (racers: Raced[]) => racers.filter(({ status }) => status === 200)

/** Expects a single record with this text on the right account, not before its time, and linked to the post. */
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

describe('200 posts cancelled around their scheduled time', () => {
  it('cancels are answered 200 or 404, and both occur', () => {
    const statuses = raced.cancelled.map(({ status }) => status)
    expect(statuses).toHaveLength(200)
    expect(new Set(statuses)).toEqual(new Set([200, 404]))
  })

  it('a post with an acknowledged cancel is not on the platform', async () => {
    for (const racer of accepted(raced.cancelled)) {
      expect(recordsOf(racer)).toEqual([])
      expect(await stored(racer)).toMatchObject({
        status: 'CANCELLED',
        platformStatuses: [{ status: 'pending', attemptCount: 0 }],
      })
    }
  })

  it('a post with a refused cancel is on the platform exactly once', async () => {
    for (const racer of raced.cancelled.filter(({ status }) => status === 404)) {
      await expectPublished(racer, racer.text, racer.dueAt)
    }
  })
})

describe('posts deleted around their scheduled time', () => {
  it('deleted posts are gone in every case', async () => {
    for (const racer of raced.deleted) {
      expect(racer.status).toBe(200)
      expect(await stored(racer)).toBeNull()
    }
  })

  it('a deleted post is published at most once, only if claimed before the response, and its owner is notified', async () => {
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

describe('posts edited around their scheduled time', () => {
  it('edits are answered 200 or 409, and both occur', () => {
    expect(new Set(raced.edited.map(({ status }) => status))).toEqual(new Set([200, 409]))
  })

  it('an edited post is published once with the acknowledged text', async () => {
    for (const racer of raced.edited) {
      await expectPublished(racer, racer.status === 200 ? `${racer.text} edited` : racer.text, racer.dueAt)
    }
  })
})

describe('posts postponed around their scheduled time', () => {
  it('a postponed post is published once, at the later time if that was acknowledged', async () => {
    // On a busy machine a request may be handled after its new time, and is refused then.
    const isOver = ({ status, answeredAt, dueAt }: Raced) => status === 400 && answeredAt.getTime() > delayedTo(dueAt)
    const inTime = raced.delayed.filter((racer) => !isOver(racer))
    expect(new Set(inTime.map(({ status }) => status))).toEqual(new Set([200, 409]))
    for (const racer of raced.delayed) {
      await expectPublished(racer, racer.text, racer.status === 200 ? new Date(delayedTo(racer.dueAt)) : racer.dueAt)
    }
  })
})

describe('armed posts that are moved and edited', () => {
  it.each(['later', 'earlier', 'now'] as const)(
    'armed posts moved %s are published once with the new text, never early',
    async (where) => {
      const racers = raced.moved.filter((racer) => racer.where === where)
      expect(racers).toHaveLength(10)
      for (const racer of racers) {
        expect(racer.status).toBe(200)
        await expectPublished(racer, `${racer.text} moved`, racer.movedTo)
      }
      // Posts moved forward do not wait for their old time; on a busy machine it may pass first.
      const first = Math.min(
        ...racers.map((racer) => Date.parse(recordsOf(racer)[0]!.createdAt) - racer.dueAt.getTime()),
      )
      if (where !== 'later') expect(first).toBeLessThan(0)
    },
  )
})

describe('two posts with the same text at the same time', () => {
  it('two posts with equal text are two records, each linked to its own post', async () => {
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

it('no publishing call was made for a missing post', async () => {
  const calls = (await Promise.all(users.map((user) => world.callsOf(user, 'putRecord')))).flat()
  const there = new Set(ledger.map(({ text }) => text))
  expect(calls.length).toBeGreaterThanOrEqual(ledger.length)
  expect(calls.filter(({ text }) => !there.has(text!))).toEqual([])
})

it('the delivery invariants hold after races at the scheduled time', async () => {
  expect(await world.verdict()).toEqual([])
})

/** Counts the success notifications of each post. */
async function successesOf(racers: Racer[]): Promise<number[]> {
  const notifications = (
    await Promise.all(users.map(({ userId }) => world.context.notifications.listOf(userId, 1_000)))
  ).flat()
  return racers.map(
    ({ postId }) =>
      notifications.filter(({ reference, message }) => reference?.id === postId && message.startsWith('Successfully'))
        .length,
  )
}
