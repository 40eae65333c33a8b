import { once } from 'node:events'
import { Writable } from 'node:stream'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createEventStreams } from '../../../src/api/events/event-streams.ts'
import type { SharedChanges } from '../../../src/api/shared/shared-changes.ts'
import type { UserEvent } from '../../../src/domain/events/events.ts'
import { ServiceError } from '../../../src/domain/shared/service-error.ts'
import { SECOND } from '../../../src/domain/shared/times.ts'
import { partial } from '../../support/partial.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }))
afterEach(() => void vi.useRealTimers())

/** A feed with this many events, one of them odd, and streams on it. */
function testStreams(latest: number, reauthenticate = async (): Promise<unknown> => null, odd = 0) {
  const reads: number[] = []
  const toEvent = (sequence: number): UserEvent => {
    const occurredAt = sequence === odd ? (null as unknown as Date) : new Date(0)
    return { id: `evt_${sequence}`, userId: 'ann', sequence, type: 'post.created', occurredAt, data: {} }
  }
  type Deps = Parameters<typeof createEventStreams>[0]
  const events = {
    latestSequence: async () => latest,
    oldestSequence: async () => 1,
    async page(_userId: string, { after, limit }: { after: number; limit: number }) {
      reads.push(after)
      const until = Math.min(latest, after + limit)
      const found = Array.from({ length: until - after }, (_, index) => toEvent(after + index + 1))
      return { events: found, examinedTo: until, latest }
    },
  } as unknown as Deps['events']
  const holds = { open: 0 }
  let onChange: Parameters<SharedChanges['hold']>[0]['onChange'] = () => {}
  const changes = {
    hold(listener: Parameters<SharedChanges['hold']>[0]) {
      holds.open += 1
      onChange = listener.onChange
      return { opened: async () => {}, release: () => void (holds.open -= 1) }
    },
  } as unknown as SharedChanges
  const logger = { warn: () => {}, error: () => {} } as unknown as Deps['logger']
  const streams = createEventStreams(partial({ events, logger }), changes, { perProcess: 5, perUser: 2 })
  const user = { userId: 'ann', sessionId: 'session', apiKey: null }
  const open = async () => (await streams.open({ user, after: 0, types: undefined, reauthenticate })).readable
  const append = () => {
    latest += 1
    onChange({ kind: 'event', userId: 'ann' })
  }
  return { reads, holds, open, streams, append }
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

it('a client that reads nothing costs a few pages of memory, and is disconnected after a minute', async () => {
  const { reads, holds, open } = testStreams(1_000_000)
  const stream = await open()
  stream.pipe(new Writable({ highWaterMark: 1, write: () => {} }))
  for (let turn = 0; turn < 50; turn += 1) await settle()
  const before = reads.length
  expect(before).toBeLessThan(10)
  await vi.advanceTimersByTimeAsync(50 * SECOND)
  expect(stream.destroyed).toBe(false)
  await vi.advanceTimersByTimeAsync(20 * SECOND)
  expect(stream.destroyed).toBe(true)
  expect(reads).toHaveLength(before)
  await settle()
  expect(holds.open).toBe(0)
})

it('a silent stream sends comments, so that proxies keep it open', async () => {
  const { open } = testStreams(0)
  const stream = await open()
  const chunks: string[] = []
  stream.on('data', (chunk: string) => chunks.push(chunk))
  await settle()
  expect(chunks).toEqual([': open\n\n'])
  const next = once(stream, 'data')
  await vi.advanceTimersByTimeAsync(21 * SECOND)
  await next
  expect(chunks).toEqual([': open\n\n', ': alive\n\n'])
  stream.destroy()
})

it('an odd record does not hide the other events of a stream', async () => {
  const { open } = testStreams(3, undefined, 2)
  const stream = await open()
  let sent = ''
  stream.on('data', (chunk: string) => (sent += chunk))
  await vi.waitFor(() => expect(sent.match(/^id: \d/gm)).toEqual(['id: 1', 'id: 3']))
  stream.destroy()
})

it('events of one moment are one read', async () => {
  const { open, append, reads } = testStreams(0)
  const stream = await open()
  const chunks: string[] = []
  stream.on('data', (chunk: string) => chunks.push(chunk))
  await settle()
  const before = reads.length
  const next = once(stream, 'data')
  for (let turn = 0; turn < 5; turn += 1) {
    append()
    await settle()
  }
  await next
  expect(chunks.at(-1)!.match(/^id: /gm)).toHaveLength(5)
  expect(reads).toHaveLength(before + 1)
  stream.destroy()
})

it('the credentials of a stream are checked again, and it ends when they have ended', async () => {
  let hasEnded = false
  const { open } = testStreams(0, async () => {
    if (hasEnded) throw new ServiceError('UNAUTHORIZED', 'Unauthorized')
  })
  const stream = await open()
  const chunks: string[] = []
  stream.on('data', (chunk: string) => chunks.push(chunk))
  await vi.advanceTimersByTimeAsync(40 * SECOND)
  expect(stream.readableEnded).toBe(false)
  hasEnded = true
  const ended = once(stream, 'end')
  await vi.advanceTimersByTimeAsync(40 * SECOND)
  await ended
  expect(chunks.at(-1)).toBe('event: end\ndata: {"code":"UNAUTHORIZED","message":"Unauthorized"}\n\n')
})

it('an outage during the check of credentials ends no stream', async () => {
  const { open } = testStreams(0, async () => {
    throw new ServiceError('SERVICE_UNAVAILABLE', 'down')
  })
  const stream = await open()
  stream.resume()
  await vi.advanceTimersByTimeAsync(120 * SECOND)
  await settle()
  expect(stream.destroyed).toBe(false)
  stream.destroy()
})

it('a process that stops ends its streams, and asks their clients to connect again', async () => {
  const { open, streams } = testStreams(0)
  const stream = await open()
  const chunks: string[] = []
  stream.on('data', (chunk: string) => chunks.push(chunk))
  await settle()
  const ended = once(stream, 'end')
  streams.endAll()
  await ended
  expect(chunks.at(-1)).toContain('SERVICE_UNAVAILABLE')
})
