import { describe, expect, it } from 'vitest'
import { findRangeProblem, sumByDay } from '../../../../src/domain/posts/day-counts.ts'
import { DAY, HOUR } from '../../../../src/domain/shared/times.ts'
import { after, T0 } from '../../../support/posts.ts'

describe('sumByDay', () => {
  const days = [
    { date: '2026-03-01', start: T0 },
    { date: '2026-03-02', start: after(T0, DAY) },
    { date: '2026-03-03', start: after(T0, 2 * DAY) },
  ]

  it('a slot belongs to the day that it begins in, in any order', () => {
    const slots = [
      { at: after(T0, 2 * DAY), status: 'FAILED' as const, count: 4 },
      { at: after(T0, DAY - 1), status: 'SCHEDULED' as const, count: 2 },
      { at: T0, status: 'SCHEDULED' as const, count: 1 },
      { at: T0, status: 'DRAFT' as const, count: 1 },
    ]
    expect(sumByDay(days, slots)).toEqual([
      { date: '2026-03-01', total: 4, statuses: { SCHEDULED: 3, DRAFT: 1 } },
      { date: '2026-03-02', total: 0, statuses: {} },
      { date: '2026-03-03', total: 4, statuses: { FAILED: 4 } },
    ])
  })

  it('slots before the first day and after the last day belong to those days', () => {
    const slots = [after(T0, -1), after(T0, 9 * DAY)].map((at) => ({ at, status: 'DRAFT' as const, count: 1 }))
    expect(sumByDay(days, slots).map(({ total }) => total)).toEqual([1, 0, 1])
  })
})

describe('findRangeProblem', () => {
  it.each([
    [0, null],
    [400 * DAY + HOUR - 1, null],
    [400 * DAY + HOUR, 'TOO_LONG'],
    [-1, 'INVALID'],
  ])('the problem of a range of %d ms is %s', (length, code) => {
    expect(findRangeProblem({ from: T0, to: after(T0, length) })?.code ?? null).toBe(code)
  })
})
