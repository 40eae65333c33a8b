import { describe, expect, it } from 'vitest'
import { createCallLimiter, CapacityExceeded, ServerHeld } from '../../../../src/activities/shared/call-limiter.ts'
import { createMetrics } from '../../../../src/telemetry/metrics.ts'
import { PlatformError } from '../../../../src/platforms/errors.ts'

const down = new PlatformError('transient', 'down', { certain: false, unreachable: 'https://a' })

const throttled = new PlatformError('rate_limited', 'slow down', { certain: true })
const fixed = (count: number) => ({ start: count, most: count })

const buildTarget = (server: string, userId = 'ann', accountId = `${userId}'s account`) =>
  ({ platform: 'bluesky', server, userId, accountId }) as const

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

/** Lets every settled promise run its handlers. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('the call limiter', () => {
  it('a user with twice the weight makes twice the calls while another user waits', async () => {
    const limiter = createCallLimiter(fixed(1), createMetrics())
    const order: string[] = []
    const gate = Promise.withResolvers<void>()
    const call = (userId: string, weight: number) =>
      limiter.run({ ...buildTarget('https://a', userId), weight }, async () => {
        order.push(userId)
        await gate.promise
        return {}
      })
    const calls = [
      call('first', 1),
      ...Array.from({ length: 4 }, () => call('free', 1)),
      ...Array.from({ length: 4 }, () => call('pro', 2)),
    ]
    gate.resolve()
    await Promise.all(calls)
    expect(order).toEqual(['first', 'free', 'pro', 'pro', 'free', 'pro', 'pro', 'free', 'free'])
  })

  it('the call limiter makes the allowed number of calls concurrently and queues the rest', async () => {
    const { send, started, release } = createHangingCalls(createCallLimiter(fixed(2), createMetrics()), 'https://a')
    const sends = [send(), send(), send()]
    await Promise.resolve()
    expect(started()).toBe(2)
    release()
    await Promise.all(sends)
    expect(started()).toBe(3)
  })

  it('a hanging server does not delay calls to another server', async () => {
    const limiter = createCallLimiter(fixed(1), createMetrics())
    const stuck = createHangingCalls(limiter, 'https://hangs')
    const waiting = [stuck.send(), stuck.send()]
    expect(await limiter.run(buildTarget('https://answers'), async () => ({ published: 1 }))).toEqual({ published: 1 })
    stuck.release()
    await Promise.all(waiting)
  })

  it('the call limiter rejects calls when its queue is full', async () => {
    const { send, release } = createHangingCalls(createCallLimiter(fixed(1), createMetrics()), 'https://a')
    const sends = Array.from({ length: 6_001 }, () => send())
    await expect(send()).rejects.toBeInstanceOf(CapacityExceeded)
    release()
    await Promise.all(sends)
  })

  it('a user who fills the queue does not delay the next call of another user', async () => {
    const limiter = createCallLimiter(fixed(1), createMetrics())
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
    const { send, release } = createHangingCalls(createCallLimiter(fixed(1), metrics), 'https://a')
    const sends = Array.from({ length: 6_001 }, () => send())
    await expect(send()).rejects.toBeInstanceOf(CapacityExceeded)
    release()
    await Promise.all(sends)
    const text = await metrics.text()
    expect(text).toContain('postonce_send_wait_seconds_count{platform="bluesky"} 6001')
    expect(text).toContain('postonce_calls_rejected_total{platform="bluesky",reason="full"} 1')
  })

  it('the call limiter holds all further calls, queued ones included, of an account whose calls keep failing', async () => {
    const limiter = createCallLimiter(fixed(1), createMetrics())
    const call = (userId: string, result: object) => limiter.run(buildTarget('https://a', userId), async () => result)
    const failing = await Promise.allSettled(Array.from({ length: 15 }, () => call('ann', { error: down })))
    expect(failing.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    const reasons = failing.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
    expect(reasons.every((reason) => reason instanceof ServerHeld)).toBe(true)
    expect(await call('bob', { published: 1 })).toEqual({ published: 1 })
    await expect(call('ann', {})).rejects.toMatchObject({ reason: 'failing' })
  })

  it('a server that fails calls of three accounts gets no calls of other accounts', async () => {
    const limiter = createCallLimiter(fixed(1), createMetrics())
    const call = (userId: string, result: object) => limiter.run(buildTarget('https://a', userId), async () => result)
    for (const user of ['ann', 'bob', 'cem']) await call(user, { error: down })
    await expect(call('dan', {})).rejects.toMatchObject({ reason: 'failing' })
  })

  it('more calls run concurrently while their latency holds', async () => {
    const limiter = createCallLimiter({ start: 2, most: 8 }, createMetrics())
    const gates: PromiseWithResolvers<void>[] = []
    const send = () =>
      limiter.run(buildTarget('https://a'), async () => {
        const gate = Promise.withResolvers<void>()
        gates.push(gate)
        await gate.promise
        return { latencyMs: 5 }
      })
    const sends = Array.from({ length: 40 }, send)
    const started: number[] = []
    for (let round = 0; round < 4; round += 1) {
      const current = gates.splice(0)
      started.push(current.length)
      for (const gate of current) gate.resolve()
      await settle()
    }
    expect(started).toEqual([2, 4, 8, 8])
    while (gates.length > 0) {
      for (const gate of gates.splice(0)) gate.resolve()
      await settle()
    }
    await Promise.all(sends)
  })

  it('the first 429 of an account lowers the number of concurrent calls, its later ones do not', async () => {
    const limiter = createCallLimiter(fixed(8), createMetrics())
    const refuse = (userId: string) => limiter.run(buildTarget('https://a', userId), async () => ({ error: throttled }))
    const concurrent = async () => {
      const { send, started, release } = createHangingCalls(limiter, 'https://a')
      const sends = Array.from({ length: 20 }, () => send())
      await settle()
      const count = started()
      release()
      await Promise.all(sends)
      return count
    }
    for (let index = 0; index < 3; index += 1) await refuse('ann')
    expect(await concurrent()).toBe(4)
  })

  it('refusals of a platform hold no calls', async () => {
    const limiter = createCallLimiter(fixed(1), createMetrics())
    const refused = new PlatformError('validation', 'no', { certain: true })
    const refuse = () => limiter.run(buildTarget('https://a'), async () => ({ error: refused }))
    expect(await Promise.all(Array.from({ length: 20 }, refuse))).toHaveLength(20)
  })

  it('a failing server gets one call after the wait, and all calls after its success', async () => {
    let now = 0
    const limiter = createCallLimiter(fixed(3), createMetrics(), { now: () => now })
    const fail = () => limiter.run(buildTarget('https://a'), async () => ({ error: down }))
    await Promise.allSettled(Array.from({ length: 3 }, fail))
    now = 2_000
    const { send, started, release } = createHangingCalls(limiter, 'https://a')
    const probe = send()
    await expect(send()).rejects.toBeInstanceOf(ServerHeld)
    expect(started()).toBe(1)
    release()
    await probe
    await Promise.all([send(), send()])
    expect(started()).toBe(3)
  })
})
