import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { deleteApiKey } from '../../../src/commands/users/delete-api-key.ts'
import { appendEvents } from '../../../src/commands/events/append-events.ts'
import { logOutDevice } from '../../../src/commands/users/log-out.ts'
import type { EventJson, EventType } from '../../../src/domain/events/events.ts'
import { newId } from '../../../src/store/shared/schema.ts'
import { createTestKey, getSessionId } from '../../support/api-keys.ts'
import { signIn, type ApiWorld, type SignedIn } from '../../support/api.ts'
import { readCommands, runCommands } from '../../support/documented-commands.ts'
import { openEventStream } from '../../support/event-stream.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { eventsWorld, type EventsWorld } from './world.ts'

let world: EventsWorld
beforeAll(async () => {
  world = await eventsWorld()
})
afterAll(() => world?.close())

const opened: Awaited<ReturnType<typeof openEventStream>>[] = []
afterEach(() => opened.splice(0).forEach(({ close }) => close()))

const context = () => world.first.context
const oneTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** Opens a stream at one of the two processes. */
async function follow(
  who: Pick<SignedIn, 'headers'>,
  { process = 0, query = '', lastEventId }: { process?: number; query?: string; lastEventId?: string } = {},
) {
  const headers = { ...who.headers, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) }
  const stream = await openEventStream(`${world.addresses[process % 2]}/api/events/stream${query}`, headers)
  opened.push(stream)
  return stream
}

async function append(who: SignedIn, types: EventType[], { context }: ApiWorld = world.first) {
  const added = types.map((type) => ({ id: `evt_${newId()}`, type, occurredAt: new Date(), data: {} }))
  await appendEvents(context, who.user._id, added)
}

const setDisabled = (who: SignedIn) =>
  context()
    .database.connection.collection<{ _id: string }>('users')
    .updateOne({ _id: who.user._id }, { $set: { isDisabled: true } })

describe('following the feed', () => {
  it('a stream sends what is stored and then what happens, in the form of the feed', async () => {
    const who = await signIn(context())
    await append(who, ['post.created', 'post.failed'])
    const stream = await follow(who, { query: '?after=1' })
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const { events } = (await world.read(who)).json().data as { events: EventJson[] }
    expect(await stream.next()).toEqual({ id: '2', type: 'post.failed', data: events[1] })
    await append(who, ['post.deleted'], world.second)
    expect(await stream.next()).toMatchObject({ id: '3', type: 'post.deleted', data: { sequence: 3 } })
  })

  it('a stream without a sequence begins with the next event', async () => {
    const who = await signIn(context())
    await append(who, ['post.created'])
    const stream = await follow(who)
    await append(who, ['post.deleted'])
    expect(await stream.next()).toMatchObject({ id: '2' })
  })

  it('a stream of some types leaves out the others', async () => {
    const who = await signIn(context())
    const stream = await follow(who, { query: '?types=post.failed' })
    await append(who, ['post.created', 'post.failed'])
    expect(await stream.next()).toMatchObject({ id: '2', type: 'post.failed' })
  })

  it('a client that connects again and again, to either process, gets each event exactly once', async () => {
    const who = await signIn(context())
    const count = 60
    const writing = (async () => {
      for (const nth of oneTo(count / 3)) {
        await append(who, ['post.created', 'post.failed', 'post.deleted'], nth % 2 ? world.first : world.second)
      }
    })()
    const received: string[] = []
    for (let process = 0; received.length < count; process += 1) {
      const stream = await follow(who, { process, lastEventId: received.at(-1) ?? '0' })
      for (let taken = 0; taken < 7 && received.length < count; taken += 1) received.push((await stream.next())!.id)
      stream.close()
    }
    await writing
    expect(received).toEqual(oneTo(count).map(String))
  })

  it('a client that has missed removed events gets an error', async () => {
    const who = await signIn(context())
    await append(who, ['post.created', 'post.failed', 'post.deleted'])
    await context()
      .database.connection.collection('events')
      .updateMany({ userId: who.user._id, sequence: { $in: [1, 2] } }, { $set: { expiresAt: new Date(0) } })
    const missed = await follow(who, { lastEventId: '1' })
    expect(missed.status).toBe(410)
    expect(await missed.response.json()).toMatchObject({ code: 'EVENTS_EXPIRED', oldest: 3 })
    expect(await (await follow(who, { lastEventId: '2' })).next()).toMatchObject({ id: '3' })
  })

  it('events of another user do not appear', async () => {
    const [who, other] = [await signIn(context()), await signIn(context())]
    const stream = await follow(who)
    await append(other, ['post.created'])
    await append(who, ['post.failed'])
    expect(await stream.next()).toMatchObject({ id: '1', type: 'post.failed' })
  })
})

describe('the end of a stream', () => {
  const UNAUTHORIZED = { type: 'end', data: { code: 'UNAUTHORIZED' } }

  it('a stream ends with its session', async () => {
    const who = await signIn(context())
    const [stream, other] = [await follow(who), await follow(who, { process: 1 })]
    await logOutDevice(context(), who.user._id, getSessionId(who))
    for (const one of [stream, other]) {
      expect(await one.next()).toMatchObject(UNAUTHORIZED)
      expect(await one.next()).toBeNull()
    }
  })

  it('a stream ends with its API key, and the streams of other keys go on', async () => {
    const who = await signIn(context())
    const [key, other] = [await createTestKey(context(), who), await createTestKey(context(), who)]
    const [stream, second] = [await follow(key), await follow(other, { process: 1 })]
    await deleteApiKey(context(), who.user._id, key.apiKey.keyId)
    expect(await stream.next()).toMatchObject(UNAUTHORIZED)
    expect(await stream.next()).toBeNull()
    await append(who, ['post.created'])
    expect(await second.next()).toMatchObject({ type: 'post.created' })
  })

  it('a stream ends when its user is disabled', async () => {
    const who = await signIn(context())
    const key = await createTestKey(context(), who)
    const [ofSession, ofKey] = [await follow(who), await follow(key)]
    await setDisabled(who)
    expect(await ofSession.next()).toMatchObject({ type: 'end', data: { code: 'ACCOUNT_DISABLED' } })
    expect(await ofKey.next()).toMatchObject(UNAUTHORIZED)
  })

  it('a user can have a limited number of streams, and each that is closed makes room', async () => {
    const who = await signIn(context())
    const limit = context().config.EVENT_STREAMS_PER_USER
    const streams = await Promise.all(oneTo(limit).map(() => follow(who)))
    expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200))
    const refused = await follow(who)
    expect(refused.status).toBe(429)
    expect(await refused.response.json()).toMatchObject({ code: 'RATE_LIMITED' })
    streams[0]!.close()
    await expect.poll(async () => (await follow(who)).status, { timeout: 50_000 }).toBe(200)
  })

  it('a key without the scope gets no stream', async () => {
    const who = await signIn(context())
    const key = await createTestKey(context(), who, { scopes: ['posts:read'] })
    expect((await follow(key)).status).toBe(403)
  })
})

it('the commands of the guide read and follow the feed', async () => {
  const who = await signIn(context())
  const { secret } = await createTestKey(context(), who, { scopes: ['events:read', 'posts:draft'] })
  const env = { API: world.addresses[0], KEY: secret }
  const folder = temporaryFolder()
  const commands = readCommands('guide/events.md', 'Read the feed')
  await world.createPost(who, { status: 'DRAFT', scheduledAt: null })
  await world.relayed()
  const page = JSON.parse(await runCommands(commands, env, folder))
  expect(page.data).toMatchObject({ events: [{ sequence: 1, type: 'post.created' }], nextAfter: 1, hasMore: false })
  const followed = await runCommands(readCommands('guide/events.md', 'Follow the feed'), env, folder)
  expect(followed).toContain('id: 1\nevent: post.created\ndata: {"id":"evt_')
})
