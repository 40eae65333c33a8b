import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  COUNTING_SHARE,
  LONE_USER_SHARE,
  USER_SHARE,
  type CallGrant,
  type CallLimit,
  type CallRequest,
} from '../../../src/domain/quotas/limits.ts'
import { quotaDatabase } from '../../support/quota-databases.ts'
import { unique } from '../../support/servers.ts'

let database: Awaited<ReturnType<typeof quotaDatabase>>
beforeAll(async () => {
  database = await quotaDatabase()
})
afterAll(() => database.close())

const WINDOW_MS = 60_000
const TEN: CallLimit[] = [{ span: 'minute', limit: 10, windowMs: WINDOW_MS }]

/** Several processes with one clock that the test sets. It starts 20 s before the end of a minute. */
function world(processes = 1) {
  let clock = Date.parse('2026-05-01T10:00:40Z')
  const key = unique('subject')
  const all = Array.from({ length: processes }, () => database.createWindows(() => new Date(clock)))
  const take = (request: Partial<CallRequest> = {}, process = 0) =>
    all[process]!.take(key, { limits: TEN, stated: {}, purpose: 'publishing', user: null, block: 1, ...request })
  return {
    key,
    now: () => clock,
    pass: (ms: number) => void (clock += ms),
    take,
    /** Makes several calls concurrently, and returns how many are granted. */
    takeMany: async (calls: number, request: Partial<CallRequest> = {}, process = 0) =>
      countGrants(await Promise.all(Array.from({ length: calls }, () => take(request, process)))),
    pause: (ms: number, process = 0) => all[process]!.pause(key, ms),
    readPauseMs: (process = 0) => all[process]!.readPauseMs(key),
  }
}

const countGrants = (grants: CallGrant[]) => grants.filter(({ isGranted }) => isGranted).length

describe('the calls of a window', () => {
  it('are granted up to the limit to all processes together', async () => {
    const { takeMany } = world(2)
    expect(await takeMany(7, {}, 0)).toBe(7)
    expect(await takeMany(7, {}, 1)).toBe(3)
    expect(await takeMany(1, {}, 0)).toBe(0)
  })

  it('are granted to publishing while counting is refused', async () => {
    const { takeMany } = world()
    expect(await takeMany(9, { purpose: 'counting' })).toBe(5)
    expect(await takeMany(9)).toBe(5)
  })

  it('are granted to publishing first when both ask at the same time', async () => {
    const { takeMany } = world()
    const counting = takeMany(5, { purpose: 'counting' })
    expect(await takeMany(5)).toBe(5)
    expect(await counting).toBe(0)
  })

  it('are granted to a lone user up to three quarters', async () => {
    const { takeMany } = world(2)
    expect(await takeMany(9, { user: 'aa' })).toBe(8)
    expect(await takeMany(1, { user: 'aa' }, 1)).toBe(0)
  })

  it('are granted to every further user up to half of what the others left', async () => {
    const { takeMany } = world(2)
    const limits = [{ ...TEN[0]!, limit: 100 }]
    const granted: number[] = []
    for (const user of ['aa', 'bb', 'cc', 'dd', 'aa']) granted.push(await takeMany(100, { user, limits }, 1))
    expect(granted).toEqual([75, 13, 6, 3, 0])
  })

  it('are granted to a user of two up to half of what the other left, whoever began', async () => {
    const { takeMany } = world()
    expect(await takeMany(1, { user: 'bb' })).toBe(1)
    expect(await takeMany(9, { user: 'aa' })).toBe(5)
    expect(await takeMany(9, { user: 'bb' })).toBe(2)
  })

  it('are granted to several users in one turn by their own shares', async () => {
    const { takeMany } = world()
    const granted = await Promise.all([takeMany(8, { user: 'aa' }), takeMany(2, { user: 'bb' })])
    expect(granted).toEqual([5, 2])
  })

  it('are granted to a lone user beside calls of no user up to three quarters', async () => {
    const { takeMany } = world()
    expect(await takeMany(1)).toBe(1)
    expect(await takeMany(9, { user: 'aa' })).toBe(8)
  })

  it('are granted to a user when a limit is a single call', async () => {
    const { takeMany } = world()
    expect(await takeMany(2, { user: 'aa', limits: [{ ...TEN[0]!, limit: 1 }] })).toBe(1)
  })

  it('require room in every limit, and a refusal states the wait for the one that is used up', async () => {
    const limits = [...TEN, { span: 'hour', limit: 3, windowMs: 60 * WINDOW_MS }]
    const { take, takeMany } = world()
    expect(await takeMany(5, { limits })).toBe(3)
    expect(await take({ limits })).toMatchObject({ isGranted: false, waitMs: 59 * 60_000 + 20_000 })
    expect(await takeMany(9)).toBe(7)
  })

  it('are granted again when the stated wait has passed, and not before', async () => {
    const { take, takeMany, pass } = world()
    await takeMany(10)
    const { waitMs } = await take()
    expect(waitMs).toBe(20_000)
    pass(waitMs - 1)
    expect(await takeMany(1)).toBe(0)
    pass(1)
    expect(await takeMany(11)).toBe(10)
  })

  it('are counted ahead of their publication while less than half of the limit is used', async () => {
    const { take, takeMany } = world()
    expect(await take({ block: 3 })).toMatchObject({ isGranted: true, spare: 2, left: { minute: 0.7 } })
    expect(await take({ block: 4 })).toMatchObject({ isGranted: true, spare: 1, left: { minute: 0.5 } })
    expect(await take({ block: 4 })).toMatchObject({ isGranted: true, spare: 0, left: { minute: 0.4 } })
    expect(await takeMany(5, { block: 4 })).toBe(4)
  })

  it('are counted by the limit that a response has stated, in every process and window', async () => {
    const { take, takeMany, pass } = world(2)
    await take({ stated: { minute: 30 } }, 0)
    expect(await takeMany(40, {}, 1)).toBe(29)
    pass(WINDOW_MS)
    expect(await takeMany(40, {}, 1)).toBe(30)
  })

  it('are all counted when processes begin a subject concurrently', async () => {
    const { take } = world(12)
    const grants = await Promise.all(Array.from({ length: 12 }, (_, process) => take({}, process)))
    expect(countGrants(grants)).toBe(10)
  })

  it('are forgotten only after their window has ended', async () => {
    const { take, key, now } = world()
    await take()
    const record = await database.records.findOne({ _id: key })
    expect(record!.removeAt.getTime()).toBeGreaterThanOrEqual(now() + 20_000)
  })
})

describe('a pause', () => {
  it('stops the calls of all processes until it has passed', async () => {
    const { take, pass, pause, readPauseMs } = world(2)
    expect((await take({}, 1)).isGranted).toBe(true)
    await pause(50_000, 0)
    await pause(5_000, 0)
    expect(await readPauseMs(1)).toBe(50_000)
    expect(await take({ purpose: 'counting' }, 1)).toMatchObject({ isGranted: false, pauseMs: 50_000, waitMs: 50_000 })
    pass(50_000)
    expect(await readPauseMs(1)).toBe(0)
    expect((await take({}, 1)).isGranted).toBe(true)
  })

  it('lasts a day at most, and its record as long', async () => {
    const { key, now, pause, readPauseMs } = world()
    expect(await readPauseMs()).toBe(0)
    await pause(1_000 * 86_400_000)
    expect(await readPauseMs()).toBe(86_400_000)
    expect((await database.records.findOne({ _id: key }))!.removeAt.getTime()).toBe(now() + 86_400_000)
  })
})

const step = fc.record({
  passedMs: fc.nat({ max: 1_500 }),
  calls: fc.array(
    fc.record({
      process: fc.nat({ max: 2 }),
      purpose: fc.constantFrom('publishing', 'counting'),
      user: fc.constantFrom('aa', 'bb', null),
      block: fc.integer({ min: 1, max: 4 }),
    }),
    { maxLength: 8 },
  ),
})

it('no aligned window contains more calls than its limit and shares, whichever processes count them or die with them', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      const limits = [
        { span: 'short', limit: 9, windowMs: 2_000 },
        { span: 'long', limit: 14, windowMs: 5_000 },
      ]
      const { take, now, pass } = world(3)
      const counted: { at: number; purpose: string; user: string | null; calls: number }[] = []
      for (const { passedMs, calls } of steps) {
        pass(passedMs)
        const grants = await Promise.all(calls.map(({ process, ...call }) => take({ limits, ...call }, process)))
        // Calls that a process has counted ahead may be made, or lost with it.
        grants.forEach(({ isGranted, spare }, index) => {
          const { purpose, user } = calls[index]!
          counted.push({ at: now(), purpose, user, calls: Number(isGranted) + spare })
        })
      }
      for (const { limit, windowMs } of limits) {
        for (const window of Map.groupBy(counted, ({ at }) => Math.floor(at / windowMs)).values()) {
          const sumOf = (some: typeof counted) => some.reduce((sum, { calls }) => sum + calls, 0)
          expect(sumOf(window)).toBeLessThanOrEqual(limit)
          const reads = window.filter(({ purpose }) => purpose === 'counting')
          expect(sumOf(reads)).toBeLessThanOrEqual(limit * COUNTING_SHARE)
          const [a, b] = ['aa', 'bb'].map((name) => sumOf(window.filter(({ user }) => user === name))) as [
            number,
            number,
          ]
          expect(Math.max(a, b)).toBeLessThanOrEqual(Math.ceil(limit * LONE_USER_SHARE))
          // The last of the two to get a call had half of what the other left.
          const within = (one: number, other: number) => one <= Math.ceil((limit - other) * USER_SHARE)
          if (a > 0 && b > 0) expect(within(a, b) || within(b, a)).toBe(true)
        }
      }
    }),
    { numRuns: 40 },
  )
})

describe('the return of a server', () => {
  it('reaches every process, and one process records it', async () => {
    const [one, other] = [database.createWindows(), database.createWindows()]
    const server = `https://${unique('server')}.example`
    const at = (minute: number) => new Date(Date.UTC(2026, 4, 1, 10, minute))
    expect(await other.readReturn(server)).toBeNull()
    expect(await Promise.all([one, other].map((windows) => windows.saveReturn(server, at(1), at(2))))).toSatisfy(
      (saved: boolean[]) => saved.filter(Boolean).length === 1,
    )
    expect(await other.readReturn(server)).toEqual(at(2))
    expect(await other.saveReturn(server, at(3), at(4))).toBe(true)
    expect(await one.readReturn(server)).toEqual(at(4))
  })
})
