import Fastify from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { createConcurrencyLimit } from '../../../../src/api/plugins/concurrency-limit.ts'
import { deadlines } from '../../../../src/api/plugins/deadlines.ts'

/** A server whose requests take a slot and hold it until the test calls `end`. `started` has their keys in the order of their starts. */
async function startServer(waitMs: number, holdMs?: number) {
  const app = Fastify()
  const limit = createConcurrencyLimit({
    perProcess: 1,
    busyMessage: 'One at a time.',
    waitMs,
    ...(holdMs && { holdMs }),
  })
  const started: string[] = []
  const ends = new Map<string, () => void>()
  let onStart = Promise.withResolvers<void>()
  await app.register(deadlines)
  app.get<{ Querystring: { key: string } }>(
    '/',
    { onRequest: async (request, reply) => limit.enter(reply, request.query.key) },
    async ({ query: { key } }) => {
      started.push(key)
      onStart.resolve()
      onStart = Promise.withResolvers()
      await new Promise<void>((resolve) => ends.set(key, resolve))
      return 'done'
    },
  )
  return {
    app,
    started,
    /** Sends a request; the result has its status and error message. */
    async ask(key: string) {
      const answer = await app.inject({ url: '/', query: { key } })
      return [answer.statusCode, answer.statusCode === 200 ? answer.body : answer.json().message]
    },
    untilNextStart: () => onStart.promise,
    end: (key: string) => ends.get(key)!(),
  }
}

let server: Awaited<ReturnType<typeof startServer>>
afterEach(() => server.app.close())

describe('the concurrency limit', () => {
  it('requests of other users wait for a slot, and one of the same user is rejected', async () => {
    server = await startServer(60_000)
    const { ask, end, started, untilNextStart } = server
    const isStarted = untilNextStart()
    const first = ask('ann')
    await isStarted
    const second = ask('bob')
    expect(await ask('ann')).toEqual([429, 'One at a time.'])
    expect(started).toEqual(['ann'])
    const isNext = untilNextStart()
    end('ann')
    expect(await first).toEqual([200, 'done'])
    await isNext
    expect(started).toEqual(['ann', 'bob'])
    end('bob')
    expect(await second).toEqual([200, 'done'])
  })

  it('a request is rejected when no slot becomes free in time, and leaves no trace', async () => {
    server = await startServer(1)
    const { ask, end, untilNextStart } = server
    const isStarted = untilNextStart()
    const first = ask('ann')
    await isStarted
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(await ask('bob')).toEqual([
        429,
        'Too many requests of this kind are in progress. Try again in a few seconds.',
      ])
    }
    end('ann')
    expect(await first).toEqual([200, 'done'])
    const isNext = untilNextStart()
    const second = ask('bob')
    await isNext
    end('bob')
    expect(await second).toEqual([200, 'done'])
  })
  it('a slow client loses its connection, and the slot goes to the next one', async () => {
    server = await startServer(60_000, 500)
    const { app, ask, end, untilNextStart } = server
    const isStarted = untilNextStart()
    const address = await app.listen()
    const slow = fetch(`${address}/?key=ann`)
    await isStarted
    const isNext = untilNextStart()
    const next = ask('bob')
    await expect(slow).rejects.toThrow('fetch failed')
    await isNext
    end('bob')
    expect(await next).toEqual([200, 'done'])
  })
})
