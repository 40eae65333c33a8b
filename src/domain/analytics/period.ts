import { validationFailed } from '../shared/service-error.ts'
import { toPrecedingWindow, type Period, type Window } from './analytics.ts'
import { countDaysBetween, toPeriodWindow } from './calendar.ts'

/** The days of the longest period. */
export const MAX_PERIOD_DAYS = 400

/** A named period, or its first and last instant. */
export interface RequestedPeriod {
  period?: Period
  from?: Date
  to?: Date
}

interface PeriodContext {
  now: Date
  timezone: string
  /** How long snapshots are stored. */
  retentionDays: number
}

/**
 * Returns the window of a requested period; without one, of the last 30 days. It ends now at the latest.
 * @throws ServiceError VALIDATION_FAILED for a combination, an order, a length or an age that is not allowed
 */
export function toWindow({ period, from, to }: RequestedPeriod, context: PeriodContext): Window {
  const { now, timezone, retentionDays } = context
  if (!from) {
    if (to) throw refuse('from', 'REQUIRED', 'is required with to.')
    return toPeriodWindow(period ?? '30d', now, timezone)
  }
  if (period) throw refuse('period', 'NOT_ALLOWED', 'cannot be combined with from. Remove one of them.')
  if (from > now) throw refuse('from', 'NOT_ALLOWED', 'must not be in the future.')
  if (to && to < from) throw refuse('to', 'NOT_ALLOWED', 'must not be before from.')
  const end = to && to < now ? to : now
  if (countDaysBetween(from, end, timezone) >= MAX_PERIOD_DAYS)
    throw refuse('to', 'TOO_LONG', `must be at most ${MAX_PERIOD_DAYS} days after from, with both days counted.`)
  if (countDaysBetween(from, now, timezone) >= retentionDays)
    throw refuse(
      'from',
      'NOT_ALLOWED',
      `must be within the last ${retentionDays} days, because older figures are not stored.`,
    )
  return { start: from, end }
}

function refuse(path: string, code: string, message: string) {
  return validationFailed([{ path, code, message: `${path} ${message}` }])
}

/**
 * Returns the start of the preceding window, with which a window is compared; the window's own start when snapshots of the preceding one
 * have expired, so that there is no comparison with a part of it.
 */
export function findComparedSince(window: Window, storedSince: Date): Date {
  const { start } = toPrecedingWindow(window)
  return start < storedSince ? window.start : start
}
