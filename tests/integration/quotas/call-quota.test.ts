import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Lease, LeaseRequest, QuotaLedger } from '../../../src/domain/quotas/lease.ts'
import type { CallPurpose, QuotaSubject } from '../../../src/domain/quotas/limits.ts'
import { PlatformError } from '../../../src/platforms/errors.ts'
import { HttpFailure } from '../../../src/platforms/shared/http.ts'
import type { QuotaObserver } from '../../../src/platforms/shared/quota-lots.ts'
import { createQuotaLedger } from '../../../src/store/quotas/quota-ledger.ts'
import { openDatabase } from '../../../src/store/shared/database.ts'
import { collectCommands } from '../../support/driver-commands.ts'
import { quotaDatabase } from '../../support/quota-databases.ts'
import { quotaProcess, quotaServer, type QuotaResponse } from '../../support/quota-server.ts'
import { unique } from '../../support/servers.ts'

let database: Awaited<ReturnType<typeof quotaDatabase>>
beforeAll(async () => {
  database = await quotaDatabase()
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
  ledger?: QuotaLedger
  observer?: Partial<QuotaObserver>
}

/** A process whose leases the test sees, and can delay. */
function startProcess(url: URL, { ledger = database.createLedger(), observer = {} }: ProcessParts = {}) {
  const leases: LeaseRequest[] = []
  let gate = Promise.resolve()
  const watched: QuotaLedger = {
    async lease(request): Promise<Lease> {
      leases.push(request)
      await gate
      return ledger.lease(request)
    },
  }
  const created = quotaProcess({ url, quotas: { ...database.createQuotas(observer), ledger: watched } })
  open.push(created)
  return {
    ...created,
    leases,
    /** Holds all leases back until the returned function is called. */
    holdLeases(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>()
      gate = promise
      return resolve
    },
  }
}

function newSubject(limit: number, windowMs = MINUTE_MS): QuotaSubject {
  return { key: unique('subject'), limits: [{ span: 'span', limit, windowMs }] }
}

async function refusalOf(call: Promise<unknown>): Promise<PlatformError> {
  const error: unknown = await call.then(
    () => new Error('The call was made'),
    (refusal: unknown) => refusal,
  )
  if (!(error instanceof PlatformError)) throw error
  return error
}

const isEventually = (check: () => boolean) => expect.poll(check, { interval: 5, timeout: 50_000 }).toBe(true)
const report = (limit: number, remaining: number) => ({ span: 'span', limit, remaining, resetsInMs: 30_000 })

describe('calls share leases', () => {
  it('concurrent calls share one lease', async () => {
    const server = await startServer()
    const { call, leases } = startProcess(server.url)
    const subject = newSubject(1_000)
    const statuses = await Promise.all(Array.from({ length: 100 }, () => call('publishing', [subject])))
    expect(statuses).toEqual(Array(100).fill(200))
    expect(leases).toHaveLength(1)
    expect(server.calls()).toBe(100)
  })

  it('the calls of a publication share a lease where the limit is renewed fast', async () => {
    const server = await startServer()
    const { call, leases } = startProcess(server.url)
    const [fast, slow] = [newSubject(300, 300_000), newSubject(300, 3 * 3_600_000)]
    for (let calls = 0; calls < 3; calls++) await call('publishing', [fast])
    expect(leases.map(({ publishing }) => publishing)).toEqual([4])
    for (let calls = 0; calls < 3; calls++) await call('publishing', [slow])
    expect(leases.slice(1).map(({ publishing }) => publishing)).toEqual([1, 1, 1])
  })

  it('the subjects of one call share a round trip', async () => {
    const server = await startServer()
    const { commands, onCommand } = collectCommands()
    const watched = await openDatabase(database.url, { onCommand })
    open.push(watched)
    const { call } = startProcess(server.url, { ledger: createQuotaLedger(watched.connection) })
    const subjects: QuotaSubject[] = [1, 2].map(() => ({ key: unique('subject'), limits: [] }))
    await call('publishing', subjects)
    expect(commands.flatMap(({ name, collection }) => (collection === 'quotas' ? name : []))).toEqual(['find'])
  })

  it('a subject with many calls leases ahead, so that no call waits', async () => {
    const server = await startServer()
    const { call, leases, holdLeases } = startProcess(server.url)
    const subject = newSubject(100_000)
    while (!leases.some(({ publishing }) => publishing > 50)) await call('publishing', [subject])
    const release = holdLeases()
    const before = leases.length
    while (leases.length === before) await call('publishing', [subject])
    expect(await call('publishing', [subject])).toBe(200)
    release()
  })
})

describe('a used-up quota', () => {
  it('refuses counts while publishing passes', async () => {
    const server = await startServer()
    const refused: CallPurpose[] = []
    const { call } = startProcess(server.url, { observer: { callRefused: (_, purpose) => refused.push(purpose) } })
    const subject = newSubject(10)
    for (let calls = 0; calls < 5; calls++) expect(await call('counting', [subject])).toBe(200)
    const count = await refusalOf(call('counting', [subject]))
    expect(count).toMatchObject({ class: 'rate_limited', certain: true })
    expect(count.message).toContain('reserved for publishing')
    for (let calls = 0; calls < 5; calls++) expect(await call('publishing', [subject])).toBe(200)
    const publication = await refusalOf(call('publishing', [subject]))
    expect(publication).toMatchObject({ class: 'rate_limited', certain: true })
    expect(publication.retryAfterMs).toBeGreaterThan(50_000)
    expect(server.calls()).toBe(10)
    expect(refused).toEqual(['counting', 'publishing'])
  })

  it('a refused call gives its other tokens back', async () => {
    const server = await startServer()
    const { call, leases } = startProcess(server.url)
    const [plenty, scarce] = [newSubject(1_000), newSubject(1)]
    await call('publishing', [plenty, scarce])
    await refusalOf(call('publishing', [plenty, scarce]))
    const before = leases.length
    for (let calls = 0; calls < 3; calls++) await call('publishing', [plenty])
    expect(leases).toHaveLength(before)
  })

  it('a call that waits for a token ends with its attempt, and its token serves another call', async () => {
    const server = await startServer()
    const { call, leases, holdLeases } = startProcess(server.url)
    const subject = newSubject(10)
    const release = holdLeases()
    const attempt = new AbortController()
    const waiting = call('publishing', [subject], { signal: attempt.signal })
    await isEventually(() => leases.length === 1)
    attempt.abort()
    const error: unknown = await waiting.catch((failure: unknown) => failure)
    expect(error).toBeInstanceOf(HttpFailure)
    expect(error).toMatchObject({ sent: false })
    release()
    expect(await call('publishing', [subject])).toBe(200)
    expect(server.calls()).toBe(1)
    // Either the first lease served the call, or a second one that reports no call as underway.
    expect(leases.slice(1).every(({ outstanding }) => outstanding <= 1)).toBe(true)
    await call('publishing', [subject])
    expect(leases.at(-1)!.outstanding).toBeLessThanOrEqual(1)
  })
})

describe('a pause', () => {
  it.each([
    ['a limited subject', () => newSubject(1_000)],
    ['a subject without a known limit', () => ({ key: unique('subject'), limits: [] })],
  ])('by a 429 in one process stops the calls of the other for %s', async (_, create) => {
    const pausing = await startServer(() => ({ status: 429, pauseMs: MINUTE_MS }))
    const server = await startServer()
    const pauses: number[] = []
    const one = startProcess(pausing.url, { observer: { paused: (_platform, _subject, ms) => pauses.push(ms) } })
    const other = startProcess(server.url)
    const subject = create()
    expect(await other.call('publishing', [subject])).toBe(200)

    const refusedCalls = Array.from({ length: 10 }, () => one.call('publishing', [subject]))
    expect(await Promise.all(refusedCalls)).toEqual(Array(10).fill(429))
    expect(pauses).toEqual([MINUTE_MS])
    for (const purpose of ['publishing', 'counting'] as const) {
      expect((await refusalOf(one.call(purpose, [subject]))).retryAfterMs).toBeGreaterThan(50_000)
    }
    const hasPause = { _id: subject.key, pausedUntil: { $gt: new Date() } }
    await expect.poll(() => database.records.findOne(hasPause), { interval: 5, timeout: 50_000 }).not.toBe(null)

    // The other process may use the tokens that it holds.
    for (let held = 0; held < 3; held++) await other.call('publishing', [subject]).catch(() => null)
    const refusal = await refusalOf(other.call('publishing', [subject]))
    expect(refusal).toMatchObject({ class: 'rate_limited', certain: true })
    expect(refusal.retryAfterMs).toBeGreaterThan(50_000)
    expect(server.calls()).toBeLessThanOrEqual(4)
    expect(pausing.calls()).toBe(10)
  })

  it('that begins while a call waits for its lease stops the call', async () => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<QuotaResponse>()
    const server = await startServer(() => answered)
    const { call, leases, holdLeases } = startProcess(server.url)
    const subject = newSubject(10)
    const first = call('publishing', [subject])
    await isEventually(() => server.calls() === 1)
    const release = holdLeases()
    const waiting = call('publishing', [subject])
    await isEventually(() => leases.length === 2)
    answer({ status: 429, pauseMs: MINUTE_MS })
    expect(await first).toBe(429)
    release()
    expect((await refusalOf(waiting)).retryAfterMs).toBeGreaterThan(50_000)
    expect(server.calls()).toBe(1)
    await isEventually(() => leases.some(({ pauseMs }) => pauseMs !== undefined))
  })
})

describe('what a response reports', () => {
  it('limits the next calls of another process', async () => {
    const server = await startServer(() => ({ status: 200, reported: [report(1_000, 2)] }))
    const [one, other] = [startProcess(server.url), startProcess(server.url)]
    const subject = newSubject(1_000, 1_000 * 3_600_000)
    await one.call('publishing', [subject])
    await isEventually(() => one.leases.some(({ reports }) => reports.length > 0))
    await isEventually(() => server.calls() === 1)
    await database.records.findOne({ _id: subject.key })
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => other.call('publishing', [subject])))
    expect(results.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(2)
  })

  it('counts as the lowest number of remaining calls in a window, in whatever order responses arrive', async () => {
    const reports = [report(1_000, 3), report(1_000, 9)]
    const server = await startServer((call) => ({ status: 200, reported: [reports[call - 1] ?? report(1_000, 2)] }))
    const { call, leases } = startProcess(server.url)
    const subject = newSubject(1_000, 1_000 * 3_600_000)
    await call('publishing', [subject])
    await call('publishing', [subject])
    await call('publishing', [subject]).catch(() => null)
    expect(leases.at(-1)!.reports).toMatchObject([{ span: 'span', remaining: 3 }])
  })

  it('is ignored where it makes no sense', async () => {
    const nonsense = [report(0, 0), report(10, -1), report(10, 0.5), { ...report(10, 0), resetsInMs: -1 }]
    const server = await startServer(() => ({ status: 200, reported: nonsense }))
    const { call } = startProcess(server.url)
    const subject = newSubject(20)
    for (let calls = 0; calls < 20; calls++) expect(await call('publishing', [subject])).toBe(200)
  })
})

it('a call is not made when the ledger fails, and its outcome is certain', async () => {
  const server = await startServer()
  const closed = await openDatabase(database.url)
  const ledger = createQuotaLedger(closed.connection)
  await closed.close()
  const outcomes: string[] = []
  const observer = { leaseEnded: (_: unknown, outcome: string) => outcomes.push(outcome) }
  const { call } = startProcess(server.url, { ledger, observer })
  const error = await refusalOf(call('publishing', [newSubject(10)]))
  expect(error).toMatchObject({ class: 'transient', certain: true })
  expect(server.calls()).toBe(0)
  expect(outcomes).toEqual(['failed'])
})
