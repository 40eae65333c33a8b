import { Temporal } from '@js-temporal/polyfill'
import type { Window } from './analytics.ts'

/** A day as the user's clocks show it, or the part of it that a window begins with. */
export interface CalendarDay {
  /** `YYYY-MM-DD`. */
  date: string
  /** It lasts until the next one starts: 23, 24 or 25 hours, mostly. */
  start: Date
}

/** Every day that the window touches, in order; the first one starts with the window. */
export function daysOf({ start, end }: Window, timezone: string): CalendarDay[] {
  const last = zoned(end, timezone).toPlainDate()
  const days = [{ date: zoned(start, timezone).toPlainDate(), start }]
  for (let date = days[0]!.date; Temporal.PlainDate.compare(date, last) < 0;) {
    date = date.add({ days: 1 })
    days.push({ date, start: new Date(date.toZonedDateTime(timezone).epochMilliseconds) })
  }
  return days.map((day) => ({ ...day, date: day.date.toString() }))
}

/** Day of the week (0 is Sunday) and hour on the user's clocks. */
export function hourOfWeek(instant: Date, timezone: string): { day: number; hour: number } {
  const { dayOfWeek, hour } = zoned(instant, timezone)
  return { day: dayOfWeek % 7, hour }
}

function zoned(instant: Date, timezone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(timezone)
}
