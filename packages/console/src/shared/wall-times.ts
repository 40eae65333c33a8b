import dayjs from 'dayjs'
import timezonePlugin from 'dayjs/plugin/timezone.js'
import utcPlugin from 'dayjs/plugin/utc.js'

dayjs.extend(utcPlugin)
dayjs.extend(timezonePlugin)

/** A wall time such as "2026-05-01 09:30:00" of a zone. The API converts it: console and service cannot disagree about changes of the clocks. */
export interface WallTime {
  time: string
  timezone: string
}

const formatters = new Map<string, Intl.DateTimeFormat>()

/** Returns an instant as the wall time of a zone. A calendar converts hundreds, and a formatter is expensive to create. */
export function toWallTime(instant: string | number, timezone: string): string {
  // Swedish dates have the form of ISO 8601.
  const formatter =
    formatters.get(timezone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'medium' })
  formatters.set(timezone, formatter)
  return formatter.format(new Date(instant))
}

/** Up to an hour wrong while clocks change, where the API decides. */
export const toInstant = ({ time, timezone }: WallTime): string => dayjs.tz(time, timezone).toISOString()

export const isPast = (at: WallTime): boolean => Date.parse(toInstant(at)) <= Date.now()

/** The fields of a post for a wall time. */
export const scheduledFor = ({ time, timezone }: WallTime) => ({ scheduledAt: time.replace(' ', 'T'), timezone })
