import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  accept,
  claim,
  defer,
  giveUp,
  markAbsent,
  markUnknown,
  refuse,
  saveCheckpoint,
} from '../../../src/domain/posts/delivery-moves.ts'
import { failure } from '../../../src/domain/posts/failure.ts'
import { cancel, edit, retry } from '../../../src/domain/posts/post-moves.ts'
import type { Move } from '../../../src/domain/posts/post.ts'
import { createPostStore, type PostStore } from '../../../src/store/posts/posts.ts'
import { openDatabase, type Database } from '../../../src/store/shared/database.ts'
import { newId } from '../../../src/store/shared/schema.ts'
import { connectMemory } from '../../simulation/memory-database.ts'
import { after, buildPost, T0 } from '../../support/posts.ts'
import { testConfig } from '../../support/servers.ts'

/** Two connections to each database act as two processes. */
const PROCESSES = 2
const POSTS = 3
const PLATFORMS = ['bluesky', 'mastodon'] as const
const FAILED = failure('transient', 'later')

let now = T0
const databases: Record<'memory' | 'mongodb', Database[]> = { memory: [], mongodb: [] }
const stores: Record<'memory' | 'mongodb', PostStore[]> = { memory: [], mongodb: [] }

beforeAll(async () => {
  const { MONGODB_URL } = testConfig()
  const storage = new Map()
  for (let index = 0; index < PROCESSES; index++) {
    databases.memory.push(connectMemory(storage))
    databases.mongodb.push(await openDatabase(MONGODB_URL))
  }
  for (const name of ['memory', 'mongodb'] as const) {
    stores[name] = databases[name].map(({ connection }) => createPostStore(connection, () => now))
    await databases[name][0]!.createSchema()
  }
})
afterAll(() => Promise.all(databases.mongodb.map((database) => database.close())))

const numbers = fc.record({
  process: fc.nat(PROCESSES - 1),
  post: fc.nat(POSTS - 1),
  platform: fc.constantFrom(...PLATFORMS),
  round: fc.nat(1),
  attempt: fc.nat(2),
  /** Whether a move begins with the post as this process saw it last, which another process may have changed. */
  isKnown: fc.boolean(),
  /** Seconds that pass before the step. */
  wait: fc.constantFrom(0, 1, 9, 40, 400),
})
type Numbers = typeof numbers extends fc.Arbitrary<infer T> ? T : never

const MOVES: Record<string, (step: Numbers) => Move> = {
  claim: ({ platform, round }) =>
    claim(platform, {
      round,
      leaseUntil: after(now, 10_000),
      accountId: 'a',
      contentVersion: 0,
    }),
  accept: ({ platform, attempt }) => accept(platform, { platformPostId: `id-${attempt}`, platformPostUrl: 'url' }),
  refuse: ({ platform, round, attempt }) => refuse(platform, FAILED, { round, attempt }),
  defer: ({ platform, round, attempt }) =>
    defer(platform, FAILED, { round, attempt }, { at: after(now, 1_000), countsAsTry: true }),
  markUnknown: ({ platform, round, attempt }) => markUnknown(platform, FAILED, { round, attempt }),
  markAbsent: ({ platform, round, attempt }) => markAbsent(platform, { round, attempt }),
  giveUp: ({ platform, round }) => giveUp(platform, FAILED, round),
  saveCheckpoint: ({ platform, round, attempt }) =>
    saveCheckpoint(platform, { round, attempt, accountId: 'a', contentVersion: 0, name: 'draft', value: `${attempt}` }),
  cancel: () => cancel(),
  edit: ({ attempt }) => edit({ content: { text: `Text ${attempt}`, mediaItems: [] } }),
  postpone: ({ attempt }) => edit({ scheduledAt: after(now, attempt * 20_000) }),
  retry: () => retry(),
}

const bounds = () => ({ overdueBefore: after(now, -30_000), stalledBefore: after(now, -300_000), now, limit: 1_000 })

/** The other functions of the store that deliveries call. */
const READS: Record<string, (store: PostStore, ids: { postId: string; userId: string }) => Promise<unknown>> = {
  find: (store, { postId, userId }) => store.find(postId, userId),
  acknowledgeStart: async (store, { postId }) => {
    const post = await store.find(postId)
    return post && store.acknowledgeStart(post)
  },
  readTimeline: (store, { postId, userId }) => store.readTimeline(userId, postId),
  invalidatePrepared: (store, { userId }) => store.invalidatePrepared(userId),
  leasedUntil: (store, { userId }) => store.leasedUntil(userId),
  countScheduledOf: (store, { userId }) => store.countScheduledOf(userId, after(T0, 30_000)),
  findArmedFields: async (store, { postId, userId }) => [...(await store.findArmedFields([{ _id: postId, userId }]))],
  listPendingEvents: async (store, { postId, userId }) =>
    (await store.listPendingEvents([{ _id: postId, userId }])).length,
  remove: async (store, { postId, userId }) => (await store.remove(userId, postId))?.post,
  listStranded: async (store) => (await store.listStranded(bounds())).map(({ _id }) => _id),
}

const step = fc.record({ ...{ numbers }, does: fc.constantFrom(...Object.keys(MOVES), ...Object.keys(READS)) })

/** Returns what a step gives: the result, or the name of its error. Random ids of events are left out. */
async function give(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    (result) => result ?? null,
    (error: Error) => `${error.name}: ${error.message}`,
  )
}

it(
  'the database in memory and MongoDB give the same results for any sequence of moves',
  { timeout: 300_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
        now = T0
        const userId = newId()
        const posts = Array.from({ length: POSTS }, (_, index) =>
          buildPost({
            userId,
            selectedPlatforms: [...PLATFORMS],
            scheduledAt: index === 0 ? null : after(T0, index * 30_000),
          }),
        )
        const own = new Set(posts.map(({ _id }) => _id))
        for (const name of ['memory', 'mongodb'] as const) {
          await databases[name][0]!.transaction((session) => stores[name][0]!.insert(posts, session))
        }
        for (const { numbers: chosen, does } of steps) {
          now = after(now, chosen.wait * 1_000)
          const post = posts[chosen.post]!
          const ids = { postId: post._id, userId }
          const [inMemory, inMongo] = await Promise.all(
            (['memory', 'mongodb'] as const).map((name) => {
              const store = stores[name][chosen.process]!
              const move = MOVES[does]
              return give(
                move ? store.transition(post, move(chosen), { isKnown: chosen.isKnown }) : READS[does]!(store, ids),
              )
            }),
          )
          const mine = (result: unknown) =>
            does === 'listStranded' ? (result as string[]).filter((id) => own.has(id)) : result
          expect(mine(inMemory), does).toEqual(mine(inMongo))
        }
        for (const name of ['memory', 'mongodb'] as const) await stores[name][0]!.removeSome(userId, [...own])
        for (const name of ['memory', 'mongodb'] as const) await stores[name][0]!.removePlatformPosts(userId)
      }),
      { numRuns: 60 },
    )
  },
)
