import { expect, test } from 'vitest'
import { figure } from '../../bench/figure.ts'
import { tableOf } from '../../bench/report.ts'
import { median, percentile, signedRank } from '../../bench/stats.ts'

test('a percentile is a measured value and never rounds down', () => {
  const samples = [5, 1, 4, 2, 3]
  expect(median(samples)).toBe(3)
  expect(percentile(samples, 0.95)).toBe(5)
  expect(
    percentile(
      Array.from({ length: 100 }, (_, index) => index + 1),
      0.95,
    ),
  ).toBe(95)
  expect(() => percentile([], 0.5)).toThrow('no samples')
})

test('a figure is compared with its target by its ratio, and the table marks a missed target', () => {
  const measure = (ours: number) =>
    figure({
      group: 'routes',
      name: 'create post',
      unit: 'requests/s',
      ours,
      baseline: 400,
      aim: { text: 'at least 0.5', met: ({ ratio }) => ratio >= 0.5 },
    })
  expect(measure(200)).toMatchObject({ ratio: 0.5, met: true })
  expect(measure(100)).toMatchObject({ ratio: 0.25, met: false })
  expect(tableOf([measure(100)])).toContain('✗ at least 0.5')
})

test('the signed-rank test accepts random differences and detects a small constant one', () => {
  const noise = Array.from({ length: 200 }, (_, index) => Math.sin(index * 12.9898) * 5)
  expect(Math.abs(signedRank(noise))).toBeLessThan(2.58)
  expect(signedRank(noise.map((difference) => difference + 1))).toBeGreaterThan(2.58)
  expect(signedRank(noise.map((difference) => difference - 1))).toBeLessThan(-2.58)
  expect(signedRank([0, 0])).toBe(0)
})
