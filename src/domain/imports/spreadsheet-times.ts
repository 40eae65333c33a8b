import { parseInstant } from '../shared/timezones.ts'

/** The order of day and month in the dates of a file; dates that begin with the year need none. */
export const DATE_ORDERS = ['dmy', 'mdy'] as const
export type DateOrder = (typeof DATE_ORDERS)[number]

const MAX_TIME_LENGTH = 100

const DATE = /^(\d{1,4})\s*([-/.])\s*(\d{1,2})\s*\2\s*(\d{4}|\d{1,2})(?!\d)/
const TIME =
  /^(?:T|,?\s+)(\d{1,2})[:.](\d{2})(?:[:.](\d{2})(?:[.,]\d{1,9})?)?(?:\s*([ap])\.?\s?m\.?)?\s*(Z|[+-]\d{2}:?\d{2})?$/i

/**
 * Converts a time as spreadsheets write it (`1.5.2027 9:30`, `05/01/2027, 9:30 PM`, `2027-05-01 09:30:00`) to ISO 8601. Times that
 * `parseInstant` reads stay as they are.
 * @param order null when it is not stated
 * @returns the time, or what is wrong with it as the end of a sentence, and the remedy
 */
export function toIsoTime(cell: string, order: DateOrder | null): { time: string } | { problem: string } {
  if (cell.length > MAX_TIME_LENGTH) return { problem: INVALID }
  if (parseInstant(cell, 'UTC')) return { time: cell }
  const date = DATE.exec(cell)
  if (!date) return { problem: INVALID }
  const [found, first, , second, third] = date as unknown as string[]
  const isYearFirst = first!.length === 4
  if (!isYearFirst && (first!.length > 2 || third!.length === 1)) return { problem: INVALID }
  const rest = cell.slice(found!.length)
  if (rest.trim() === '') return { problem: 'has a date without a time. Add the time, such as 09:30.' }
  const clock = readClock(rest)
  if (clock === null) return { problem: INVALID }
  if (!isYearFirst && order === null) return { problem: ORDER_UNKNOWN }
  const [year, month, day] = isYearFirst
    ? [first!, second!, third!]
    : order === 'dmy'
      ? [third!, second!, first!]
      : [third!, first!, second!]
  const time = `${year.padStart(4, '20')}-${month.padStart(2, '0')}-${day.padStart(2, '0')}T${clock}`
  if (parseInstant(time, 'UTC')) return { time }
  const orderName = isYearFirst ? 'year, month, day' : order === 'dmy' ? 'day, month, year' : 'month, day, year'
  return { problem: `has no valid date or time in the order ${orderName}. Correct it.` }
}

const INVALID = 'must be a date with a time, such as 2027-05-01 09:30. Correct it.'
const ORDER_UNKNOWN =
  'does not say which number is the day. Plan the import with dateOrder=dmy or dateOrder=mdy, or begin with the year: 2027-05-01 09:30.'

/** Converts `9:30 PM` to `21:30`; null for a text that is no time of day. An offset stays. */
function readClock(text: string): string | null {
  const parts = TIME.exec(text)
  if (!parts) return null
  const [, hours, minutes, seconds, half, offset = ''] = parts
  if (half !== undefined && (Number(hours) < 1 || Number(hours) > 12)) return null
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
  return `${String(hour).padStart(2, '0')}:${minutes}${seconds === undefined ? '' : `:${seconds}`}${offset}`
}
