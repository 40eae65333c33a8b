import { beforeEach, describe, expect, it } from 'vitest'
import { createAdaptiveLimit, type CallResult } from '../../../src/flow/adaptive-limit.ts'

const MINUTE_MS = 60_000
const answered = (latencyMs: number): CallResult => ({ latencyMs, isThrottled: false })
const THROTTLED: CallResult = { latencyMs: 5, isThrottled: true }

let clock = 0
beforeEach(() => {
  clock = 0
})

/**
 * Makes `calls` calls as soon as the limit lets them, in simulated time.
 * @param respond the result of a call that runs with `running` calls in all, itself included
 */
function simulate(
  limit: ReturnType<typeof createAdaptiveLimit>,
  calls: number,
  respond: (running: number) => CallResult,
) {
  const running: { end(): void; endsAt: number }[] = []
  let now = clock
  let waiting = calls
  let [highest, lowest] = [limit.current(), limit.current()]
  const begin = () => {
    waiting -= 1
    const call = limit.begin(now)
    const result = respond(running.length + 1)
    const endsAt = now + (result.latencyMs ?? 100)
    running.push({ endsAt, end: () => limit.end(call, result, endsAt) })
  }
  while (waiting + running.length > 0) {
    while (waiting > 0 && running.length < limit.current()) begin()
    running.sort((one, other) => one.endsAt - other.endsAt)
    const next = running.shift()!
    now = next.endsAt
    next.end()
    highest = Math.max(highest, limit.current())
    lowest = Math.min(lowest, limit.current())
  }
  const ms = now - clock
  clock = now
  return { ms, highest, lowest }
}

describe('the number of concurrent calls to a server', () => {
  it('the number doubles with every round of calls while the latency holds', () => {
    const limit = createAdaptiveLimit({ start: 32, most: 256 })
    const { ms, highest } = simulate(limit, 1_000, () => answered(200))
    // 32 + 64 + 128 + 256 + 256 + 256 + 8: seven rounds instead of 32.
    expect(ms).toBe(7 * 200)
    expect(highest).toBe(256)
  })

  it('the number stays near the capacity of a server that slows down above it', () => {
    const limit = createAdaptiveLimit({ start: 32, most: 256 })
    simulate(limit, 1_000, (running) => answered(100 * Math.max(1, running / 64)))
    const { highest, lowest } = simulate(limit, 5_000, (running) => answered(100 * Math.max(1, running / 64)))
    expect(lowest).toBeGreaterThan(48)
    expect(highest).toBeLessThan(128)
  })

  it('the number does not grow where more calls only wait for each other', () => {
    const limit = createAdaptiveLimit({ start: 32, most: 256 })
    const { highest, ms } = simulate(limit, 5_000, (running) => answered(10 * running))
    expect(highest).toBeLessThan(80)
    expect(ms).toBeLessThan(1.1 * 5_000 * 10)
  })

  it('the number does not grow while fewer calls run', () => {
    const limit = createAdaptiveLimit({ start: 4, most: 32 })
    for (let now = 0; now < 1_000; now += 10) limit.end(limit.begin(now), answered(10), now + 10)
    expect(limit.current()).toBe(4)
  })

  it('a 429 halves the number once for all calls that ran then, down to 4', () => {
    const limit = createAdaptiveLimit({ start: 32, most: 256 })
    const calls = Array.from({ length: 32 }, () => limit.begin(0))
    for (const call of calls) limit.end(call, THROTTLED, 5)
    expect(limit.current()).toBe(16)
    for (let now = 10; now < 100; now += 10) limit.end(limit.begin(now), THROTTLED, now + 5)
    expect(limit.current()).toBe(4)
  })

  it('after a 429, the number grows by one per round', () => {
    const limit = createAdaptiveLimit({ start: 32, most: 256 })
    limit.end(limit.begin(0), THROTTLED, 5)
    expect(limit.current()).toBe(16)
    clock = 5
    const { highest } = simulate(limit, 16 + 17 + 18, () => answered(100))
    expect([17, 18]).toContain(highest)
  })

  it('a configured number below 4 is not raised by a 429', () => {
    const limit = createAdaptiveLimit({ start: 2, most: 16 })
    limit.end(limit.begin(0), THROTTLED, 5)
    expect(limit.current()).toBe(2)
  })

  it('a minute after the last load, the number is as at the start', () => {
    const limit = createAdaptiveLimit({ start: 4, most: 32 })
    simulate(limit, 200, () => answered(100))
    expect(limit.current()).toBe(32)
    limit.begin(clock + MINUTE_MS / 2)
    expect(limit.current()).toBe(32)
    limit.begin(clock + 2 * MINUTE_MS)
    expect(limit.current()).toBe(4)
  })

  it('calls without a latency of the server change nothing', () => {
    const limit = createAdaptiveLimit({ start: 4, most: 32 })
    simulate(limit, 100, () => ({ latencyMs: null, isThrottled: false }))
    expect(limit.current()).toBe(4)
  })

  it('a number that may not grow stays', () => {
    const limit = createAdaptiveLimit({ start: 8, most: 8 })
    expect(simulate(limit, 100, () => answered(50))).toMatchObject({ highest: 8, lowest: 8 })
  })
})
