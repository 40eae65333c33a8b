import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { CallPurpose, CallRequest, CallWindows, QuotaSubject } from '../../../src/domain/quotas/limits.ts'
import { PlatformError } from '../../../src/platforms/errors.ts'
import type { QuotaObserver } from '../../../src/platforms/shared/call-counter.ts'
import { HttpFailure } from '../../../src/platforms/shared/http.ts'
import { createCallWindows } from '../../../src/store/quotas/call-windows.ts'
import { openDatabase } from '../../../src/store/shared/database.ts'
import { collectCommands } from '../../support/driver-commands.ts'
import { quotaDatabase } from '../../support/quota-databases.ts'
import { quotaProcess, quotaServer, type QuotaResponse } from '../../support/quota-server.ts'
import { unique } from '../../support/servers.ts'

const { commands, onCommand } = collectCommands()
let database: Awaited<ReturnType<typeof quotaDatabase>>
beforeAll(async () => {
  database = await quotaDatabase({ onCommand })
})
afterAll(() => database.close())

const OK: QuotaResponse = { status: 200 }
const MINUTE_MS = 60_000
const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

async function startServer(answer: Parameters<typeof quotaServer>[0] = () => OK) {
  const server = await quotaServer(answer)
  open.push(server)
  return server
}

interface ProcessParts {
  windows?: CallWindows
  observer?: Partial<QuotaObserver>
}

/** A process whose counted calls the test sees, and can delay. */
function startProcess(url: URL, { windows = database.createWindows(), observer = {} }: ProcessParts = {}) {
  const taken: CallRequest[] = []
  let gate = Promise.resolve()
  const watched: CallWindows = {
    ...windows,
    async take(key, request) {
      const grant = await windows.take(key, request)
      taken.push(request)
      await gate
      return grant
    },
  }
  const created = quotaProcess({ url, quotas: { ...database.createQuotas(observer), windows: watched } })
  open.push(created)
  return {
    ...created,
    taken,
    /** Holds all answers back until the returned function is called. */
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>()
      gate = promise
      return resolve
    },
  }
}

function newSubject(limit: number, windowMs = MINUTE_MS, scope = 'server'): QuotaSubject {
  return { key: `test:${scope}:${unique('subject')}`, limits: [{ span: 'span', limit, windowMs }] }
}

const unlimitedSubject = (): QuotaSubject => ({ ...newSubject(1), limits: [] })

async function refusalOf(call: Promise<unknown>): Promise<PlatformError> {
  const error: unknown = await call.then(
    () => new Error('The call was made'),
    (refusal: unknown) => refusal,
  )
  if (!(error instanceof PlatformError)) throw error
  return error
}

async function commandsDuring(work: () => Promise<unknown>): Promise<string[]> {
  const before = commands.length
  await work()
  return commands.slice(before).flatMap(({ name, collection }) => (collection === 'quotas' ? [name] : []))
}

const isEventually = (check: () => boolean) => expect.poll(check, { interval: 5, timeout: 50_000 }).toBe(true)
const report = (limit: number, remaining: number) => ({ span: 'span', limit, remaining, resetsInMs: 30_000 })

describe('calls share commands', () => {
  it('concurrent calls of a subject share one', async () => {
    const server = await startServer()
    const { call } = startProcess(server.url)
    const subject = newSubject(1_000)
    const calls = () =>
      Promise.all(Array.from({ length: 90 }, (_, user) => call('publishing', [subject], { userId: String(user % 9) })))
    expect(await commandsDuring(calls)).toEqual(['findAndModify'])
    expect(server.calls()).toBe(90)
  })

  it('the calls of a publication share one where the limit renews fast', async () => {
    const server = await startServer()
    const { call, taken } = startProcess(server.url)
    const [fast, slow] = [newSubject(300, 300_000), newSubject(300, 3 * 3_600_000)]
    for (let calls = 0; calls < 4; calls++) await call('publishing', [fast], { userId: 'one' })
    expect(taken.map(({ block }) => block)).toEqual([4])
    await call('publishing', [fast], { userId: 'other' })
    for (let calls = 0; calls < 3; calls++) await call('publishing', [slow])
    expect(taken.map(({ block }) => block)).toEqual([4, 4, 1, 1, 1])
  })

  it('subjects without limits share one for the pauses of all, which is not repeated soon', async () => {
    const server = await startServer()
    const { call } = startProcess(server.url)
    const subjects = [unlimitedSubject(), unlimitedSubject()]
    const publish = async () => {
      for (let calls = 0; calls < 3; calls++) await call('publishing', subjects)
    }
    expect(await commandsDuring(publish)).toEqual(['find'])
  })
})

describe('a used-up window', () => {
  it('refuses counts while publishing passes', async () => {
    const server = await startServer()
    const refused: CallPurpose[] = []
    const left: number[] = []
    const observer: Partial<QuotaObserver> = {
      callRefused: (_, purpose) => refused.push(purpose),
      callsCounted: (_platform, _subject, { span }) => left.push(span!),
    }
    const { call } = startProcess(server.url, { observer })
    const subject = newSubject(10)
    for (let calls = 0; calls < 5; calls++) expect(await call('counting', [subject])).toBe(200)
    const count = await refusalOf(call('counting', [subject]))
    expect(count).toMatchObject({ class: 'rate_limited', certain: true })
    expect(count.message).toContain('reserved for publishing')
    for (let calls = 0; calls < 5; calls++) expect(await call('publishing', [subject])).toBe(200)
    const publication = await refusalOf(call('publishing', [subject]))
    expect(publication).toMatchObject({ class: 'rate_limited', certain: true })
    expect(publication.retryAfterMs).toBe(MINUTE_MS - (database.openedAt.getTime() % MINUTE_MS))
    expect(server.calls()).toBe(10)
    expect(refused).toEqual(['counting', 'publishing'])
    expect(left.map((share) => Math.round(share * 10))).toEqual([9, 8, 7, 6, 5, 5, 4, 3, 2, 1, 0, 0])
  })

  it('leaves a quarter to other users where all share it, half of it to each, and nothing where one account has it alone', async () => {
    const server = await startServer()
    const { call } = startProcess(server.url)
    const granted = async (subject: QuotaSubject, userId: string) => {
      const calls = Array.from({ length: 20 }, () => call('publishing', [subject], { userId }))
      return (await Promise.allSettled(calls)).filter(({ status }) => status === 'fulfilled').length
    }
    const shared = newSubject(20)
    expect(await granted(shared, 'one')).toBe(15)
    expect(await granted(shared, 'other')).toBe(3)
    expect(await granted(shared, 'third')).toBe(1)
    expect(await granted(newSubject(20, MINUTE_MS, 'account'), 'one')).toBe(20)
  })

  it('a call that waits to be counted ends with its attempt', async () => {
    const server = await startServer()
    const { call, taken, hold } = startProcess(server.url)
    const subject = newSubject(10)
    const release = hold()
    const attempt = new AbortController()
    const waiting = call('publishing', [subject], { signal: attempt.signal })
    await isEventually(() => taken.length === 1)
    attempt.abort()
    const error: unknown = await waiting.catch((failure: unknown) => failure)
    expect(error).toBeInstanceOf(HttpFailure)
    expect(error).toMatchObject({ sent: false })
    release()
    expect(await call('publishing', [subject])).toBe(200)
    expect(server.calls()).toBe(1)
  })
})

describe('a pause', () => {
  it.each([
    ['a limited subject', () => newSubject(1_000)],
    ['a subject without a known limit', unlimitedSubject],
  ])('by a 429 in one process stops the calls of the other for %s', async (_, create) => {
    const pausing = await startServer(() => ({ status: 429, pauseMs: 10 * MINUTE_MS }))
    const server = await startServer()
    const pauses: number[] = []
    const one = startProcess(pausing.url, { observer: { paused: (_platform, _subject, ms) => pauses.push(ms) } })
    const other = startProcess(server.url)
    const subject = create()
    expect(await other.call('publishing', [subject])).toBe(200)

    const refusedCalls = Array.from({ length: 10 }, () => one.call('publishing', [subject]))
    expect(await Promise.all(refusedCalls)).toEqual(Array(10).fill(429))
    expect(pauses).toEqual([10 * MINUTE_MS])
    for (const purpose of ['publishing', 'counting'] as const) {
      expect((await refusalOf(one.call(purpose, [subject]))).retryAfterMs).toBeGreaterThan(9 * MINUTE_MS)
    }
    const hasPause = { _id: subject.key, pausedUntil: { $gt: database.openedAt } }
    await expect.poll(() => database.records.findOne(hasPause), { interval: 5, timeout: 50_000 }).not.toBe(null)

    // The other process learns it within two seconds.
    const storedAt = performance.now()
    let lastMadeAt = storedAt
    const isRefused = async () => {
      const calledAt = performance.now()
      const refusal = await other.call('publishing', [subject]).then(
        () => null,
        (error: unknown) => error as PlatformError,
      )
      if (!refusal) lastMadeAt = calledAt
      else expect(refusal).toMatchObject({ class: 'rate_limited', certain: true })
      return refusal !== null && refusal.retryAfterMs! > 9 * MINUTE_MS
    }
    await expect.poll(isRefused, { interval: 20, timeout: 50_000 }).toBe(true)
    expect(lastMadeAt - storedAt).toBeLessThanOrEqual(2_000)
    expect(pausing.calls()).toBe(10)
  })

  it('that begins while a call waits to be counted stops the call', async () => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<QuotaResponse>()
    const server = await startServer(() => answered)
    const { call, taken, hold } = startProcess(server.url)
    const subject = newSubject(10)
    const first = call('publishing', [subject])
    await isEventually(() => server.calls() === 1)
    const release = hold()
    const waiting = call('publishing', [subject])
    await isEventually(() => taken.length === 2)
    answer({ status: 429, pauseMs: MINUTE_MS })
    expect(await first).toBe(429)
    release()
    expect((await refusalOf(waiting)).retryAfterMs).toBeGreaterThan(50_000)
    expect(server.calls()).toBe(1)
  })
})

describe('what a response states', () => {
  it('pauses the calls until the reset when nothing remains', async () => {
    const server = await startServer(() => ({ status: 200, reported: [report(1_000, 0)] }))
    const { call } = startProcess(server.url)
    const subject = newSubject(1_000)
    expect(await call('publishing', [subject])).toBe(200)
    const { retryAfterMs } = await refusalOf(call('publishing', [subject]))
    expect(retryAfterMs).toBeGreaterThan(20_000)
    expect(retryAfterMs).toBeLessThanOrEqual(30_000)
  })

  it('limits a subject without a known limit, and replaces one that is known', async () => {
    const server = await startServer(() => ({ status: 200, reported: [report(5, 4)] }))
    for (const limit of [Infinity, 1_000]) {
      const subject = newSubject(limit)
      const { call } = startProcess(server.url)
      expect(await call('publishing', [subject])).toBe(200)
      const results = await Promise.allSettled(Array.from({ length: 9 }, () => call('publishing', [subject])))
      const made = results.filter(({ status }) => status === 'fulfilled').length
      // Without a known limit, the first call is not counted.
      expect(made).toBe(limit === Infinity ? 5 : 4)
    }
  })

  it('is ignored where it makes no sense', async () => {
    const nonsense = [report(0, 0), report(10, -1), report(10, 0.5), { ...report(10, 0), resetsInMs: -1 }]
    const server = await startServer(() => ({ status: 200, reported: nonsense }))
    const { call } = startProcess(server.url)
    const subject = newSubject(20)
    for (let calls = 0; calls < 20; calls++) expect(await call('publishing', [subject])).toBe(200)
  })
})

it.each([
  ['with a limit', () => newSubject(10)],
  ['without a known limit', unlimitedSubject],
])('a call of a subject %s is not made when MongoDB does not answer, and its outcome is certain', async (_, create) => {
  const server = await startServer()
  const closed = await openDatabase(database.url)
  const windows = createCallWindows(closed.connection)
  await closed.close()
  const { call } = startProcess(server.url, { windows })
  const error = await refusalOf(call('publishing', [create()]))
  expect(error).toMatchObject({ class: 'transient', certain: true })
  expect(server.calls()).toBe(0)
})
