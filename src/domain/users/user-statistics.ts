/** Numbers of users from the database. */
export interface UserCounts {
  total: number
  disabled: number
  pro: number
  createdThisMonth: number
  createdLastMonth: number
}

/** Returns the first instants of the current and the previous calendar month in UTC. */
export function findMonthStarts(now: Date): { thisMonth: Date; lastMonth: Date } {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  return { thisMonth: new Date(Date.UTC(year, month)), lastMonth: new Date(Date.UTC(year, month - 1)) }
}

/** Computes the response of `GET /api/admin/analytics`. */
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

/** Returns the growth in percent with two decimals. Growth from 0 counts as 100. */
function computeGrowthPercent(current: number, previous: number): number {
  if (previous === 0) return current > 0 ? 100 : 0
  return Math.round(((current - previous) / previous) * 10_000) / 100
}
