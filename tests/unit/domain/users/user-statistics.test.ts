import { describe, expect, it } from 'vitest'
import { findMonthStarts, computeUserStatistics } from '../../../../src/domain/users/user-statistics.ts'

const none = { total: 0, disabled: 0, pro: 0, createdThisMonth: 0, createdLastMonth: 0 }

describe('the growth of a month', () => {
  it.each([
    [0, 0, 0],
    [5, 0, 100],
    [0, 4, -100],
    [4, 3, 33.33],
    [5, 3, 66.67],
    [3, 3, 0],
    [1_001, 1_000, 0.1],
  ])('monthly growth with %d users after %d is %d percent', (createdThisMonth, createdLastMonth, percent) => {
    expect(computeUserStatistics({ ...none, createdThisMonth, createdLastMonth }).monthlyGrowth).toBe(percent)
  })

  it('months follow the UTC calendar, even across a new year', () => {
    expect(findMonthStarts(new Date('2026-01-31T23:59:59.999Z'))).toEqual({
      thisMonth: new Date('2026-01-01T00:00:00Z'),
      lastMonth: new Date('2025-12-01T00:00:00Z'),
    })
    expect(findMonthStarts(new Date('2026-03-01T00:00:00+01:00')).thisMonth).toEqual(new Date('2026-02-01T00:00:00Z'))
  })
})

it.each([
  [0, 0, 'Free'],
  [4, 2, 'Free'],
  [5, 3, 'Professional'],
  [5, 2, 'Free'],
])('the top plan of %d users with %d on Pro is %s', (total, pro, topPlan) => {
  expect(computeUserStatistics({ ...none, total, pro }).topPlan).toBe(topPlan)
})

it('disabled users are inactive, and users on Pro are paid ones', () => {
  expect(computeUserStatistics({ ...none, total: 10, disabled: 3, pro: 4 })).toMatchObject({
    totalUsers: 10,
    activeUsers: 7,
    inactiveUsers: 3,
    paidUsers: 4,
  })
})
