import { afterEach, describe, expect, it, vi } from 'vitest'
import { createCallLimiter, CapacityExceeded } from '../../../../src/activities/shared/call-limiter.ts'
import { createMetrics } from '../../../../src/telemetry/metrics.ts'
import { PlatformError } from '../../../../src/platforms/errors.ts'

const down = new PlatformError('transient', 'down', { certain: false })

/** Sends that hang until they are let go. */
const to = (server: string, userId = 'ann') => ({ platform: 'bluesky', server, userId }) as const

function hanging(bulkheads: ReturnType<typeof createCallLimiter>, server: string) {
  const gate = Promise.withResolvers<void>()
  let begun = 0
  const send = (userId?: string) =>
    bulkheads.run(to(server, userId), async () => {
      begun += 1
      await gate.promise
      return {}
    })
  return { send, begun: () => begun, letGo: () => gate.resolve() }
}

afterEach(() => vi.useRealTimers())

describe('a bulkhead', () => {
  it('lets so many send at once, and the others after them', async () => {
    const { send, begun, letGo } = hanging(createCallLimiter(2, createMetrics()), 'https://a')
    const sends = [send(), send(), send()]
    await Promise.resolve()
    expect(begun()).toBe(2)
    letGo()
    await Promise.all(sends)
    expect(begun()).toBe(3)
  })

  it('keeps a hanging server from holding up another one', async () => {
    const bulkheads = createCallLimiter(1, createMetrics())
    const stuck = hanging(bulkheads, 'https://hangs')
    const waiting = [stuck.send(), stuck.send()]
    expect(await bulkheads.run(to('https://answers'), async () => ({ published: 1 }))).toEqual({ published: 1 })
    stuck.letGo()
    await Promise.all(waiting)
  })

  it('sends the rest away when the line is too long', async () => {
    const { send, letGo } = hanging(createCallLimiter(1, createMetrics()), 'https://a')
    const sends = Array.from({ length: 2_001 }, () => send())
    await expect(send()).rejects.toBeInstanceOf(CapacityExceeded)
    letGo()
    await Promise.all(sends)
  })

  it('lets another user send while one has filled the line, and next', async () => {
    const bulkheads = createCallLimiter(1, createMetrics())
    const gate = Promise.withResolvers<void>()
    const sent: string[] = []
    const sendAs = (userId: string) =>
      bulkheads.run(to('https://a', userId), async () => {
        await gate.promise
        return { sent: sent.push(userId) }
      })
    const sends = Array.from({ length: 2_001 }, () => sendAs('many'))
    await expect(sendAs('many')).rejects.toBeInstanceOf(CapacityExceeded)
    sends.push(sendAs('one'))
    gate.resolve()
    await Promise.all(sends)
    expect(sent.indexOf('one')).toBe(1)
  })

  it('counts how long sends stood in line, and those it sent away', async () => {
    const metrics = createMetrics()
    const { send, letGo } = hanging(createCallLimiter(1, metrics), 'https://a')
    const sends = Array.from({ length: 2_001 }, () => send())
    await expect(send()).rejects.toBeInstanceOf(CapacityExceeded)
    letGo()
    await Promise.all(sends)
    const text = await metrics.text()
    expect(text).toContain('postonce_send_wait_seconds_count{platform="bluesky"} 2001')
    expect(text).toContain('postonce_sends_crowded_out_total{platform="bluesky",reason="full"} 1')
  })

  it('stops sending to a server that keeps failing, those in line included', async () => {
    const bulkheads = createCallLimiter(1, createMetrics())
    const fail = () => bulkheads.run(to('https://a'), async () => ({ error: down }))
    const results = await Promise.allSettled(Array.from({ length: 15 }, fail))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
    const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
    expect(reasons.filter((reason) => reason instanceof CapacityExceeded)).toHaveLength(5)
    await expect(fail()).rejects.toBeInstanceOf(CapacityExceeded)
  })

  it('does not take refusals for a server that is down', async () => {
    const bulkheads = createCallLimiter(1, createMetrics())
    const refused = new PlatformError('validation', 'no', { certain: true })
    const refuse = () => bulkheads.run(to('https://a'), async () => ({ error: refused }))
    expect(await Promise.all(Array.from({ length: 20 }, refuse))).toHaveLength(20)
  })

  it('sends one to see whether the server has recovered, and then the others', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const bulkheads = createCallLimiter(3, createMetrics())
    const fail = () => bulkheads.run(to('https://a'), async () => ({ error: down }))
    await Promise.allSettled(Array.from({ length: 11 }, fail))
    vi.advanceTimersByTime(6_000)
    const { send, begun, letGo } = hanging(bulkheads, 'https://a')
    const sends = [send(), send(), send()]
    await Promise.resolve()
    expect(begun()).toBe(1)
    letGo()
    await Promise.all(sends)
    expect(begun()).toBe(3)
  })
})
