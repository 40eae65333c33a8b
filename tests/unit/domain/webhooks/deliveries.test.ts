import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from '../../../../src/domain/shared/times.ts'
import {
  judgeStatus,
  planRetry,
  planRound,
  toOrderKey,
  type PendingDelivery,
} from '../../../../src/domain/webhooks/deliveries.ts'

const NOW = new Date('2027-03-01T12:00:00Z')
const at = (ms: number) => new Date(NOW.getTime() + ms)

describe('retries of a delivery', () => {
  function retryTimes(random: number): number[] {
    const times: number[] = []
    for (let [now, attemptCount] = [NOW, 1]; ; attemptCount += 1) {
      const next = planRetry({ firstAttemptAt: NOW, attemptCount, now, random })
      if (next === null) return times
      times.push(next.getTime() - NOW.getTime())
      now = next
    }
  }

  it('an event is retried after 5 s, then three times as long each time, then every 12 hours, for three days', () => {
    const times = retryTimes(0.5)
    const waits = times.map((time, index) => time - (times[index - 1] ?? 0))
    expect(waits.slice(0, 9)).toEqual([5, 15, 45, 135, 405, 1_215, 3_645, 10_935, 32_805].map((s) => s * SECOND))
    expect(new Set(waits.slice(9))).toEqual(new Set([12 * HOUR]))
    expect(times.at(-1)).toBeLessThanOrEqual(3 * DAY)
    expect(times.at(-1)! + 12 * HOUR).toBeGreaterThan(3 * DAY)
  })

  it('the jitter spreads retries, and never extends them beyond three days', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (random) => {
        const times = retryTimes(random)
        expect(times.length).toBeGreaterThan(10)
        expect(times.at(-1)).toBeLessThanOrEqual(3 * DAY)
        expect(times[0]).toBeGreaterThanOrEqual(4 * SECOND)
        expect(times[0]).toBeLessThanOrEqual(6 * SECOND)
      }),
    )
  })
})

describe('a round', () => {
  const fresh = (orderKey: string, nth: number): PendingDelivery => ({
    _id: `${orderKey}${nth}`,
    orderKey,
    firstAttemptAt: null,
    nextAttemptAt: at(-1),
  })
  const failed = (orderKey: string, nth: number, sinceMs: number, inMs: number): PendingDelivery => ({
    ...fresh(orderKey, nth),
    firstAttemptAt: at(-sinceMs),
    nextAttemptAt: at(inMs),
  })
  const plan = (...pending: PendingDelivery[]) => {
    const { chains, nextAt } = planRound(pending, NOW)
    return { chains: chains.map((chain) => chain.map(({ _id }) => _id)), nextAt }
  }

  it('events of a post are one chain, and posts are chains of their own', () => {
    expect(plan(fresh('a', 1), fresh('b', 1), fresh('a', 2))).toEqual({ chains: [['a1', 'a2'], ['b1']], nextAt: null })
  })

  it('a failed event holds back later ones of its post and of no other', () => {
    expect(plan(failed('a', 1, MINUTE, 5_000), fresh('a', 2), fresh('b', 1))).toEqual({
      chains: [['b1']],
      nextAt: at(5_000),
    })
  })

  it('a failed event whose retry is due comes before later ones', () => {
    expect(plan(failed('a', 1, MINUTE, 0), fresh('a', 2))).toEqual({ chains: [['a1', 'a2']], nextAt: null })
  })

  it('an event that has failed for an hour holds nothing back', () => {
    expect(plan(failed('a', 1, HOUR, 3 * HOUR), fresh('a', 2))).toEqual({ chains: [['a2']], nextAt: at(3 * HOUR) })
  })

  it('the next round is due when a hold ends, even if the retry comes later', () => {
    expect(plan(failed('a', 1, HOUR - MINUTE, 3 * HOUR), fresh('a', 2))).toEqual({ chains: [], nextAt: at(MINUTE) })
  })

  it('nothing pending means no further round', () => {
    expect(plan()).toEqual({ chains: [], nextAt: null })
  })
})

it.each([
  [200, 'delivered'],
  [204, 'delivered'],
  [299, 'delivered'],
  [199, 'failed'],
  [301, 'failed'],
  [404, 'failed'],
  [410, 'gone'],
  [429, 'failed'],
  [500, 'failed'],
  [null, 'failed'],
])('the status %s means %s', (status, verdict) => {
  expect(judgeStatus(status)).toBe(verdict)
})

it('events are ordered by post, else by account', () => {
  expect(toOrderKey({ id: 'e', data: { postId: 'p', accountId: 'a' } })).toBe('post p')
  expect(toOrderKey({ id: 'e', data: { accountId: 'a' } })).toBe('account a')
  expect(toOrderKey({ id: 'e', data: { accountId: null } })).toBe('e')
})
