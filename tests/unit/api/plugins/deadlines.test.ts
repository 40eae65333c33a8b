import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import Fastify from 'fastify'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { deadlines } from '../../../../src/api/plugins/deadlines.ts'
import { MINUTE, SECOND } from '../../../../src/domain/shared/times.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** Starts a request for a stream that the test writes. */
async function request() {
  const source = new PassThrough()
  const arrived = Promise.withResolvers<AbortSignal>()
  const app = Fastify()
  await app.register(deadlines)
  app.get('/', async (request, reply) => {
    arrived.resolve(request.deadline)
    return reply.send(source)
  })
  const response = app.inject({ url: '/', payloadAsStream: true })
  return { source, deadline: await arrived.promise, response }
}

it('a response that has begun may take minutes', async () => {
  const { source, deadline, response } = await request()
  source.write('first ')
  const body = (await response).stream()
  await once(body, 'readable')
  await vi.advanceTimersByTimeAsync(10 * MINUTE)
  expect(deadline.aborted).toBe(false)
  source.end('last')
  expect(Buffer.concat(await Array.fromAsync(body)).toString()).toBe('first last')
})

it('a response that has not begun is a 503 after its deadline, and its work is aborted', async () => {
  const { deadline, response } = await request()
  await vi.advanceTimersByTimeAsync(6 * SECOND)
  expect((await response).statusCode).toBe(503)
  expect(deadline.aborted).toBe(true)
})
