import { CliError, EXIT } from './exit-codes.ts'

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * Parses a time: ISO 8601 with an offset, the same without one in the time zone of this machine, or `+30m`, `+2h`, `+1d` from now.
 * @throws CliError for another text
 */
export function parseTime(text: string, now: number): Date {
  const [, amount, unit] = /^\+(\d+)([mhd])$/.exec(text) ?? []
  const time = amount === undefined ? Date.parse(text) : now + Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS]
  if (Number.isNaN(time)) {
    throw new CliError(`"${text}" is not a time. Use 2027-05-01T09:30, 2027-05-01T09:30:00Z or +2h.`, EXIT.usage)
  }
  return new Date(time)
}

/**
 * Parses a time as `parseTime` does, and returns it as the API takes it.
 * @throws CliError for a time in the past: the API would publish immediately
 */
function parseFutureTime(text: string, now: number): string {
  const time = parseTime(text, now)
  if (time.getTime() <= now) throw new CliError(`${time.toISOString()} is in the past.`, EXIT.usage)
  return time.toISOString()
}

/** As the API takes it: the next free slot of an account or group. */
const NEXT_SLOT = 'next-slot'

/** Parses when to publish: a future time, or the next free slot. @throws CliError */
export function parsePublicationTime(text: string, now: number): string {
  return text === NEXT_SLOT ? text : parseFutureTime(text, now)
}

/** Formats an instant in the time zone of this machine, with its seconds unless they are 0. */
export function formatTime(instant: string | null | undefined): string | null {
  if (!instant) return null
  const date = new Date(instant)
  const two = (value: number) => String(value).padStart(2, '0')
  const seconds = date.getSeconds() === 0 ? '' : `:${two(date.getSeconds())}`
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}${seconds}`
}
