import { describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from '../../../../src/domain/shared/times.ts'
import {
  hasFailedTooLong,
  HEALTHY,
  isFailing,
  isPaused,
  isWanted,
  noteFailure,
  noteSuccess,
  type WebhookHealth,
} from '../../../../src/domain/webhooks/webhooks.ts'

const START = new Date('2027-03-01T12:00:00Z')
const after = (ms: number) => new Date(START.getTime() + ms)
/** Without jitter. */
const MIDDLE = 0.5
const fail = (health: WebhookHealth, now: Date, statedWaitMs?: number) =>
  noteFailure(health, { now, random: MIDDLE, statedWaitMs })
const failTimes = (count: number) =>
  Array.from({ length: count }).reduce<WebhookHealth>((health) => fail(health, START), HEALTHY)
const pauseOf = (health: WebhookHealth, now: Date) => (health.pausedUntil?.getTime() ?? now.getTime()) - now.getTime()

describe('the pause of a failing receiver', () => {
  it.each([
    [1, 0],
    [4, 0],
    [5, 5 * SECOND],
    [6, 10 * SECOND],
    [8, 40 * SECOND],
    [12, 10 * MINUTE],
    [400, 10 * MINUTE],
  ])('after %i failures in a row attempts pause for %i ms', (count, pauseMs) => {
    const health = failTimes(count)
    expect(pauseOf(health, START)).toBe(pauseMs)
    expect(isPaused(health, START)).toBe(pauseMs > 0)
    expect(isPaused(health, after(pauseMs))).toBe(false)
    expect(isFailing(health)).toBe(count >= 5)
  })

  it('the jitter changes a pause by a fifth at most', () => {
    const before = failTimes(4)
    const pauses = [0, 1].map((random) => pauseOf(noteFailure(before, { now: START, random }), START))
    expect(pauses).toEqual([4 * SECOND, 6 * SECOND])
  })

  it('the wait that a receiver asks for extends its pause, up to a day', () => {
    expect(pauseOf(fail(HEALTHY, START, 90 * SECOND), START)).toBe(90 * SECOND)
    expect(pauseOf(fail(failTimes(5), START, 0), START)).toBe(10 * SECOND)
    expect(pauseOf(fail(HEALTHY, START, 30 * DAY), START)).toBe(DAY)
  })

  it('a success ends pause and series', () => {
    const health = noteSuccess(failTimes(7), after(MINUTE))
    expect(health).toMatchObject({ failures: 0, failingSince: null, pausedUntil: null, lastSuccessAt: after(MINUTE) })
    expect(isFailing(health)).toBe(false)
  })
})

describe('the end of a receiver that fails', () => {
  it('failures over five days end it, and a shorter series does not', () => {
    let health = fail(HEALTHY, START)
    for (let hours = 12; hours <= 5 * 24; hours += 12) {
      expect(hasFailedTooLong(health, after((hours - 12) * HOUR)), `${hours}`).toBe(false)
      health = fail(health, after(hours * HOUR))
    }
    expect(hasFailedTooLong(health, after(5 * DAY))).toBe(true)
    expect(hasFailedTooLong(noteSuccess(health, after(5 * DAY)), after(5 * DAY))).toBe(false)
  })

  it('a failure long after another one begins a new series', () => {
    const health = fail(fail(HEALTHY, START), after(6 * DAY))
    expect(health.failingSince).toEqual(after(6 * DAY))
    expect(hasFailedTooLong(health, after(6 * DAY))).toBe(false)
  })

  it('two days without an attempt still belong to the series', () => {
    expect(fail(fail(HEALTHY, START), after(2 * DAY)).failingSince).toEqual(START)
    expect(fail(fail(HEALTHY, START), after(2 * DAY + 1)).failingSince).toEqual(after(2 * DAY + 1))
  })
})

it('a webhook without types wants every type', () => {
  expect(isWanted({ events: [] }, 'post.created')).toBe(true)
  expect(isWanted({ events: ['post.failed'] }, 'post.created')).toBe(false)
  expect(isWanted({ events: ['post.failed'] }, 'post.failed')).toBe(true)
})
