import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LeaseRequest } from '../../../src/domain/quotas/lease.ts'
import type { CallLimit } from '../../../src/domain/quotas/limits.ts'
import { quotaDatabase } from '../../support/quota-databases.ts'
import { unique } from '../../support/servers.ts'

let database: Awaited<ReturnType<typeof quotaDatabase>>
beforeAll(async () => {
  database = await quotaDatabase()
})
afterAll(() => database.close())

const WINDOW_MS = 60_000
const ARRIVAL_MS = 2_000
const TEN: CallLimit[] = [{ span: 'minute', limit: 10, windowMs: WINDOW_MS }]

/** Ledgers of several processes with one clock that the test sets. */
function world(processes = 1) {
  let clock = Date.parse('2026-05-01T10:00:00Z')
  const key = unique('subject')
  const now = () => new Date(clock)
  const ledgers = Array.from({ length: processes }, () => database.createLedger({ now }))
  return {
    key,
    now: () => clock,
    pass: (ms: number) => void (clock += ms),
    lease: (request: Partial<LeaseRequest>, process = 0) =>
      ledgers[process]!.lease(newRequest({ key, lessee: `process ${process}`, ...request })),
  }
}

function newRequest(request: Partial<LeaseRequest>): LeaseRequest {
  return {
    key: unique('subject'),
    lessee: unique('process'),
    limits: TEN,
    publishing: 0,
    counting: 0,
    arrivalMs: ARRIVAL_MS,
    outstanding: 0,
    reports: [],
    ...request,
  }
}

const report = (remaining: number, limit = 10) => ({ span: 'minute', limit, remaining, resetsInMs: 30_000, ageMs: 0 })

describe('a lease grants what is left of a limit', () => {
  it('grants no more than the limit to all processes together', async () => {
    const { lease } = world(2)
    expect((await lease({ publishing: 7 }, 0)).granted.publishing).toBe(7)
    expect((await lease({ publishing: 7 }, 1)).granted.publishing).toBe(3)
    expect((await lease({ publishing: 1 }, 0)).granted.publishing).toBe(0)
  })

  it('grants publishing while counting is refused', async () => {
    const { lease } = world()
    expect((await lease({ counting: 9 })).granted).toEqual({ publishing: 0, counting: 5 })
    const refused = await lease({ counting: 1, publishing: 1 })
    expect(refused.granted).toEqual({ publishing: 1, counting: 0 })
    expect(refused.waitMs).toMatchObject({ publishing: 0 })
    expect(refused.waitMs.counting).toBeGreaterThan(0)
  })

  it('serves publishing first when both want the last tokens', async () => {
    const { lease } = world()
    expect((await lease({ counting: 5, publishing: 5 })).granted).toEqual({ publishing: 5, counting: 0 })
  })

  it('requires room in every limit of a subject', async () => {
    const limits = [...TEN, { span: 'hour', limit: 3, windowMs: 60 * WINDOW_MS }]
    const { lease } = world()
    expect((await lease({ limits, publishing: 5 })).granted.publishing).toBe(3)
    expect((await lease({ limits, publishing: 5 })).granted.publishing).toBe(0)
  })

  it('grants tokens again when the stated wait has passed, and not before', async () => {
    const { lease, pass } = world()
    await lease({ publishing: 10 })
    pass(WINDOW_MS)
    const { granted, waitMs } = await lease({ publishing: 1 })
    expect(granted.publishing).toBe(0)
    expect(waitMs.publishing).toBeGreaterThanOrEqual(ARRIVAL_MS)
    pass(waitMs.publishing - 1)
    expect((await lease({ publishing: 1 })).granted.publishing).toBe(0)
    pass(1)
    expect((await lease({ publishing: 10 })).granted.publishing).toBe(10)
  })

  it('states no wait that is longer than the window', async () => {
    const { lease } = world()
    await lease({ publishing: 10 })
    expect((await lease({ publishing: 1 })).waitMs.publishing).toBe(WINDOW_MS)
  })

  it('returns the result of every lease when many share a command', async () => {
    const ledger = database.createLedger()
    const leases = await Promise.all(
      Array.from({ length: 300 }, (_, index) =>
        ledger.lease(newRequest({ limits: index % 3 === 0 ? [] : TEN, publishing: index % 15 })),
      ),
    )
    const expected = leases.map((_, index) => (index % 3 === 0 ? index % 15 : Math.min(10, index % 15)))
    expect(leases.map(({ granted }) => granted.publishing)).toEqual(expected)
  })

  it('concurrent first leases of a subject all count', async () => {
    const key = unique('first')
    const leases = await Promise.all(
      Array.from({ length: 12 }, () => database.createLedger().lease(newRequest({ key, publishing: 1 }))),
    )
    expect(leases.reduce((total, { granted }) => total + granted.publishing, 0)).toBe(10)
  })

  it('the record is removed only after all its tokens have stopped to count', async () => {
    const { lease, key, now } = world()
    await lease({ publishing: 10 })
    const { waitMs } = await lease({ publishing: 1 })
    const record = await database.records.findOne({ _id: key })
    expect(record!.removeAt.getTime()).toBeGreaterThanOrEqual(now() + waitMs.publishing + ARRIVAL_MS)
  })
})

describe('a lease takes what the platform reports into account', () => {
  it('a lower report limits all processes until the reset', async () => {
    const { lease, pass } = world(2)
    await lease({ reports: [report(2)] }, 0)
    expect((await lease({ publishing: 9 }, 1)).granted.publishing).toBe(2)
    const refused = await lease({ publishing: 1 }, 1)
    expect(refused.granted.publishing).toBe(0)
    expect(refused.waitMs.publishing).toBe(30_000)
    pass(30_000)
    expect((await lease({ publishing: 9 }, 1)).granted.publishing).toBe(8)
  })

  it('a higher report raises nothing', async () => {
    const { lease } = world()
    await lease({ publishing: 9 })
    expect((await lease({ publishing: 9, reports: [report(10)] })).granted.publishing).toBe(1)
  })

  it('tokens of other processes that may still be used are subtracted from a report', async () => {
    const { lease } = world(2)
    await lease({ publishing: 4 }, 1)
    expect((await lease({ publishing: 9, reports: [report(5)] }, 0)).granted.publishing).toBe(1)
  })

  it('a reported limit replaces the default', async () => {
    const { lease } = world(2)
    await lease({ reports: [report(30, 30)] }, 0)
    expect((await lease({ publishing: 40 }, 1)).granted.publishing).toBe(30)
  })

  it('a report that is too old changes nothing', async () => {
    const { lease } = world()
    expect((await lease({ publishing: 9, reports: [{ ...report(0), ageMs: 10_000 }] })).granted.publishing).toBe(9)
  })
})

describe('a pause stops all processes', () => {
  it.each([
    ['a subject with a limit', TEN],
    ['a subject without a known limit', []],
  ])('of %s, until it has passed', async (_, limits) => {
    const { lease, pass } = world(2)
    expect((await lease({ limits, publishing: 1 }, 1)).granted.publishing).toBe(1)
    await lease({ limits, pauseMs: 20_000 }, 0)
    await lease({ limits, pauseMs: 5_000 }, 0)
    const paused = await lease({ limits, publishing: 1, counting: 1 }, 1)
    expect(paused).toMatchObject({
      granted: { publishing: 0, counting: 0 },
      waitMs: { publishing: 20_000, counting: 20_000 },
      isPaused: true,
    })
    pass(20_000)
    expect((await lease({ limits, publishing: 1 }, 1)).granted.publishing).toBe(1)
  })
})

const step = fc.record({
  process: fc.nat({ max: 2 }),
  pauseMs: fc.nat({ max: 1_500 }),
  publishing: fc.nat({ max: 6 }),
  counting: fc.nat({ max: 6 }),
  /** The tokens are used immediately, or as late as possible. */
  isLate: fc.boolean(),
})

describe('no sliding window contains more calls than the limit', () => {
  it('whenever the processes lease and use their tokens, or die with them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        const limits = [{ span: 'short', limit: 5, windowMs: 3_000 }]
        const { lease, now, pass } = world(3)
        const arrivals: number[] = []
        for (const { process, pauseMs, publishing, counting, isLate } of steps) {
          pass(pauseMs)
          const { granted } = await lease({ limits, publishing, counting, arrivalMs: 700 }, process)
          const at = now() + (isLate ? 700 : 0)
          arrivals.push(...Array.from({ length: granted.publishing + granted.counting }, () => at))
        }
        const sorted = arrivals.toSorted((one, other) => one - other)
        sorted.slice(5).forEach((at, index) => expect(at - sorted[index]!).toBeGreaterThanOrEqual(3_000))
      }),
      { numRuns: 60 },
    )
  })
})
