import { Temporal } from '@js-temporal/polyfill'
import type { Period, Window } from './analytics.ts'

/** A day as the user's clocks show it. */
export interface CalendarDay {
  /** `YYYY-MM-DD`. */
  date: string
  /** It lasts until the next one starts: 23, 24 or 25 hours, mostly. */
  start: Date
}

const PERIOD_DAYS: Record<Period, number> = { '7d': 7, '30d': 30 }

/** Returns as many days of the user as the period names: the last one is today, and the first one starts at its beginning. */
export function toPeriodWindow(period: Period, now: Date, timezone: string): Window {
  const today = toZoned(now, timezone).toPlainDate()
  return { start: toStartOfDay(today.subtract({ days: PERIOD_DAYS[period] - 1 }), timezone), end: now }
}

/** Returns every day that the window touches, in order; the first one starts with the window. */
export function listDays({ start, end }: Window, timezone: string): CalendarDay[] {
  const last = toZoned(end, timezone).toPlainDate()
  const days = [{ date: toZoned(start, timezone).toPlainDate(), start }]
  for (let date = days[0]!.date; Temporal.PlainDate.compare(date, last) < 0;) {
    date = date.add({ days: 1 })
    days.push({ date, start: toStartOfDay(date, timezone) })
  }
  return days.map((day) => ({ ...day, date: day.date.toString() }))
}

/** Day of the week (0 is Sunday) and hour on the user's clocks. */
export function toHourOfWeek(instant: Date, timezone: string): { day: number; hour: number } {
  const { dayOfWeek, hour } = toZoned(instant, timezone)
  return { day: dayOfWeek % 7, hour }
}

/** The first instant that clocks show this date, which is not midnight where they skip it. */
function toStartOfDay(date: Temporal.PlainDate, timezone: string): Date {
  return new Date(date.toZonedDateTime(timezone).epochMilliseconds)
}

function toZoned(instant: Date, timezone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(timezone)
}
