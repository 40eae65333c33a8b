import { expect, test } from 'vitest'
import { figure } from '../../bench/figure.ts'
import { figuresSection } from '../../scripts/figures-table.ts'

test('the benchmark page shows every figure with its ratio and marks the targets that are missed', () => {
  const of = (name: string, ours: number) =>
    figure({
      group: 'throughput',
      name,
      unit: 'posts/s',
      ours,
      baseline: 2_000,
      aim: { text: 'at least half', met: ({ ratio }) => ratio >= 0.5 },
    })
  const section = figuresSection({
    startedAt: '2027-01-02T03:04:05.000Z',
    tookSeconds: 1,
    measuredLater: { costs: '2027-01-02T20:00:00.000Z', throughput: '2027-02-03T04:05:06.000Z' },
    machine: { processor: 'a processor', cores: 2, memoryGiB: 4 },
    versions: { node: 'v24' },
    figures: [of('fast', 1_234.5), of('slow', 500)],
    charts: [{ id: 'costs', title: 'Costs', x: { label: 'x', log: false }, y: { label: 'y', log: false }, lines: [] }],
  })
  expect(section).toContain('| throughput: fast | 1,230 posts/s | 2,000 posts/s | 0.62 | ✓ at least half |')
  expect(section).toContain('| throughput: slow | 500 posts/s | 2,000 posts/s | 0.25 | ✗ at least half |')
  expect(section).toContain('![Costs](../../bench/results/costs.svg)')
  expect(section).toContain('Measured 2027-01-02, throughput 2027-02-03 on 2 cores')
})
