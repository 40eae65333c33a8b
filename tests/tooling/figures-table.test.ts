import { expect, test } from 'vitest'
import { figure } from '../../bench/figure.ts'
import type { Results } from '../../bench/report.ts'
import { figuresSection } from '../../scripts/figures-table.ts'

const results: Results = {
  routes: {
    measuredAt: '2027-01-02T03:04:05.000Z',
    on: '2 cores',
    figures: [figure({ name: 'create a post; bare inserts', unit: 'requests/s', ours: [1_234.5], baseline: [2_000] })],
  },
  storage: {
    measuredAt: '2027-02-03T04:05:06.000Z',
    on: '2 cores',
    figures: [figure({ name: 'analytics of a post', unit: 'KiB', ours: [5, 6, 7, 5, 6, 7] })],
  },
}

test('the capacity page shows each figure with its machine, and names those that are to be measured', () => {
  const section = figuresSection(results, [
    ['routes', 'create a post'],
    ['storage', 'analytics'],
    ['storage', 'snapshots'],
    ['bursts', '1000 posts'],
  ])
  const cells = section.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  expect(cells).toContainEqual([
    '',
    'create a post; bare inserts',
    '1,230 requests/s',
    '2,000 requests/s',
    '0.615',
    '',
    '',
    '',
  ])
  expect(cells).toContainEqual(['', 'analytics of a post', '6 KiB', '', '', '5 to 7', '', ''])
  expect(section).toContain('Measured on 2 cores (routes 2027-01-02, storage 2027-02-03).')
  expect(section).toContain('Not measured since the last change: snapshots; 1000 posts.')
})
