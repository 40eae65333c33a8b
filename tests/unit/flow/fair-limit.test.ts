import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFairLimit, QueueFull } from '../../../src/flow/fair-limit.ts'

/** Runs jobs that end when the test calls `end`. `started` has their names in the order of their starts. */
function createJobs(limit: ReturnType<typeof createFairLimit>) {
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const run = (key: string, name: string, signal?: AbortSignal, weight?: number) =>
    limit(
      key,
      async () => {
        started.push(name)
        await new Promise<void>((resolve) => ends.set(name, resolve))
      },
      { signal, ...(weight !== undefined && { weight }) },
    )
  const end = async (name: string) => {
    ends.get(name)!()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { started, run, end }
}

describe('a fair limit', () => {
  it('waiting keys take turns, however many jobs each has', async () => {
    const { started, run, end } = createJobs(createFairLimit({ maxRunning: 1 }))
    const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => run(name[0]!, name))
    for (const name of ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']) {
      expect(started.at(-1)).toBe(name)
      await end(name)
    }
    await Promise.all(all)
  })

  it('a new key waits for at most one job of a key with a thousand jobs', async () => {
    const { started, run, end } = createJobs(createFairLimit({ maxRunning: 1 }))
    const many = Array.from({ length: 1_000 }, (_, index) => run('many', `many ${index}`))
    const one = run('one', 'one')
    await end('many 0')
    expect(started).toEqual(['many 0', 'one'])
    await end('one')
    await one
    for (let index = 1; index < 1_000; index++) await end(`many ${index}`)
    await Promise.all(many)
  })

  it('a limit per key keeps a slot free for other keys', async () => {
    const { started, run, end } = createJobs(createFairLimit({ maxRunning: 2, perKey: 1 }))
    const all = [run('a', 'a1'), run('a', 'a2'), run('b', 'b1'), run('c', 'c1')]
    expect(started).toEqual(['a1', 'b1'])
    await end('b1')
    expect(started).toEqual(['a1', 'b1', 'c1'])
    await end('c1')
    expect(started).toHaveLength(3)
    await end('a1')
    await end('a2')
    await Promise.all(all)
  })

  it('the limit never runs more jobs than allowed, whatever fails', async () => {
    const limit = createFairLimit({ maxRunning: 3, perKey: 2 })
    let running = 0
    let most = 0
    let mostPerKey = 0
    const runningPerKey = new Map<number, number>()
    const work = async (index: number) => {
      const key = index % 2
      running += 1
      runningPerKey.set(key, (runningPerKey.get(key) ?? 0) + 1)
      most = Math.max(most, running)
      mostPerKey = Math.max(mostPerKey, runningPerKey.get(key)!)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      runningPerKey.set(key, runningPerKey.get(key)! - 1)
      if (index % 3 === 0) throw new Error('failed')
    }
    const results = await Promise.allSettled(
      Array.from({ length: 200 }, (_, index) => limit(String(index % 2), () => work(index))),
    )
    expect([most, mostPerKey]).toEqual([3, 2])
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(67)
  })

  it('a full queue rejects the key that filled it and admits the others', async () => {
    const { started, run, end } = createJobs(createFairLimit({ maxRunning: 1, waiting: 4 }))
    const all = ['a0', 'a1', 'a2', 'a3', 'a4'].map((name) => run('a', name))
    await expect(run('a', 'a5')).rejects.toBeInstanceOf(QueueFull)
    all.push(run('b', 'b1'), run('b', 'b2'))
    await expect(run('b', 'b3')).rejects.toBeInstanceOf(QueueFull)
    for (const name of ['a0', 'b1', 'a1', 'b2', 'a2', 'a3', 'a4']) {
      expect(started.at(-1)).toBe(name)
      await end(name)
    }
    await Promise.all(all)
  })

  it('a full queue admits a key with less than an equal share, and no other', async () => {
    const { run, end } = createJobs(createFairLimit({ maxRunning: 1, waiting: 3 }))
    const all = ['x0', 'b1', 'b2', 'a1'].map((name) => run(name[0]!, name))
    await expect(run('b', 'b3')).rejects.toBeInstanceOf(QueueFull)
    all.push(run('a', 'a2'))
    await expect(run('a', 'a3')).rejects.toBeInstanceOf(QueueFull)
    for (const name of ['x0', 'b1', 'a1', 'b2', 'a2']) await end(name)
    await Promise.all(all)
  })

  it('keys that wait no longer do not reduce the share of the others', async () => {
    const { run, end } = createJobs(createFairLimit({ maxRunning: 1, waiting: 3 }))
    const earlier = ['y0', 'c1'].map((name) => run(name[0]!, name))
    for (const name of ['y0', 'c1']) await end(name)
    await Promise.all(earlier)
    const all = ['x0', 'b1', 'b2', 'a1', 'a2'].map((name) => run(name[0]!, name))
    for (const name of ['x0', 'b1', 'a1', 'b2', 'a2']) await end(name)
    await Promise.all(all)
  })

  it('a cancelled job of a key leaves the limit of that key as it is', async () => {
    const { started, run, end } = createJobs(createFairLimit({ maxRunning: 2, perKey: 1 }))
    const cancelled = new AbortController()
    const first = run('a', 'a1')
    const second = run('a', 'a2', cancelled.signal)
    cancelled.abort(new Error('not waited for'))
    await expect(second).rejects.toThrow('not waited for')
    const third = run('a', 'a3')
    expect(started).toEqual(['a1'])
    await end('a1')
    expect(started).toEqual(['a1', 'a3'])
    await end('a3')
    await Promise.all([first, third])
  })

  it('the number of waiting jobs per key is limited', async () => {
    const { run, end } = createJobs(createFairLimit({ maxRunning: 1, waitingPerKey: 1 }))
    const all = [run('a', 'a0'), run('a', 'a1'), run('b', 'b1')]
    await expect(run('a', 'a2')).rejects.toBeInstanceOf(QueueFull)
    for (const name of ['a0', 'b1', 'a1']) await end(name)
    await Promise.all(all)
  })

  it('the number of waiting jobs never exceeds twice the limit, however many keys come', async () => {
    const { run, end } = createJobs(createFairLimit({ maxRunning: 1, waiting: 4 }))
    const all = Array.from({ length: 9 }, (_, index) => run(`key ${index}`, `job ${index}`))
    await expect(run('one more', 'one more')).rejects.toBeInstanceOf(QueueFull)
    for (let index = 0; index < 9; index++) await end(`job ${index}`)
    await Promise.all(all)
  })

  it('a cancelled job passes its turn to the next key', async () => {
    const { started, run, end } = createJobs(createFairLimit({ maxRunning: 1, waiting: 2 }))
    const cancelled = new AbortController()
    const first = run('a', 'a1')
    const cancelledJobs = [run('b', 'b1', cancelled.signal), run('a', 'a2', cancelled.signal)]
    cancelled.abort(new Error('not waited for'))
    await Promise.all(cancelledJobs.map((job) => expect(job).rejects.toThrow('not waited for')))
    const others = [run('c', 'c1'), run('b', 'b2')]
    await end('a1')
    await end('c1')
    await end('b2')
    await Promise.all([first, ...others])
    expect(started).toEqual(['a1', 'c1', 'b2'])
    await expect(run('a', 'a3', cancelled.signal)).rejects.toThrow('not waited for')
  })
})

describe('weighted turns', () => {
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  /** The weights of up to five keys. */
  const someWeights = fc.array(fc.double({ min: 1, max: 5, noNaN: true }), { minLength: 2, maxLength: 5 })

  /** Queues `jobs` for every key behind a job that holds the only place, and returns the keys in the order of their starts. */
  async function runAll(weights: number[], jobs: number): Promise<number[]> {
    const limit = createFairLimit({ maxRunning: 1 })
    const started: number[] = []
    const gate = Promise.withResolvers<void>()
    const first = limit('first', () => gate.promise)
    const all = weights.flatMap((weight, key) =>
      Array.from({ length: jobs }, () => limit(String(key), async () => void started.push(key), { weight })),
    )
    gate.resolve()
    await Promise.all([first, ...all])
    return started
  }

  it('a key starts as many jobs per turn as its weight', async () => {
    expect(await runAll([1, 2, 3], 4)).toEqual([0, 1, 1, 2, 2, 2, 0, 1, 1, 2, 0, 0])
  })

  it('while all keys wait, each gets a share in proportion to its weight', async () => {
    await fc.assert(
      fc.asyncProperty(someWeights, async (weights) => {
        const jobs = 60
        const started = await runAll(weights, jobs)
        // Until one key has no more jobs, all of them wait.
        const counts = weights.map(() => 0)
        for (const key of started) {
          counts[key]! += 1
          if (counts[key] === jobs) break
        }
        const turns = Math.min(...counts.map((count, key) => count / weights[key]!))
        // A key is at most one turn, and the job that its fraction has not earned yet, ahead of another.
        for (const [key, count] of counts.entries()) {
          expect(count).toBeLessThanOrEqual((turns + 1) * weights[key]! + weights[key]! + 1)
          expect(count).toBeGreaterThanOrEqual(turns * weights[key]! - 1)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('a waiting key is delayed by each other key by no more jobs than that key has weight, rounded up', async () => {
    await fc.assert(
      fc.asyncProperty(someWeights, fc.integer({ min: 0, max: 40 }), async (weights, before) => {
        const limit = createFairLimit({ maxRunning: 1 })
        const started: string[] = []
        const ends: (() => void)[] = []
        const job = (key: string) => () => {
          started.push(key)
          return new Promise<void>((resolve) => ends.push(resolve))
        }
        const all = weights.flatMap((weight, key) =>
          Array.from({ length: 60 }, () => limit(String(key), job(String(key)), { weight })),
        )
        const endOne = async () => {
          ends.shift()!()
          await settle()
        }
        for (let ended = 0; ended < before; ended++) await endOne()
        const isBefore = started.length
        all.push(limit('late', job('late')))
        while (!started.includes('late')) await endOne()
        for (const [key, weight] of weights.entries()) {
          const delays = started.slice(isBefore).filter((name) => name === String(key))
          expect(delays.length).toBeLessThanOrEqual(Math.ceil(weight))
        }
        while (ends.length > 0) await endOne()
        await Promise.all(all)
      }),
      { numRuns: 30 },
    )
  })

  it('a key that cannot use its turn because of its own limit saves nothing of it', async () => {
    const { started, run, end } = createJobs(createFairLimit({ maxRunning: 4, perKey: 3 }))
    const names = (key: string, count: number) => Array.from({ length: count }, (_, index) => `${key}${index + 1}`)
    const all = [
      ...names('a', 3).map((name) => run('a', name, undefined, 2)),
      run('x', 'x1'),
      ...['a4', 'a5', 'a6', 'a7'].map((name) => run('a', name, undefined, 2)),
      ...names('b', 5).map((name) => run('b', name)),
    ]
    // When b2 ends, the turn of `a` has a job left, but three jobs of `a` run.
    for (const name of ['x1', 'a1', 'b1', 'b2', 'a2', 'b3', 'a3', 'a4']) await end(name)
    expect(started.slice(4)).toEqual(['b1', 'b2', 'a4', 'b3', 'b4', 'a5', 'a6', 'b5'])
    for (const name of ['b4', 'a5', 'a6', 'b5', 'a7']) await end(name)
    await Promise.all(all)
  })
})
