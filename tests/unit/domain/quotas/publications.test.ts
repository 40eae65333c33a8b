import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CallLimit } from '../../../../src/domain/quotas/limits.ts'
import {
  applyReports,
  createDelayForecast,
  describePublicationLimit,
  describeUse,
  PUBLICATION_LIMITS,
  requestPublications,
  takeBackPublication,
  UNUSED,
  type PublicationGrant,
  type PublicationRecord,
} from '../../../../src/domain/quotas/publications.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../../../src/domain/shared/times.ts'

const START = Date.parse('2026-05-01T10:00:00Z')
const ARRIVAL_MS = 10 * SECOND
const FIVE: CallLimit[] = [{ span: 'hour', limit: 5, windowMs: HOUR }]
/** A place becomes free at most this long after its window: the arrival, and the precision of a counter. */
const SLACK_MS = ARRIVAL_MS + HOUR / 144 + 1

/** The quota of one account, with a clock that the test sets. */
function account(limits: readonly CallLimit[] = FIVE) {
  let record: PublicationRecord = UNUSED
  let now = START
  return {
    at: (ms: number) => void (now = START + ms),
    pass: (ms: number) => void (now += ms),
    now: () => now,
    ask(id: string, dueMs = 0) {
      const request = { id, dueAt: new Date(START + dueMs), limits, arrivalMs: ARRIVAL_MS }
      const answered = requestPublications(record, [request], new Date(now))
      record = answered.record
      return answered.turns[0]!
    },
    takeBack: (grant: PublicationGrant) => void (record = takeBackPublication(record, grant)),
    report: (remaining: number, limit = 5, resetsInMs = HOUR) =>
      void (record = applyReports(record, [{ span: 'hour', limit, remaining, resetsInMs }], new Date(now))),
    use: () => describeUse(record, limits, new Date(now)),
    forecast: (planned: number[], dueMs: number) => {
      const times = planned.map((ms) => new Date(START + ms))
      return createDelayForecast(record, limits, new Date(now))(times, new Date(START + dueMs))
    },
  }
}

type Turn = ReturnType<ReturnType<typeof account>['ask']>
const isGranted = (turn: Turn): turn is { grant: PublicationGrant } => 'grant' in turn
const waitOf = (turn: Turn): number => ('waitMs' in turn ? turn.waitMs : 0)

/** Publishes posts that are due at these times. Each asks when it is due and again when its wait is over, late by `lateMs`. */
function publishAll(dueTimes: number[], limits = FIVE, lateMs: (asks: number) => number = () => 0) {
  const quota = account(limits)
  const ids = dueTimes.map((_, index) => String(index).padStart(4, '0'))
  const asking = ids.map((id, index) => ({ id, dueMs: dueTimes[index]!, atMs: dueTimes[index]! }))
  const published: { id: string; dueMs: number; atMs: number }[] = []
  let asks = 0
  while (asking.length > 0) {
    asking.sort((one, other) => one.atMs - other.atMs || one.dueMs - other.dueMs || (one.id < other.id ? -1 : 1))
    const next = asking.shift()!
    quota.at(next.atMs)
    const turn = quota.ask(next.id, next.dueMs)
    asks += 1
    if (isGranted(turn)) published.push(next)
    else asking.push({ ...next, atMs: next.atMs + waitOf(turn) + lateMs(asks) })
  }
  return { published, asks }
}

describe('the publications of an account', () => {
  it('are granted up to the limit, and then wait for the first window that ends', () => {
    const quota = account()
    for (const id of ['a', 'b', 'c', 'd', 'e']) expect(isGranted(quota.ask(id))).toBe(true)
    const refused = quota.ask('f')
    expect(refused).toMatchObject({ limit: { limit: 5, windowMs: HOUR } })
    expect(waitOf(refused)).toBeGreaterThanOrEqual(HOUR + ARRIVAL_MS)
    expect(waitOf(refused)).toBeLessThanOrEqual(HOUR + SLACK_MS)
    quota.pass(waitOf(refused) - 1)
    expect(isGranted(quota.ask('f'))).toBe(false)
    quota.pass(1)
    expect(isGranted(quota.ask('f'))).toBe(true)
  })

  it('wait for the widest of their limits', () => {
    const limits = [...FIVE, { span: 'day', limit: 2, windowMs: DAY }]
    const quota = account(limits)
    quota.ask('a')
    quota.ask('b')
    expect(quota.ask('c')).toMatchObject({ limit: { limit: 2, windowMs: DAY } })
  })

  it('get a turn of their own each, so that they do not all come back together', () => {
    const quota = account()
    for (let index = 0; index < 5; index++) {
      quota.ask(`used ${index}`)
      quota.pass(10 * MINUTE)
    }
    const waits = ['a', 'b', 'c'].map((id, index) => waitOf(quota.ask(id, 50 * MINUTE + index)))
    expect(waits[1]! - waits[0]!).toBeGreaterThan(9 * MINUTE)
    expect(waits[2]! - waits[1]!).toBeGreaterThan(9 * MINUTE)
  })

  it('do not pass an earlier one that waits', () => {
    const quota = account()
    for (let index = 0; index < 5; index++) quota.ask(`used ${index}`)
    const first = waitOf(quota.ask('first', 1))
    quota.pass(first)
    quota.report(1)
    expect(isGranted(quota.ask('later', 2))).toBe(false)
    expect(isGranted(quota.ask('first', 1))).toBe(true)
  })

  it('take the turn of one that does not come back', () => {
    const quota = account()
    for (let index = 0; index < 5; index++) quota.ask(`used ${index}`)
    const wait = waitOf(quota.ask('lost', 1))
    quota.pass(wait)
    quota.report(1)
    expect(isGranted(quota.ask('later', 2))).toBe(false)
    quota.pass(2 * MINUTE)
    expect(isGranted(quota.ask('later', 2))).toBe(true)
  })

  it('use a token again that was given back', () => {
    const quota = account()
    const turns = ['a', 'b', 'c', 'd', 'e'].map((id) => quota.ask(id))
    quota.report(0)
    expect(isGranted(quota.ask('f'))).toBe(false)
    const [first] = turns
    if (isGranted(first!)) quota.takeBack(first.grant)
    expect(isGranted(quota.ask('f'))).toBe(true)
    expect(isGranted(quota.ask('g'))).toBe(false)
  })

  it('are limited by what the platform reports, until its reset', () => {
    const quota = account()
    quota.report(1, 5, 20 * MINUTE)
    expect(isGranted(quota.ask('a'))).toBe(true)
    expect(waitOf(quota.ask('b'))).toBe(20 * MINUTE)
    quota.pass(20 * MINUTE)
    expect(isGranted(quota.ask('b'))).toBe(true)
  })

  it('follow another limit that the platform reports', () => {
    const quota = account()
    quota.report(100, 100)
    const granted = Array.from({ length: 120 }, (_, index) => quota.ask(`post ${index}`)).filter(isGranted)
    expect(granted).toHaveLength(100)
  })

  it('never exceed a limit in a sliding window, whenever they ask and arrive', () => {
    const step = fc.record({
      pauseMs: fc.nat({ max: 20 * MINUTE }),
      isLate: fc.boolean(),
      isGivenBack: fc.boolean(),
      reported: fc.option(fc.nat({ max: 6 })),
    })
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 60 }), (steps) => {
        const quota = account()
        const arrivals: number[] = []
        steps.forEach(({ pauseMs, isLate, isGivenBack, reported }, index) => {
          quota.pass(pauseMs)
          if (reported !== null) quota.report(reported)
          const turn = quota.ask(`post ${index}`, index)
          if (!isGranted(turn)) return
          if (isGivenBack) quota.takeBack(turn.grant)
          else arrivals.push(quota.now() + (isLate ? ARRIVAL_MS : 0))
        })
        const sorted = arrivals.toSorted((one, other) => one - other)
        sorted.slice(5).forEach((at, index) => expect(at - sorted[index]!).toBeGreaterThanOrEqual(HOUR))
      }),
    )
  })

  it('are published in due order, save for their own lateness, and as soon as there is room', () => {
    const dueTimes = fc.array(fc.nat({ max: 3 * HOUR }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(dueTimes, fc.nat({ max: MINUTE }), (times, lateMs) => {
        const sorted = times.toSorted((one, other) => one - other)
        const { published, asks } = publishAll(sorted, FIVE, (asked) => (asked * 7_919) % (lateMs + 1))
        published.forEach(({ dueMs, atMs }, index) => {
          const passed = published.slice(index).filter((later) => later.dueMs < dueMs)
          for (const one of passed) expect(one.atMs - atMs).toBeLessThanOrEqual(lateMs)
        })
        expect(asks).toBeLessThanOrEqual(3 * times.length)
        published.forEach(({ dueMs, atMs }, index) => {
          const before = published[index - 5]
          const roomAt = before ? before.atMs + HOUR + SLACK_MS : 0
          expect(atMs).toBeLessThanOrEqual(Math.max(dueMs, roomAt, published[index - 1]?.atMs ?? 0) + MINUTE)
        })
      }),
    )
  })

  it('get the same turns together as one after the other in due order', () => {
    const asks = fc.uniqueArray(fc.nat({ max: 60 }), { minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(asks, asks, fc.nat({ max: 7 }), (waiting, wanted, used) => {
        const now = new Date(START)
        const toRequest = (id: number) => ({
          ...{ id: String(id), dueAt: new Date(START + (id % 10)), limits: FIVE, arrivalMs: ARRIVAL_MS },
        })
        const askOneByOne = (record: PublicationRecord, requests: ReturnType<typeof toRequest>[]) => {
          const turns = new Map<string, unknown>()
          const inOrder = requests.toSorted(
            (one, other) => one.dueAt.getTime() - other.dueAt.getTime() || (one.id < other.id ? -1 : 1),
          )
          for (const request of inOrder) {
            const answered = requestPublications(record, [request], now)
            record = answered.record
            turns.set(request.id, answered.turns[0])
          }
          return { record, turns: requests.map(({ id }) => turns.get(id)) }
        }
        const grants = Array.from({ length: used }, (_, index) => toRequest(100 + index))
        const { record } = askOneByOne(UNUSED, [...grants, ...waiting.map(toRequest)])
        const requests = wanted.map(toRequest)
        expect(requestPublications(record, requests, now)).toEqual(askOneByOne(record, requests))
      }),
    )
  })

  it('beyond the stored queue are published in due order as well', () => {
    const { published, asks } = publishAll(
      Array.from({ length: 2_500 }, (_, index) => index),
      [{ span: 'hour', limit: 100, windowMs: HOUR }],
    )
    expect(published.map(({ dueMs }) => dueMs)).toEqual(Array.from({ length: 2_500 }, (_, index) => index))
    expect(asks).toBeLessThanOrEqual(4 * 2_500)
  })
})

describe('the use of a quota', () => {
  it('names what is used, what waits and when there is room', () => {
    const quota = account()
    expect(quota.use()).toEqual([{ limit: 5, used: 0, windowMs: HOUR, nextFreeAt: null, resetsAt: null, waiting: 0 }])
    for (let index = 0; index < 5; index++) {
      quota.ask(`used ${index}`)
      quota.pass(MINUTE)
    }
    const wait = waitOf(quota.ask('waiting', 5 * MINUTE))
    const [use] = quota.use()
    expect(use).toMatchObject({ limit: 5, used: 5, waiting: 1 })
    expect(use!.nextFreeAt!.getTime()).toBeGreaterThanOrEqual(quota.now() + wait)
    expect(use!.resetsAt!.getTime()).toBeGreaterThanOrEqual(START + 4 * MINUTE + HOUR)
  })
})

describe('a forecast delay', () => {
  const every = (minutes: number, count: number) =>
    Array.from({ length: count }, (_, index) => index * minutes * MINUTE)

  it('is none while the posts before leave room', () => {
    const { forecast } = account()
    expect(forecast(every(10, 4), 50 * MINUTE)).toBe(null)
    expect(forecast(every(20, 60), 20 * HOUR)).toBe(null)
  })

  it('ends a window after the post that is as many posts before as the limit', () => {
    const { forecast } = account()
    expect(forecast(every(10, 5), 50 * MINUTE)).toEqual({ limit: 5, windowMs: HOUR, freeAt: new Date(START + HOUR) })
    expect(forecast([0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 0)).toMatchObject({ freeAt: new Date(START + 2 * HOUR) })
  })

  it('includes what was published, what waits and what the platform reported', () => {
    const quota = account()
    for (let index = 0; index < 3; index++) quota.ask(`used ${index}`)
    expect(quota.forecast([MINUTE], 2 * MINUTE)).toBe(null)
    expect(quota.forecast([MINUTE, MINUTE], 2 * MINUTE)).not.toBe(null)
    quota.report(0)
    expect(quota.forecast([], 2 * MINUTE)).not.toBe(null)
    expect(quota.forecast([], 2 * HOUR)).toBe(null)
  })

  it('is about the delay that then takes place', () => {
    const dueTimes = fc.array(fc.nat({ max: 3 * HOUR }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(dueTimes, (times) => {
        const sorted = times.toSorted((one, other) => one - other)
        const { published } = publishAll(sorted)
        const dueMs = sorted.at(-1)!
        const forecasted = account().forecast(sorted.slice(0, -1), dueMs)?.freeAt.getTime() ?? START + dueMs
        const actual = START + published.at(-1)!.atMs
        expect(actual).toBeGreaterThanOrEqual(forecasted)
        expect(actual).toBeLessThanOrEqual(forecasted + MINUTE + Math.ceil(sorted.length / 5) * SLACK_MS)
      }),
    )
  })
})

it('a limit is described by its number and its hours', () => {
  const [hour, day] = PUBLICATION_LIMITS.bluesky
  expect(describePublicationLimit('bluesky', hour)).toBe('Bluesky accepts 1666 posts of an account in an hour')
  expect(describePublicationLimit('bluesky', day)).toBe('Bluesky accepts 11666 posts of an account in 24 hours')
})
