import dayjs from 'dayjs'
import timezonePlugin from 'dayjs/plugin/timezone.js'
import utcPlugin from 'dayjs/plugin/utc.js'
import { useUser } from '../session/session.ts'

dayjs.extend(utcPlugin)
dayjs.extend(timezonePlugin)

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
    time: format({ timeStyle: 'short' }),
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

/** A wall time such as "2026-05-01 09:30:00" of a zone. The API converts it: console and service cannot disagree about changes of the clocks. */
export interface WallTime {
  time: string
  timezone: string
}

/** Returns an instant as the wall time of a zone. */
export function toWallTime(instant: string | number, timezone: string): string {
  return dayjs(instant).tz(timezone).format('YYYY-MM-DD HH:mm:ss')
}

/** Up to an hour wrong while clocks change, where the API decides. */
export const toInstant = ({ time, timezone }: WallTime): string => dayjs.tz(time, timezone).toISOString()

export const isPast = (at: WallTime): boolean => Date.parse(toInstant(at)) <= Date.now()

/** The fields of a post for a wall time. */
export const scheduledFor = ({ time, timezone }: WallTime) => ({ scheduledAt: time.replace(' ', 'T'), timezone })
