import { useUser } from '../session/session.ts'
import { toWallTime } from './wall-times.ts'

/** Formats instants in the zone of the user's profile and the locale of the browser. All take ISO strings. */
export function useTimes() {
  const { timezone } = useUser()
  const format = (options: Intl.DateTimeFormatOptions) => {
    const formatter = new Intl.DateTimeFormat(undefined, { timeZone: timezone, ...options })
    return (instant: string) => formatter.format(new Date(instant))
  }
  return {
    timezone,
    dateTime: format({ dateStyle: 'medium', timeStyle: 'short' }),
    date: format({ dateStyle: 'medium' }),
    /** Such as "May 1 – 30, 2026". */
    dateRange: (start: string, end: string) =>
      new Intl.DateTimeFormat(undefined, { timeZone: timezone, dateStyle: 'medium' }).formatRange(
        new Date(start),
        new Date(end),
      ),
    time: format({ timeStyle: 'short' }),
    /** The date of an instant, such as 2026-05-01. */
    dateOf: (instant: number) => toWallTime(instant, timezone).slice(0, 10),
    day: format({ weekday: 'long', day: 'numeric', month: 'long' }),
  }
}

const UNITS: [Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' })

/** Such as "in 5 minutes" or "2 days ago". */
export function fromNow(instant: string, now = Date.now()): string {
  const seconds = (Date.parse(instant) - now) / 1_000
  const [unit, length] = UNITS.find(([, span]) => Math.abs(seconds) >= span) ?? ['second', 1]
  return relative.format(Math.round(seconds / length), unit)
}
