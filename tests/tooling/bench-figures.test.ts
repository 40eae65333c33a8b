import { describe, expect, it } from 'vitest'
import { figure, measureRounds, type Bound, type Scale } from '../../bench/figure.ts'
import { judgeLateness } from '../../bench/lateness.ts'
import { cellsOf } from '../../bench/report.ts'
import { intervalOf, median, percentile } from '../../bench/stats.ts'
import { createCommandCounter } from '../support/driver-commands.ts'

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** All ways in which `count` values can be above and below zero, their median. */
const patterns = (count: number) =>
  Array.from({ length: 2 ** count }, (_, bits) => upTo(count).map((size, bit) => (bits & (1 << bit) ? size : -size)))

describe('statistics of the benchmark', () => {
  it('a percentile is a measured value and never rounds down', () => {
    expect(median([5, 1, 4, 2, 3])).toBe(3)
    expect(percentile([5, 1, 4, 2, 3], 0.95)).toBe(5)
    expect(percentile(upTo(100), 0.95)).toBe(95)
    expect(() => percentile([], 0.5)).toThrow('no samples')
  })

  it('fewer than six values have no interval', () => {
    expect(intervalOf([])).toBeNull()
    expect(intervalOf(upTo(5))).toBeNull()
    expect(intervalOf([3, 1, 2, 6, 5, 4])).toEqual([1, 6])
  })

  it.each([6, 7, 8, 9, 10, 12])(
    'the interval of %i values misses the median with a probability of at most 5 %%',
    (count) => {
      const missed = patterns(count).filter((values) => {
        const [low, high] = intervalOf(values)!
        return low > 0 || high < 0
      })
      expect(missed.length / 2 ** count).toBeLessThanOrEqual(0.05)
    },
  )

  it('more values make the interval narrower than their range', () => {
    expect(intervalOf(upTo(9))).toEqual([2, 8])
    expect(intervalOf(upTo(100))).toEqual([40, 61])
  })
})

describe('a figure', () => {
  const atMost = (limit: number, of: Bound['of'] = 'ratio'): Bound => ({ of, atMost: limit })
  const measured = { name: 'posts', unit: 'posts/s' }
  const baseline = [100, 110, 100, 90, 100, 100]

  it('has the ratio of the two numbers beside it', () => {
    // The median of the ratios of the rounds is 0.5.
    expect(figure({ ...measured, ours: [50, 40, 10], baseline: [100, 50, 40] })).toMatchObject({
      ours: 40,
      baseline: 50,
      ratio: 0.8,
    })
    expect(figure({ ...measured, ours: [1_234.5], baseline: [2_000.4] })).toMatchObject({ ratio: 1_230 / 2_000 })
  })

  it('meets or misses its bound only when the interval excludes it', () => {
    const judge = (ours: number[], bound: Bound) => figure({ ...measured, ours, baseline, bound }).verdict
    const ours = [50, 60, 55, 50, 52, 51]
    expect(judge(ours, atMost(0.7))).toBe('met')
    expect(judge(ours, atMost(0.3))).toBe('missed')
    expect(judge(ours, atMost(0.5))).toBe('undecided')
    expect(judge(ours, { of: 'ratio', atLeast: 0.3 })).toBe('met')
    expect(judge(ours, { of: 'ratio', atLeast: 0.7 })).toBe('missed')
    expect(judge(ours.slice(1), atMost(0.7))).toBe('undecided')
  })

  it('can bound our number, or how much it exceeds the baseline', () => {
    const ours = baseline.map((value) => value + 5)
    expect(figure({ ...measured, ours, baseline, bound: atMost(200, 'ours') })).toMatchObject({
      interval: [95, 115],
      verdict: 'met',
    })
    expect(figure({ ...measured, ours, baseline, bound: atMost(4, 'difference') })).toMatchObject({
      interval: [5, 5],
      verdict: 'missed',
    })
  })

  it('without a baseline has an interval of its own values', () => {
    expect(figure({ ...measured, ours: upTo(6) })).toMatchObject({ ratio: null, interval: [1, 6], verdict: null })
  })

  it('shows its verdict in the table', () => {
    const cells = (count: number) =>
      cellsOf(
        figure({ ...measured, ours: Array(count).fill(1_500), baseline: Array(count).fill(2_000), bound: atMost(1) }),
      )
    expect(cells(6)).toEqual(['posts', '1,500 posts/s', '2,000 posts/s', '0.75', '0.75 to 0.75', '✓ ratio at most 1'])
    expect(cells(5).slice(-2)).toEqual(['', 'undecided: ratio at most 1'])
  })
})

describe('rounds', () => {
  async function run(ratios: number[], scale: Scale = 'full') {
    const order: string[] = []
    let round = 0
    const sides = {
      bare: async () => (order.push('bare'), { rate: 100 }),
      ours: async () => (order.push('ours'), { rate: 100 * ratios[round++]! }),
    }
    const [found] = await measureRounds(sides, scale, ({ bare, ours }) => [
      figure({
        name: 'rate',
        unit: '',
        ours: ours.map(({ rate }) => rate!),
        baseline: bare.map(({ rate }) => rate!),
        bound: { of: 'ratio', atLeast: 1 },
      }),
    ])
    return { order, round, verdict: found!.verdict }
  }

  it('alternate in which side is first', async () => {
    const { order } = await run(Array(10).fill(1.1))
    expect(order.slice(0, 6)).toEqual(['bare', 'ours', 'ours', 'bare', 'bare', 'ours'])
  })

  it('end when the interval decides, after ten at the latest', async () => {
    expect(await run(Array(10).fill(1.1))).toMatchObject({ round: 6, verdict: 'met' })
    expect(await run([1.1, 0.9, ...Array<number>(8).fill(1.1)])).toMatchObject({ round: 9, verdict: 'met' })
    expect(await run(Array(10).fill(0.9))).toMatchObject({ round: 6, verdict: 'missed' })
    expect(await run(upTo(10).map((round) => (round % 2 ? 1.1 : 0.9)))).toMatchObject({
      round: 10,
      verdict: 'undecided',
    })
    expect(await run([1.1], 'quick')).toMatchObject({ round: 1, verdict: 'undecided' })
  })

  it('decide wrongly with a probability of at most 5.5 %, although each round may decide', async () => {
    const verdicts = await Promise.all(
      patterns(10).map(async (signs) => (await run(signs.map((sign) => 1 + sign / 100))).verdict),
    )
    const wrong = verdicts.filter((verdict) => verdict !== 'undecided').length
    expect(wrong / verdicts.length).toBeGreaterThan(0.03)
    expect(wrong / verdicts.length).toBeLessThanOrEqual(0.055)
  })
})

describe('measured posts', () => {
  it('a call that arrives early, twice or never invalidates a lateness run', () => {
    const due = [
      { id: 'a', dueAt: 1_000 },
      { id: 'b', dueAt: 2_000 },
    ]
    const judge = (arrivals: Record<string, number[]>) => judgeLateness(due, (id) => arrivals[id] ?? [])
    expect(judge({ a: [1_004], b: [2_007] })).toEqual([4, 7])
    expect(() => judge({ a: [999], b: [2_000] })).toThrow('void: 1 calls were early')
    expect(() => judge({ a: [1_004, 1_900], b: [2_000], c: [2_007] })).toThrow('1 were sent twice')
    expect(() => judge({ b: [2_000] })).toThrow('1 were never sent')
  })

  it('commands are counted by kind and collection', () => {
    const { counts, onCommand } = createCommandCounter()
    const send = (commandName: string, target: unknown) =>
      onCommand({ commandName, command: { [commandName]: target } } as unknown as Parameters<typeof onCommand>[0])
    for (const target of ['posts', 'posts', 'users']) send('find', target)
    send('commitTransaction', 1)
    send('getMore', 5)
    expect(counts).toEqual({ 'find posts': 2, 'find users': 1, commitTransaction: 1 })
  })
})
