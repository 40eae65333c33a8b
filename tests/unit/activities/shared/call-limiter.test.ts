import { afterEach, describe, expect, it, vi } from 'vitest'
import { createCallLimiter, CapacityExceeded } from '../../../../src/activities/shared/call-limiter.ts'
import { createMetrics } from '../../../../src/telemetry/metrics.ts'
import { PlatformError } from '../../../../src/platforms/errors.ts'

const down = new PlatformError('transient', 'down', { certain: false })

const buildTarget = (server: string, userId = 'ann') => ({ platform: 'bluesky', server, userId }) as const

/** Creates calls to a server that hang until `release`. */
function createHangingCalls(limiter: ReturnType<typeof createCallLimiter>, server: string) {
  const gate = Promise.withResolvers<void>()
  let started = 0
  const send = (userId?: string) =>
    limiter.run(buildTarget(server, userId), async () => {
      started += 1
      await gate.promise
      return {}
    })
  return { send, started: () => started, release: () => gate.resolve() }
}

afterEach(() => vi.useRealTimers())

describe('the call limiter', () => {
  it('the call limiter makes the allowed number of calls concurrently and queues the rest', async () => {
    const { send, started, release } = createHangingCalls(createCallLimiter(2, createMetrics()), 'https://a')
    const sends = [send(), send(), send()]
    await Promise.resolve()
    expect(started()).toBe(2)
    release()
    await Promise.all(sends)
    expect(started()).toBe(3)
  })

  it('a hanging server does not delay calls to another server', async () => {
    const limiter = createCallLimiter(1, createMetrics())
    const stuck = createHangingCalls(limiter, 'https://hangs')
    const waiting = [stuck.send(), stuck.send()]
    expect(await limiter.run(buildTarget('https://answers'), async () => ({ published: 1 }))).toEqual({ published: 1 })
    stuck.release()
    await Promise.all(waiting)
  })

  it('the call limiter rejects calls when its queue is full', async () => {
    const { send, release } = createHangingCalls(createCallLimiter(1, createMetrics()), 'https://a')
    const sends = Array.from({ length: 6_001 }, () => send())
    await expect(send()).rejects.toBeInstanceOf(CapacityExceeded)
    release()
    await Promise.all(sends)
  })

  it('a user who fills the queue does not delay the next call of another user', async () => {
    const limiter = createCallLimiter(1, createMetrics())
    const gate = Promise.withResolvers<void>()
    const sent: string[] = []
    const sendAs = (userId: string) =>
      limiter.run(buildTarget('https://a', userId), async () => {
        await gate.promise
        return { sent: sent.push(userId) }
      })
    const sends = Array.from({ length: 6_001 }, () => sendAs('many'))
    await expect(sendAs('many')).rejects.toBeInstanceOf(CapacityExceeded)
    sends.push(sendAs('one'))
    gate.resolve()
    await Promise.all(sends)
    expect(sent.indexOf('one')).toBe(1)
  })

  it('the call limiter counts waiting times and rejected calls', async () => {
    const metrics = createMetrics()
    const { send, release } = createHangingCalls(createCallLimiter(1, metrics), 'https://a')
    const sends = Array.from({ length: 6_001 }, () => send())
    await expect(send()).rejects.toBeInstanceOf(CapacityExceeded)
    release()
    await Promise.all(sends)
    const text = await metrics.text()
    expect(text).toContain('postonce_send_wait_seconds_count{platform="bluesky"} 6001')
    expect(text).toContain('postonce_sends_crowded_out_total{platform="bluesky",reason="full"} 1')
  })

  it('the call limiter stops all calls, queued ones included, to a server that keeps failing', async () => {
    const limiter = createCallLimiter(1, createMetrics())
    const fail = () => limiter.run(buildTarget('https://a'), async () => ({ error: down }))
    const results = await Promise.allSettled(Array.from({ length: 15 }, fail))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
    const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
    expect(reasons.filter((reason) => reason instanceof CapacityExceeded)).toHaveLength(5)
    await expect(fail()).rejects.toBeInstanceOf(CapacityExceeded)
  })

  it('refusals of a platform do not open the circuit breaker', async () => {
    const limiter = createCallLimiter(1, createMetrics())
    const refused = new PlatformError('validation', 'no', { certain: true })
    const refuse = () => limiter.run(buildTarget('https://a'), async () => ({ error: refused }))
    expect(await Promise.all(Array.from({ length: 20 }, refuse))).toHaveLength(20)
  })

  it('a recovering server gets one trial call before the other calls', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const limiter = createCallLimiter(3, createMetrics())
    const fail = () => limiter.run(buildTarget('https://a'), async () => ({ error: down }))
    await Promise.allSettled(Array.from({ length: 11 }, fail))
    vi.advanceTimersByTime(6_000)
    const { send, started, release } = createHangingCalls(limiter, 'https://a')
    const sends = [send(), send(), send()]
    await Promise.resolve()
    expect(started()).toBe(1)
    release()
    await Promise.all(sends)
    expect(started()).toBe(3)
  })
})
