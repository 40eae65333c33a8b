import { describe, expect, it } from 'vitest'
import {
  countAttempt,
  computeResetTime,
  refundAttempt,
  computeWait,
  type FailureLevel,
} from '../../../../src/domain/users/login-throttle.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../../../src/domain/shared/times.ts'

const FREE = 10
const start = new Date('2026-03-01T12:00:00Z')
const after = (ms: number) => new Date(start.getTime() + ms)

/** Returns the state after `count` failures, each as soon as the delay permits. */
function makeFailures(count: number, from = start): { state: FailureLevel; waits: number[] } {
  let state: FailureLevel | null = null
  const waits: number[] = []
  for (let done = 0; done < count; done += 1) {
    const now: Date = state && state.notBefore > from ? state.notBefore : from
    state = countAttempt(state, now, FREE)
    waits.push(computeWait(state, now))
  }
  return { state: state!, waits }
}

describe('the delay of an account', () => {
  it('the delay starts after the free failures, doubles from 1 s and stops at 15 minutes', () => {
    const { waits } = makeFailures(23)
    expect(waits.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 0))
    expect(waits.slice(10, 14)).toEqual([1, 2, 4, 8].map((seconds) => seconds * SECOND))
    expect(waits.slice(21)).toEqual(Array.from({ length: 2 }, () => 15 * MINUTE))
  })

  it('an attacker with any number of networks has about a hundred guesses a day', () => {
    let state: FailureLevel | null = null
    let guesses = 0
    for (let now = start.getTime(); now < start.getTime() + DAY; now += SECOND) {
      if (computeWait(state, new Date(now)) > 0) continue
      state = countAttempt(state, new Date(now), FREE)
      guesses += 1
    }
    expect(guesses).toBeLessThan(125)
  })

  it('attempts with the correct password do not raise the delay', () => {
    const { state } = makeFailures(10)
    let level: FailureLevel = state
    for (let round = 0; round < 5; round += 1) level = refundAttempt(countAttempt(level, start, FREE), start)
    expect([level.level, computeWait(level, start)]).toEqual([10, 0])
  })

  it('the delay falls with time and is gone hours after an attack', () => {
    const { state } = makeFailures(100)
    const end = computeResetTime(state)
    expect(end.getTime() - state.at.getTime()).toBeLessThan(6 * HOUR)
    expect(countAttempt(state, end, FREE)).toMatchObject({ level: 1, notBefore: end })
    expect(computeWait(null, after(0))).toBe(0)
  })
})
