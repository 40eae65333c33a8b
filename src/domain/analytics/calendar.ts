import { Temporal } from '@js-temporal/polyfill'
import { MINUTE } from '../shared/times.ts'
import type { Period, Window } from './analytics.ts'

/** A calendar day in the user's timezone. */
export interface CalendarDay {
  /** `YYYY-MM-DD`. */
  date: string
  /** The day lasts until the next one starts, usually 23, 24 or 25 hours. */
  start: Date
}

const PERIOD_DAYS: Record<Period, number> = { '7d': 7, '30d': 30 }

/** Returns the window of a period: whole days in the user's timezone, ending today. */
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

/** Returns how many calendar days in the user's timezone the later instant is after the earlier one. */
export function countDaysBetween(earlier: Date, later: Date, timezone: string): number {
  return toZoned(earlier, timezone).toPlainDate().until(toZoned(later, timezone).toPlainDate()).days
}

export function isSameDay(one: Date, other: Date, timezone: string): boolean {
  return toZoned(one, timezone).toPlainDate().equals(toZoned(other, timezone).toPlainDate())
}

/** Returns the first instant after the calendar day of an instant in the user's timezone. */
export function findEndOfDay(instant: Date, timezone: string): Date {
  return toStartOfDay(toZoned(instant, timezone).toPlainDate().add({ days: 1 }), timezone)
}

/** No timezone's hours begin within a quarter of a UTC hour. */
const QUARTER_MS = 15 * MINUTE

/**
 * Creates the function that returns the day of the week (0 is Sunday) and the hour in the user's timezone. It converts each quarter of an
 * hour once, because a conversion takes about 25 µs, and users have many posts.
 */
export function createHourOfWeek(timezone: string): (instant: Date) => { day: number; hour: number } {
  const known = new Map<number, { day: number; hour: number }>()
  return (instant) => {
    const quarter = Math.floor(instant.getTime() / QUARTER_MS)
    const found = known.get(quarter)
    if (found) return found
    const { dayOfWeek, hour } = toZoned(instant, timezone)
    const converted = { day: dayOfWeek % 7, hour }
    known.set(quarter, converted)
    return converted
  }
}

/** Returns the first instant of a date, which is not midnight where daylight saving skips it. */
function toStartOfDay(date: Temporal.PlainDate, timezone: string): Date {
  return new Date(date.toZonedDateTime(timezone).epochMilliseconds)
}

function toZoned(instant: Date, timezone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(timezone)
}
