/** Durations in milliseconds. */
export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** Formats a waiting time for users, such as `40 seconds` or `12 minutes`. */
export function formatWait(seconds: number): string {
  const [count, unit] = seconds < 100 ? [seconds, 'second'] : [Math.ceil((seconds * SECOND) / MINUTE), 'minute']
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

/** Formats the date in UTC as `YYYY-MM-DD`, for keys and operators. */
export function formatIsoDate(instant: Date): string {
  return instant.toISOString().slice(0, 10)
}

const formatters = new Map<string, Intl.DateTimeFormat>()

/** Formats a date in a timezone for users, such as `1 May 2026`. */
export function formatDate(instant: Date, timezone: string): string {
  const { day, month, year } = formatParts(instant, timezone)
  return `${day} ${month} ${year}`
}

/** Formats a time in a timezone for users, such as `1 May 2026, 09:30 (Europe/Berlin)`, with the seconds of `09:30:07`. */
export function formatTime(instant: Date, timezone: string): string {
  const { hour, minute, second } = formatParts(instant, timezone)
  const seconds = second === '00' ? '' : `:${second}`
  return `${formatDate(instant, timezone)}, ${hour}:${minute}${seconds} (${timezone})`
}

/** Returns the first whole second that is not earlier. */
export function roundUpToSecond(instant: Date): Date {
  return new Date(Math.ceil(instant.getTime() / SECOND) * SECOND)
}

function formatParts(instant: Date, timezone: string): Record<string, string> {
  let formatter = formatters.get(timezone)
  if (!formatter) formatters.set(timezone, (formatter = createFormatter(timezone)))
  return Object.fromEntries(formatter.formatToParts(instant).map(({ type, value }) => [type, value]))
}

function createFormatter(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone,
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  })
}
