import { expect, test } from 'vitest'
import { figure, figureOfRounds } from '../../bench/figure.ts'
import type { Results } from '../../bench/report.ts'
import { figuresSection } from '../../scripts/figures-table.ts'

const measured = { group: 'throughput', unit: 'posts/s' }
const results: Results = {
  startedAt: '2027-01-02T03:04:05.000Z',
  tookSeconds: 1,
  measuredLater: { throughput: '2027-02-03T04:05:06.000Z' },
  machine: { processor: 'a processor', cores: 2, memoryGiB: 4 },
  versions: { node: 'v24' },
  figures: [
    figure({ ...measured, name: 'one run', ours: 1_234.5, baseline: 2_000 }),
    figureOfRounds({ ...measured, name: 'rounds', ours: [40, 10, 30], baseline: [50, 40, 20] }),
    figure({ ...measured, group: 'memory', name: 'alone', ours: 5 }),
  ],
  charts: [],
}
const shown = results.figures.map(({ group, name }) => ({ group, name, label: name }))

test('the capacity page shows each figure with the ratio of its two numbers and the range of the rounds', () => {
  const section = figuresSection(results, shown)
  expect(section).toContain('| one run | 1,230 posts/s | 2,000 posts/s | 0.61 |  |')
  expect(section).toContain('| rounds | 30 posts/s | 40 posts/s | 0.75 | 0.25 to 1.50 |')
  expect(section).toContain('| alone | 5 posts/s |  |  |  |')
  expect(section).toContain('Measured between 2027-01-02 and 2027-02-03 on 2 cores')
})

test('a figure that the results lack is an error', () => {
  expect(() => figuresSection({ ...results, figures: [] }, shown)).toThrow('no figure "throughput: one run"')
})
