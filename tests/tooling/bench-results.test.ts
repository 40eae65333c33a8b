import { expect, test } from 'vitest'
import { drawChart, type Chart } from '../../bench/chart.ts'
import { figureOfRounds } from '../../bench/figure.ts'
import { parseResponse } from '../../bench/load.ts'
import { assertFlawless, judgePunctuality } from '../../bench/punctuality.ts'
import { inTurns } from '../../bench/loops.ts'

const chart: Chart = {
  id: 'example',
  title: 'Costs & <growth>',
  x: { label: 'posts', log: true },
  y: { label: 'ms', log: true },
  lines: [
    {
      name: 'ours',
      points: [
        [1, 5],
        [2_000, 900],
      ],
    },
    {
      name: 'bare',
      points: [
        [1, 110],
        [2_000, 905],
      ],
    },
  ],
}

test('a chart shows every point and names each line at its end without overlaps', () => {
  const svg = drawChart(chart)
  expect(svg.match(/<circle/g)).toHaveLength(4)
  expect(svg).toContain('Costs &amp; &lt;growth>')
  expect(svg).toContain('ours: 900 at 2,000')
  const heights = [...svg.matchAll(/<text class="name"[^>]* y="([\d.]+)"/g)].map(([, y]) => Number(y))
  expect(heights).toHaveLength(2)
  expect(Math.abs(heights[0]! - heights[1]!)).toBeGreaterThanOrEqual(16)
})

test('the ratio of several rounds is the median of their ratios, so that one slow round has no effect', () => {
  const figure = figureOfRounds({ group: 'g', name: 'n', unit: '1/s', ours: [50, 40, 10], baseline: [100, 50, 40] })
  expect(figure).toMatchObject({ ours: 40, baseline: 50, ratio: 0.5 })
})

test('both sides of a benchmark alternate in starting a round', async () => {
  const order: string[] = []
  await inTurns(['bare', 'ours'], 3, async (side, round) => void order.push(`${side} ${round}`))
  expect(order).toEqual(['bare 0', 'ours 0', 'ours 1', 'bare 1', 'bare 2', 'ours 2'])
})

test('a call that arrives early, twice or never invalidates a lateness run', () => {
  const judge = (arrivals: Record<string, number[]>) =>
    judgePunctuality(
      [
        { id: 'a', dueAt: 1_000 },
        { id: 'b', dueAt: 2_000 },
      ],
      (id) => arrivals[id] ?? [],
    )
  const flawless = judge({ a: [1_004], b: [2_000] })
  expect(flawless).toEqual({ late: [4, 0], early: 0, twice: 0, lost: 0 })
  expect(() => assertFlawless('two posts', flawless)).not.toThrow()
  expect(judge({ a: [999], b: [2_000] })).toMatchObject({ early: 1 })
  expect(judge({ a: [1_004, 1_900], b: [2_000] })).toMatchObject({ late: [4, 0], twice: 1 })
  expect(judge({ b: [2_000] })).toMatchObject({ lost: 1 })
  expect(() => assertFlawless('two posts', judge({ b: [2_000] }))).toThrow('void')
})

test('an HTTP response is complete when all bytes of its body have arrived', () => {
  const response = 'HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\n{"a"'
  expect(parseResponse(response)).toEqual({ status: 201, text: '{"a"' })
  expect(parseResponse(response.slice(0, -1))).toBeNull()
  expect(parseResponse(response.slice(0, 30))).toBeNull()
})
