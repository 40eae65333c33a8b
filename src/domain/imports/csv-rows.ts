import { parseMediaType } from '../media/storage-keys.ts'
import { parseJson } from '../shared/json-text.ts'
import { parseBoundedList } from '../shared/lists.ts'
import { findNearestName } from '../shared/nearest-name.ts'
import { PLATFORMS } from '../shared/platforms.ts'
import { ServiceError, type Problem } from '../shared/service-error.ts'
import { findTimezoneProblem } from '../shared/timezones.ts'
import type { ExportedPost } from './imports.ts'
import { toIsoTime, type DateOrder } from './spreadsheet-times.ts'

/** The columns of a CSV file of posts. Only `text` is required, with `platforms`, `accounts` or `groups`. */
export const CSV_COLUMNS = [
  'text',
  'platforms',
  'accounts',
  'groups',
  'scheduledAt',
  'timezone',
  'status',
  'media',
  ...PLATFORMS.flatMap((platform) => [`text_${platform}`, `media_${platform}`]),
  'accountContent',
]

const REQUIRED_COLUMNS = ['text'] as const
const SEPARATOR = ';'
const LIST_SEPARATOR = /[;,]/
/** Names of groups may contain commas. */
const GROUP_SEPARATOR = /;/
/** Entries of a list in a cell. */
const MAX_ENTRIES = 50
/** Characters of names and cells in messages. */
const MAX_SHOWN = 100
/** An override whose text is empty; an empty cell is no override. */
const EMPTY_TEXT = '""'
/** Spreadsheets read cells with these first characters as formulas. Some skip blanks and invisible characters before them. */
const FORMULA = /^'*(?:[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]|[\t\r\n]|""$)/u

export type CsvRecord = Record<string, string>

/**
 * Returns a text so that a spreadsheet does not read it as a formula: with an apostrophe before it, which `unescapeCell` removes. Texts
 * that seem escaped, or are `EMPTY_TEXT`, get one as well, so that every text survives both.
 */
export function escapeCell(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}

export function unescapeCell(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell.slice(1)) ? cell.slice(1) : cell
}

const SEPARATORS = [',', ';', '\t'] as const
const SEPARATOR_LINE = /^"?sep=([,;\t])/i
/** Lines until the first name of a column. */
const MAX_LINES = 20

/**
 * Returns what separates the cells: what a first line `sep=;` says, or the separator that the header has most of.
 * @param text the beginning of a file
 */
export function findSeparator(text: string): { separator: string; hasSeparatorLine: boolean } {
  const stated = SEPARATOR_LINE.exec(text)?.[1]
  if (stated !== undefined) return { separator: stated, hasSeparatorLine: true }
  const header = text.split(/[\r\n]/, MAX_LINES).find((line) => /[a-z]/i.test(line)) ?? ''
  const names = header.replaceAll(/"[^"]*"/g, '')
  const [most] = SEPARATORS.map((separator) => ({ separator, count: names.split(separator).length })).toSorted(
    (one, other) => other.count - one.count,
  )
  return { separator: most!.separator, hasSeparatorLine: false }
}

/** The columns of a file, by its first line. */
export interface Header {
  /** The name in `CSV_COLUMNS` of each column; null for a column without a name or with an unknown one. */
  columns: (string | null)[]
  /** By index, a warning for each column whose name is unknown. */
  unknown: ReadonlyMap<number, Problem>
  /** Why the rows cannot be read. */
  problems: Problem[]
}

const CANONICAL_NAMES = new Map(CSV_COLUMNS.map((name) => [name.toLowerCase(), name]))

/** Reads the names of columns, in any letter case. Columns without a name may be empty. */
export function readHeader(names: readonly string[]): Header {
  const columns = names.map((name) => CANONICAL_NAMES.get(name.trim().toLowerCase()) ?? null)
  const unknown = new Map(
    names.flatMap((name, index) =>
      columns[index] !== null || name.trim() === '' ? [] : [[index, toUnknownColumn(name.trim())] as const],
    ),
  )
  const known = columns.filter((column) => column !== null)
  const missing = REQUIRED_COLUMNS.filter((name) => !known.includes(name))
  return {
    columns,
    unknown,
    problems: [
      ...missing.map((name) => toColumnsProblem(`The column ${name} is missing. Add it to the first line.`)),
      ...[...new Set(known.filter((name, index) => known.indexOf(name) !== index))].map((name) =>
        toColumnsProblem(`The column ${name} is there twice. Remove one.`),
      ),
    ],
  }
}

function toColumnsProblem(message: string): Problem {
  return { path: 'header', code: 'COLUMNS', message }
}

function toUnknownColumn(name: string): Problem {
  const path = name.slice(0, MAX_SHOWN)
  const nearest = findNearestName(name, CSV_COLUMNS)
  const remedy = nearest === null ? 'Remove the column, or correct its name.' : `Did you mean ${nearest}?`
  return {
    path,
    code: 'UNKNOWN_FIELD',
    message: `The column ${JSON.stringify(path)} is not known and would be ignored. ${remedy}`,
  }
}

/** Returns the cells by column. Missing cells at the end of a row are empty, because spreadsheets leave them out. */
export function toRecord(
  cells: readonly string[],
  { columns, unknown }: Header,
): { record: CsvRecord; problems: Problem[]; warnings: Problem[] } {
  const named = cells.map((cell, index) => ({ cell, index, column: columns[index] ?? null }))
  const nameless = named.filter(({ cell, column }) => column === null && cell.trim() !== '')
  const extra = nameless.find(({ index }) => !unknown.has(index))
  return {
    record: Object.fromEntries(named.flatMap(({ cell, column }) => (column === null ? [] : [[column, cell] as const]))),
    problems: extra ? [toExtraCell(extra.index, extra.cell)] : [],
    warnings: nameless.flatMap(({ index }) => unknown.get(index) ?? []),
  }
}

function toExtraCell(index: number, cell: string): Problem {
  const shown = JSON.stringify(cell.slice(0, MAX_SHOWN))
  const message = `Cell ${index + 1} of the row, ${shown}, is in a column without a name. Quote cells that contain separators, or name the column.`
  return { path: '', code: 'COLUMNS', message }
}

/** Converts a post to the cells of `CSV_COLUMNS`. */
export function toCsvRecord(post: ExportedPost): CsvRecord {
  const { content, platformSpecificContent = {}, accountSpecificContent = {} } = post
  return {
    text: escapeCell(content.text),
    platforms: post.selectedPlatforms.join(SEPARATOR),
    accounts: (post.selectedAccounts ?? []).join(SEPARATOR),
    groups: '',
    scheduledAt: post.scheduledAt ?? '',
    timezone: post.timezone,
    status: post.status,
    media: content.mediaItems.length > 0 ? JSON.stringify(content.mediaItems) : '',
    ...Object.fromEntries(
      PLATFORMS.flatMap((platform) => {
        const { text, mediaItems } = platformSpecificContent[platform] ?? {}
        return [
          [`text_${platform}`, text === '' ? EMPTY_TEXT : escapeCell(text ?? '')],
          [`media_${platform}`, mediaItems ? JSON.stringify(mediaItems) : ''],
        ]
      }),
    ),
    accountContent: Object.keys(accountSpecificContent).length > 0 ? JSON.stringify(accountSpecificContent) : '',
  }
}

/** Where the parts of a post body are in a CSV file; the first match counts. */
const PLACES: [path: string, column: string][] = [
  ['content.mediaItems', 'media'],
  ['content.text', 'text'],
  ['content', 'text'],
  ['selectedPlatforms', 'platforms'],
  ['selectedAccounts', 'accounts'],
  ['selectedGroups', 'groups'],
  ...PLATFORMS.flatMap((platform): [string, string][] => [
    [`platformSpecificContent.${platform}.mediaItems`, `media_${platform}`],
    [`platformSpecificContent.${platform}.text`, `text_${platform}`],
  ]),
  ['accountSpecificContent', 'accountContent'],
]

/** Converts a problem of a post body to one of the cell that it was read from. */
export function toCellProblem(problem: Problem): Problem {
  const { path, message } = problem
  const place = PLACES.find(([start]) => path === start || path.startsWith(`${start}.`))
  if (!place) return problem
  const [start, column] = place
  return {
    ...problem,
    path: column,
    message: message.startsWith(start) ? column + message.slice(start.length) : message,
  }
}

/**
 * Converts the cells of a row to a body of `POST /api/posts`, which callers check against its schema. Absent columns are empty cells.
 * A cell has one problem at most, with the column as its path.
 */
export function parseCsvRecord(
  record: CsvRecord,
  dateOrder: DateOrder | null = null,
): { body: Record<string, unknown>; problems: Problem[] } {
  const problems: Problem[] = []
  const cell = (column: string) => record[column] ?? ''
  const accounts = list('accounts')
  const groups = list('groups', GROUP_SEPARATOR)
  const overrides = PLATFORMS.flatMap((platform) => {
    const text = cell(`text_${platform}`)
    const media = parseMedia(`media_${platform}`)
    if (text === '' && media === undefined) return []
    const override = {
      ...(text !== '' && { text: text === EMPTY_TEXT ? '' : unescapeCell(text) }),
      ...(media !== undefined && { mediaItems: media }),
    }
    return [[platform, override] as const]
  })
  const media = parseMedia('media')
  const accountContent = parseJsonCell('accountContent')
  const [scheduledAt, timezone, status] = ['scheduledAt', 'timezone', 'status'].map((column) => cell(column).trim())
  const body = {
    content: { text: unescapeCell(cell('text')), ...(media !== undefined && { mediaItems: media }) },
    selectedPlatforms: parsePlatforms(),
    ...(accounts.length > 0 && { selectedAccounts: accounts }),
    ...(groups.length > 0 && { selectedGroups: groups }),
    ...(overrides.length > 0 && { platformSpecificContent: Object.fromEntries(overrides) }),
    ...(accountContent !== undefined && { accountSpecificContent: accountContent }),
    ...(scheduledAt && { scheduledAt: parseTime(scheduledAt) }),
    ...(timezone && { timezone }),
    ...(status && { status: status.toUpperCase() }),
  }
  const timezoneProblem = timezone ? findTimezoneProblem(timezone) : null
  if (timezoneProblem) problems.push(timezoneProblem)
  return { body, problems }

  function refuse(column: string, code: string, message: string): void {
    problems.push({ path: column, code, message: `${column} ${message}` })
  }

  function list(column: string, separator = LIST_SEPARATOR): string[] {
    const entries = parseBoundedList(cell(column), separator, MAX_ENTRIES)
    if (!entries) refuse(column, 'TOO_LONG', `must have at most ${MAX_ENTRIES} entries. Remove some.`)
    return entries ?? []
  }

  function parsePlatforms(): string[] {
    const names = list('platforms').map((name) => name.toLowerCase())
    const unknown = names.find((name) => !PLATFORMS.some((platform) => platform === name))
    if (unknown === undefined) return names
    const remedy = findNearestName(unknown, PLATFORMS) ?? PLATFORMS.join(', ')
    refuse(
      'platforms',
      'NOT_ALLOWED',
      `has ${JSON.stringify(unknown.slice(0, MAX_SHOWN))}, which is not a platform. Use ${remedy}.`,
    )
    return []
  }

  function parseTime(text: string): string {
    const read = toIsoTime(text, dateOrder)
    if ('time' in read) return read.time
    refuse('scheduledAt', 'DATE_TIME_INVALID', read.problem)
    return ''
  }

  /** A JSON list of media items, or storage keys whose type their ending says. */
  function parseMedia(column: string): unknown {
    if (cell(column).trimStart().startsWith('[')) return parseJsonCell(column)
    const keys = list(column)
    if (keys.length === 0) return undefined
    const items = keys.map((storageKey) => ({ storageKey, mimeType: parseMediaType(storageKey) }))
    if (items.some(({ mimeType }) => mimeType === null)) {
      refuse(column, 'INVALID', `must have storage keys of uploads, separated by ;, or a JSON list of media items.`)
    }
    return items
  }

  function parseJsonCell(column: string): unknown {
    const text = cell(column)
    if (text.trim() === '') return undefined
    try {
      return parseJson(new TextEncoder().encode(text), column)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      const { code, message } = error.errors?.[0] ?? { code: 'INVALID', message: error.message }
      problems.push({ path: column, code, message: message.startsWith(column) ? message : `${column}.${message}` })
      return undefined
    }
  }
}
