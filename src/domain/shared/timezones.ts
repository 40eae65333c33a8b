import { Temporal } from '@js-temporal/polyfill'
import type { Problem } from './service-error.ts'

/**
 * Returns true for a name of the IANA list in its exact spelling, including links like `Asia/Calcutta`. Offsets such as `+02:00`
 * are not timezones, because they have no daylight saving time.
 */
export function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    // Temporal corrects the case of a name and does not resolve links, so only an exact spelling is returned unchanged.
    return new Temporal.ZonedDateTime(0n, name).timeZoneId === name
  } catch {
    return false
  }
}

/** Returns a problem when the name is not a timezone, else null. */
export function findTimezoneProblem(name: string): Problem | null {
  if (isTimezone(name)) return null
  const message = 'timezone must be a name of the IANA time zone list, such as Europe/Berlin.'
  return { path: 'timezone', code: 'TIMEZONE_UNKNOWN', message }
}

/** Matches a date-time without a leap second, which Temporal would silently read as the second before. */
const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}(:[0-5]\d([.,]\d{1,9})?)?/
const WITH_OFFSET = new RegExp(`${DATE_TIME.source}([Zz]|[+-]\\d{2}:?\\d{2})$`)
const WITH_ZONE = new RegExp(`${DATE_TIME.source}([Zz]|[+-]\\d{2}:?\\d{2})?\\[([A-Za-z][^\\]=]*)\\]$`)
const FIRST_INSTANT = new Date('0000-01-01T00:00:00.000Z')
const LAST_INSTANT = new Date('9999-12-31T23:59:59.999Z')
const WALL_TIME = new RegExp(`${DATE_TIME.source}$`)

/**
 * Parses an ISO 8601 date-time. Without `Z`, an offset or a bracketed zone it is wall time in `timezone`. A wall time that
 * daylight saving skips moves forward by the gap; an ambiguous one is the earlier. Returns null when the value is not a date-time
 * or is outside of the years 0000 to 9999 in UTC, which ISO 8601 writes in another form.
 */
export function parseInstant(value: string, timezone: string): Date | null {
  try {
    const instant = new Date(epochMilliseconds(value, timezone))
    return instant >= FIRST_INSTANT && instant <= LAST_INSTANT ? instant : null
  } catch {
    return null
  }
}

/** Returns true for a date-time with `Z` or an offset that `parseInstant` can read. */
export function isInstant(value: string): boolean {
  return WITH_OFFSET.test(value) && parseInstant(value, 'UTC') !== null
}

const DATE = /^\d{4}-\d{2}-\d{2}$/

/**
 * Parses a bound of a time range: a date-time as in `parseInstant`, or a date. A date means its first instant (`start`) or its
 * last millisecond (`end`) in `timezone`. Returns null when the value is neither.
 */
export function parseRangeBound(value: string, timezone: string, edge: 'start' | 'end'): Date | null {
  if (!DATE.test(value)) return parseInstant(value, timezone)
  try {
    const date = Temporal.PlainDate.from(value, { overflow: 'reject' })
    const startOf = (day: Temporal.PlainDate) => day.toZonedDateTime(timezone).epochMilliseconds
    return new Date(edge === 'start' ? startOf(date) : startOf(date.add({ days: 1 })) - 1)
  } catch {
    return null
  }
}

function epochMilliseconds(value: string, timezone: string): number {
  if (WITH_OFFSET.test(value)) return Temporal.Instant.from(value).epochMilliseconds
  const zone = WITH_ZONE.exec(value)?.[4]
  if (zone !== undefined && isTimezone(zone)) {
    return Temporal.ZonedDateTime.from(value, { disambiguation: 'compatible', offset: 'reject' }).epochMilliseconds
  }
  if (!WALL_TIME.test(value)) throw new RangeError('not an ISO 8601 date-time')
  return Temporal.PlainDateTime.from(value, { overflow: 'reject' }).toZonedDateTime(timezone, {
    disambiguation: 'compatible',
  }).epochMilliseconds
}
