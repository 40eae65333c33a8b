/** Adds months to an instant: the same day of the month, or its last day if it has none. Seconds, in UTC. */
export function addMonths(seconds: number, months: number): number {
  const from = new Date(seconds * 1_000)
  const year = from.getUTCFullYear()
  const month = from.getUTCMonth() + months
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  const midnight = Date.UTC(from.getUTCFullYear(), from.getUTCMonth(), from.getUTCDate())
  return (Date.UTC(year, month, Math.min(from.getUTCDate(), lastDay)) + from.getTime() - midnight) / 1_000
}
