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

/** Moves a wall time. A day later is the same time of the next day, also when clocks change between them. */
export function moveWallTime({ time, timezone }: WallTime, steps: number, unit: 'hour' | 'day' | 'week'): WallTime {
  // An hour is counted in time that passes, days on the calendar of the zone.
  const moved =
    unit === 'hour'
      ? toWallTime(Date.parse(toInstant({ time, timezone })) + steps * 3_600_000, timezone)
      : dayjs.utc(time).add(steps, unit).format('YYYY-MM-DD HH:mm:ss')
  return { time: moved, timezone }
}

export const isPast = (at: WallTime): boolean => Date.parse(toInstant(at)) <= Date.now()

/** The value of `scheduledAt` that requests the next free slot of the accounts. */
export const NEXT_SLOT = 'next-slot'

/** The fields of a post for a wall time. */
export const scheduledFor = ({ time, timezone }: WallTime) => ({ scheduledAt: time.replace(' ', 'T'), timezone })
