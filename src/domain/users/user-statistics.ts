/** What the database counts of all users, for one instant. */
export interface UserCounts {
  total: number
  disabled: number
  pro: number
  createdThisMonth: number
  createdLastMonth: number
}

/** The first instants of this calendar month and of the one before, in UTC. */
export function findMonthStarts(now: Date): { thisMonth: Date; lastMonth: Date } {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  return { thisMonth: new Date(Date.UTC(year, month)), lastMonth: new Date(Date.UTC(year, month - 1)) }
}

/** The figures of `GET /api/admin/analytics` (spec 4.7) by the formulas of contract section 8. */
export function computeUserStatistics({ total, disabled, pro, createdThisMonth, createdLastMonth }: UserCounts) {
  return {
    totalUsers: total,
    activeUsers: total - disabled,
    inactiveUsers: disabled,
    paidUsers: pro,
    monthlyGrowth: computeGrowthPercent(createdThisMonth, createdLastMonth),
    topPlan: pro > total - pro ? ('Professional' as const) : ('Free' as const),
  }
}

/** In percent, with two decimals. */
function computeGrowthPercent(current: number, previous: number): number {
  if (previous === 0) return current > 0 ? 100 : 0
  return Math.round(((current - previous) / previous) * 10_000) / 100
}
