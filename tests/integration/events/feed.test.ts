import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deletePost } from '../../../src/commands/posts/delete-post.ts'
import { appendEvents } from '../../../src/commands/events/append-events.ts'
import { createEventRelay } from '../../../src/commands/events/relay-events.ts'
import { changePlan } from '../../../src/commands/billing/change-plan.ts'
import { CLI_ACTOR } from '../../../src/domain/users/audit.ts'
import { deliveryAccepted } from '../../../src/domain/events/post-events.ts'
import type { EventJson } from '../../../src/domain/events/events.ts'
import { accept } from '../../../src/domain/posts/delivery-moves.ts'
import type { Post } from '../../../src/domain/posts/post.ts'
import { DAY } from '../../../src/domain/shared/times.ts'
import { createEventStore } from '../../../src/store/events/events.ts'
import { createPostStore } from '../../../src/store/posts/posts.ts'
import { openDatabase } from '../../../src/store/shared/database.ts'
import { newId } from '../../../src/store/shared/schema.ts'
import { createTestKey } from '../../support/api-keys.ts'
import { createAccount, signIn, type SignedIn } from '../../support/api.ts'
import { accountIdOf, connectAccounts, disconnectDefault } from '../../support/published.ts'
import { isScan, type PlanFact } from '../../support/query-plans.ts'
import { buildClaim, buildPost } from '../../support/posts.ts'
import { eventsWorld, type EventsWorld } from './world.ts'

let world: EventsWorld
beforeAll(async () => {
  world = await eventsWorld()
})
afterAll(() => world?.close())

const context = () => world.first.context
const records = () => context().database.connection.collection<{ _id: string }>('events')
const stored = () => context().database.connection.collection<{ _id: string; pendingEvents?: unknown[] }>('posts')
const typesOf = (events: EventJson[]) => events.map(({ type }) => type)
const sequencesOf = (events: EventJson[]) => events.map(({ sequence }) => sequence)
const oneTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const PUBLISHED = { platformPostId: 'at://one', platformPostUrl: 'https://bsky.test/one' }

/** Stores events that are about nothing. */
const append = (who: SignedIn, count: number, prefix: string = newId()) =>
  appendEvents(
    context(),
    who.user._id,
    oneTo(count).map((nth) => ({
      ...{
        id: `evt_${prefix}-${nth}`,
        type: nth % 2 ? 'post.created' : 'post.deleted',
        occurredAt: new Date(),
        data: {},
      },
    })) as Parameters<typeof appendEvents>[2],
  )
const expire = (who: SignedIn, upTo: number) =>
  records().updateMany({ userId: who.user._id, sequence: { $gt: 0, $lte: upTo } }, { $set: { expiresAt: new Date(0) } })

/** Stores a published post in a process that ends before it relays anything. */
async function publishUnrelayed(who: SignedIn): Promise<Post> {
  const database = await openDatabase(context().config.MONGODB_URL)
  const posts = createPostStore(database.connection, () => new Date())
  const post = buildPost({ userId: who.user._id }, new Date())
  await database.transaction((session) => posts.insert([post], session))
  await posts.transition(post, buildClaim(post, 'bluesky', new Date()))
  const published = await posts.transition(
    post,
    accept('bluesky', { ...PUBLISHED, platformPostId: `at://${post._id}` }),
  )
  await database.close()
  return published
}

const notifiedOf = async ({ user }: SignedIn) =>
  (await context().notifications.listOf(user._id, 10)).map(({ dedupeKey }) => dedupeKey)

describe('events of posts', () => {
  it('a post has an event for each change, in the order of the changes', async () => {
    const who = await signIn(context())
    const postId = await world.createPost(who)
    await world.call(who, 'PATCH', `/api/posts/${postId}`, { scheduledAt: '2090-05-02T09:30:00Z' })
    await world.call(who, 'POST', `/api/posts/${postId}/cancel`)
    await world.call(who, 'DELETE', `/api/posts/${postId}`)
    const response = await world.read(who)
    expect(response.statusCode).toBe(200)
    const { events, ...page } = response.json().data
    expect(events.map(({ sequence, type, data }: EventJson) => [sequence, type, data['scheduledAt']])).toEqual([
      [1, 'post.created', '2090-05-01T09:30:00.000Z'],
      [2, 'post.scheduled', '2090-05-01T09:30:00.000Z'],
      [3, 'post.scheduled', '2090-05-02T09:30:00.000Z'],
      [4, 'post.cancelled', '2090-05-02T09:30:00.000Z'],
      [5, 'post.deleted', '2090-05-02T09:30:00.000Z'],
    ])
    expect(page).toEqual({ nextAfter: 5, hasMore: false, oldest: 1, latest: 5 })
    expect(events[0]).toEqual({
      id: `evt_${postId}-0-0`,
      sequence: 1,
      type: 'post.created',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: {
        postId,
        status: 'SCHEDULED',
        scheduledAt: '2090-05-01T09:30:00.000Z',
        deliveries: [{ platform: 'bluesky', accountId: null, accountName: null }],
      },
    })
    expect(response.body).not.toContain('Good morning')
  })

  it('a claim and an acceptance by another process reach the feed as well', async () => {
    const who = await signIn(context())
    const post = buildPost({ userId: who.user._id }, new Date())
    await context().storePost(post)
    const { posts } = world.second.context
    await posts.transition(post, buildClaim(post, 'bluesky', new Date()))
    await posts.transition(post, accept('bluesky', PUBLISHED))
    expect(typesOf(await world.feedOf(who))).toEqual(['post.created', 'delivery.accepted', 'post.published'])
    expect((await stored().findOne({ _id: post._id }))?.pendingEvents).toEqual([])
  })

  it('a duplicate of a cancelled post is a new post', async () => {
    const who = await signIn(context())
    const postId = await world.createPost(who)
    await world.call(who, 'POST', `/api/posts/${postId}/cancel`)
    const duplicate = await world.call(who, 'POST', `/api/posts/${postId}/duplicate`)
    expect(duplicate.statusCode).toBe(201)
    const [last] = (await world.feedOf(who)).slice(-1)
    expect(last).toMatchObject({ type: 'post.created', data: { status: 'DRAFT' } })
    expect(last!.data['postId']).not.toBe(postId)
  })

  it('concurrent posts of one user over two processes get sequences without gaps', async () => {
    const who = await signIn(context())
    const creating = oneTo(40).map((nth) => world.createPost(who, {}, nth % 2 ? world.first : world.second))
    const ids = await Promise.all(creating)
    const deleted = await Promise.all(ids.slice(0, 20).map((id) => world.call(who, 'DELETE', `/api/posts/${id}`)))
    expect(new Set(deleted.map(({ statusCode }) => statusCode))).toEqual(new Set([200]))
    const feed = await world.feedOf(who)
    expect(sequencesOf(feed)).toEqual(oneTo(100))
    expect(new Set(feed.map(({ id }) => id)).size).toBe(100)
    for (const postId of ids) {
      const own = typesOf(feed.filter(({ data }) => data['postId'] === postId))
      const expected = ['post.created', 'post.scheduled', 'post.deleted']
      expect(own).toEqual(ids.indexOf(postId) < 20 ? expected : expected.slice(0, 2))
    }
  })

  it('events that a killed process left are relayed once, whichever sweepers find them', async () => {
    const who = await signIn(context())
    const posts = oneTo(3).map(() => buildPost({ userId: who.user._id }, new Date()))
    await context().database.transaction((session) => context().posts.insert(posts, session))
    const [soon, limit] = [new Date(Date.now() + 1_000), 1_000]
    expect(await context().eventRelay.relayLeftOver(new Date(Date.now() - DAY), limit)).toBe(0)
    await Promise.all([world.first, world.second].map((one) => one.context.eventRelay.relayLeftOver(soon, limit)))
    expect(typesOf(await world.feedOf(who))).toEqual(['post.created', 'post.created', 'post.created'])
    expect(await context().eventRelay.relayLeftOver(soon, limit)).toBe(0)
  })

  it('a relay that ended before it removed what it appended is repeated without effect', async () => {
    const who = await signIn(context())
    const { posts } = context()
    const dying = { ...posts, removePendingEvents: () => Promise.reject(new Error('killed')) }
    const relay = createEventRelay({ ...context(), posts: dying })
    const post = await publishUnrelayed(who)
    for (let time = 1; time <= 2; time++) {
      relay.add([post])
      await relay.idle()
      expect(typesOf(await world.feedOf(who))).toEqual(['post.created', 'delivery.accepted', 'post.published'])
      expect(await notifiedOf(who)).toEqual([`post-published:${post._id}:bluesky`])
    }
    await context().eventRelay.relayLeftOver(new Date(Date.now() + 1_000), 1_000)
    expect(sequencesOf(await world.feedOf(who))).toEqual([1, 2, 3])
    expect((await stored().findOne({ _id: post._id }))?.pendingEvents).toEqual([])
  })

  it('a user with many changed posts does not delay the events of another', async () => {
    const [many, one] = [await signIn(context()), await signIn(context())]
    const post = buildPost({ userId: one.user._id }, new Date())
    const { database, posts } = context()
    await database.transaction((session) => posts.insert([post], session))
    const batches: (readonly { _id: string }[])[] = []
    const observed: typeof posts = {
      ...posts,
      listPendingEvents(batch) {
        batches.push(batch)
        return posts.listPendingEvents(batch)
      },
    }
    const relay = createEventRelay({ ...context(), posts: observed })
    const changed = oneTo(3_000).map(() => ({ _id: newId(), userId: many.user._id }))
    relay.add(changed)
    relay.add([post])
    await relay.idle()
    expect(batches[0]!.map(({ _id }) => _id)).toContain(post._id)
    expect(typesOf(await world.feedOf(one))).toEqual(['post.created'])
    // The sweeper relays what exceeds a user's share of the queue.
    expect(new Set(batches.flat()).size).toBe(2_001)
  })

  it('a deletion stores the events and notifications that were not relayed before it', async () => {
    const who = await signIn(context())
    const post = await publishUnrelayed(who)
    await world.call(who, 'DELETE', `/api/posts/${post._id}`)
    const published = ['post.created', 'delivery.accepted', 'post.published']
    expect(typesOf(await world.feedOf(who))).toEqual([...published, 'post.deleted'])
    expect(await notifiedOf(who)).toEqual([`post-published:${post._id}:bluesky`])
  })

  it('a process that ends right after it deleted a post has stored its notifications', async () => {
    const who = await signIn(context())
    const post = await publishUnrelayed(who)
    const { transaction } = context().database
    const database = {
      ...context().database,
      async transaction<T>(work: Parameters<typeof transaction<T>>[0]): Promise<T> {
        await transaction(work)
        throw new Error('killed')
      },
    }
    await expect(deletePost({ ...context(), database }, who.user._id, post._id)).rejects.toThrow('killed')
    expect(await context().posts.find(post._id)).toBeNull()
    expect(await notifiedOf(who)).toEqual([`post-published:${post._id}:bluesky`])
  })

  it('the acceptance of a deleted post is stored once', async () => {
    const who = await signIn(context())
    const post = buildPost({ userId: who.user._id }, new Date())
    const accepted = deliveryAccepted(post, { ...post.platformStatuses[0]!, ...PUBLISHED }, new Date())
    await Promise.all([1, 2].map(() => appendEvents(context(), who.user._id, [accepted])))
    await appendEvents(world.second.context, who.user._id, [accepted])
    expect(sequencesOf(await world.feedOf(who))).toEqual([1])
  })

  it('the search of the sweeper reads only posts with pending events', async () => {
    const who = await signIn(context())
    const posts = oneTo(2).map(() => buildPost({ userId: who.user._id }, new Date()))
    await context().database.transaction((session) => context().posts.insert(posts, session))
    const plan = await stored()
      .find({ 'pendingEvents.occurredAt': { $lte: new Date(Date.now() + 1_000) } } as object)
      .sort({ 'pendingEvents.occurredAt': 1 })
      .explain('executionStats')
    const facts: PlanFact[] = []
    JSON.stringify(plan, (name, value: unknown) => (facts.push([name, value]), value))
    expect(facts.filter(isScan)).toEqual([])
    expect(facts.find(([name]) => name === 'totalDocsExamined')?.[1]).toBe(2)
    await context().eventRelay.relayLeftOver(new Date(Date.now() + 1_000), 1_000)
  })
})

describe('events of accounts, plans and metrics', () => {
  it('connecting and disconnecting an account are events', async () => {
    const who = await signIn(context())
    await connectAccounts(context(), who.user._id, ['bluesky'])
    await disconnectDefault(context().accounts, who.user._id, 'bluesky')
    const feed = await world.feedOf(who)
    expect(typesOf(feed)).toEqual(['account.connected', 'account.disconnected'])
    expect(feed[0]!.data).toMatchObject({ platform: 'bluesky', accountId: expect.any(String) })
    expect(feed[1]!.data).toEqual(feed[0]!.data)
    expect(JSON.stringify(feed)).not.toContain('token')
  })

  it('a refused login is an event, once', async () => {
    const who = await signIn(context())
    const { user } = who
    await connectAccounts(context(), user._id, ['mastodon'])
    const { version } = (await context().accounts.findDefault(user._id, 'mastodon'))!
    const used = { version } as Parameters<ReturnType<typeof context>['credentials']['markExpired']>[2]
    const mark = () =>
      context().credentials.markExpired(user._id, 'mastodon', used, { message: 'Refused', platformReason: null })
    expect([await mark(), await mark()]).toEqual([true, false])
    expect(typesOf(await world.feedOf(who))).toEqual(['account.connected', 'account.expired'])
  })

  it('a plan that changes is an event, one that stays is none', async () => {
    const who = await signIn(context())
    const actor = { ...CLI_ACTOR, id: (await createAccount(context(), { role: 'admin' }))._id }
    await changePlan(context(), actor, who.user._id, 'pro')
    await changePlan(context(), actor, who.user._id, 'pro')
    expect(await world.feedOf(who)).toMatchObject([
      { type: 'plan.changed', data: { plan: 'pro', previousPlan: who.user.subscription.plan } },
    ])
  })

  it('metrics are an event once a day, over all processes', async () => {
    const who = await signIn(context())
    const userId = who.user._id
    const today = new Date()
    const save = ({ context: { snapshotWriter } }: EventsWorld['first'] | EventsWorld['second'], takenAt: Date) =>
      snapshotWriter.saveFollowers({
        ...{ userId, platform: 'bluesky', takenAt, slot: takenAt, followerCount: 1 },
        accountId: accountIdOf('bluesky', userId),
      } as unknown as Parameters<typeof snapshotWriter.saveFollowers>[0])
    await save(world.first, today)
    await save(world.first, today)
    await save(world.second, today)
    await save(world.second, new Date(today.getTime() + DAY))
    expect(typesOf(await world.feedOf(who))).toEqual(['analytics.collected', 'analytics.collected'])
  })
})

describe('reading the feed', () => {
  it('pages continue where the last one ended', async () => {
    const who = await signIn(context())
    await append(who, 5)
    const seen: number[] = []
    for (let after = 0, hasMore = true; hasMore;) {
      const { data } = (await world.read(who, `?after=${after}&limit=2`)).json()
      seen.push(...sequencesOf(data.events))
      ;({ nextAfter: after, hasMore } = data)
    }
    expect(seen).toEqual([1, 2, 3, 4, 5])
    expect((await world.read(who, '?after=5')).json().data).toMatchObject({ events: [], nextAfter: 5, hasMore: false })
  })

  it('a page of some types moves on past the others', async () => {
    const who = await signIn(context())
    await append(who, 5)
    const { data } = (await world.read(who, '?types=post.deleted,plan.changed&limit=1')).json()
    expect(data).toMatchObject({ events: [{ sequence: 2 }], nextAfter: 2, hasMore: true })
    const rest = (await world.read(who, '?types=post.deleted&after=4')).json().data
    expect(rest).toMatchObject({ events: [], nextAfter: 5, hasMore: false })
  })

  it('a user without events has an empty feed, and no user sees the events of another', async () => {
    const [who, other] = [await signIn(context()), await signIn(context())]
    await append(other, 1)
    const empty = { events: [], nextAfter: 0, hasMore: false, oldest: 1, latest: 0 }
    expect((await world.read(who)).json().data).toEqual(empty)
  })

  it('a reader that has missed removed events gets an error, any other reader does not', async () => {
    const who = await signIn(context())
    await append(who, 4)
    await expire(who, 2)
    const missed = await world.read(who, '?after=1')
    expect(missed.statusCode).toBe(410)
    expect(missed.json()).toMatchObject({ code: 'EVENTS_EXPIRED', oldest: 3, latest: 4 })
    expect(sequencesOf((await world.read(who, '?after=2')).json().data.events)).toEqual([3, 4])
    expect((await world.read(who)).json().data).toMatchObject({ events: [{ sequence: 3 }, { sequence: 4 }], oldest: 3 })
    await expire(who, 4)
    expect((await world.read(who, '?after=3')).statusCode).toBe(410)
    expect((await world.read(who, '?after=4')).json().data).toMatchObject({ events: [], oldest: 5, latest: 4 })
    expect((await world.read(who)).json().data).toMatchObject({ events: [], nextAfter: 4, hasMore: false })
  })

  it('events expire in their order, also when the retention becomes shorter', async () => {
    const who = await signIn(context())
    for (const [nth, days] of [90, 30, 120].entries()) {
      const database = await openDatabase(context().config.MONGODB_URL)
      const store = createEventStore(database.connection, () => new Date(), { retentionMs: days * DAY })
      const event = {
        id: `evt_${who.user._id}-${nth}`,
        type: 'post.created' as const,
        occurredAt: new Date(),
        data: {},
      }
      await database.transaction((session) => store.append(who.user._id, [event], session))
      await database.close()
    }
    const times = await records()
      .find({ userId: who.user._id, sequence: { $gt: 0 } })
      .sort({ sequence: 1 })
      .toArray()
    const [first, second, third] = times.map((one) => (one as unknown as { expiresAt: Date }).expiresAt.getTime())
    expect(second).toBe(first)
    expect(third).toBeGreaterThan(second!)
  })

  it('an unknown type or a sequence that is no number is refused', async () => {
    const who = await signIn(context())
    for (const query of ['?types=post.exploded', '?types=', '?after=-1', '?after=x', '?limit=0']) {
      expect((await world.read(who, query)).statusCode, query).toBe(400)
    }
  })

  it('a key needs the scope events:read', async () => {
    const who = await signIn(context())
    const key = await createTestKey(context(), who, { scopes: ['events:read'] })
    expect((await world.read(key)).statusCode).toBe(200)
    const other = await createTestKey(context(), who, { scopes: ['posts:publish'] })
    expect((await world.read(other)).json()).toMatchObject({ code: 'INSUFFICIENT_SCOPE', scope: 'events:read' })
  })

  it('an export contains the events', async () => {
    const who = await signIn(context())
    await append(who, 2)
    const { data } = (await world.call(who, 'GET', '/api/profile/export')).json()
    expect(data.events).toEqual((await world.read(who)).json().data.events)
  })
})
