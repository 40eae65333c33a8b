import { parseMediaType } from '../media/storage-keys.ts'
import { LINK_MODES, UNSUPPORTED_POLICIES } from '../posts/post.ts'
import { NEXT_SLOT } from '../posts/slots.ts'
import { parseJson } from '../shared/json-text.ts'
import { parseBoundedList } from '../shared/lists.ts'
import { findNearestName } from '../shared/nearest-name.ts'
import { PLATFORMS } from '../shared/platforms.ts'
import { ServiceError, type Problem } from '../shared/service-error.ts'
import { findTimezoneProblem } from '../shared/timezones.ts'
import type { ExportedContent, ExportedPost, ExportedSegment } from './imports.ts'
import { toIsoTime, type DateOrder } from './spreadsheet-times.ts'

/** The columns of a content besides `text`. With a suffix they replace a part of it on one platform: `text_bluesky`. */
const FURTHER_CONTENT = ['media', 'segments', 'firstComment', 'onUnsupported', 'options', 'link'] as const
const SUFFIXES = PLATFORMS.map((platform) => [platform, `_${platform}`] as const)

/** The columns of a CSV file of posts. Only `text` is required, with `platforms`, `accounts` or `groups`. */
export const CSV_COLUMNS = [
  'text',
  'platforms',
  'accounts',
  'groups',
  'scheduledAt',
  'timezone',
  'ifLate',
  'status',
  ...FURTHER_CONTENT,
  ...SUFFIXES.flatMap(([, suffix]) => ['text', ...FURTHER_CONTENT].map((name) => `${name}${suffix}`)),
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
/** An empty text; an empty cell is none. */
const EMPTY_TEXT = '""'
/** Spreadsheets read cells with these first characters as formulas. Some skip blanks and invisible characters before them. */
const FORMULA = /^'*(?:[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]|[\t\r\n]|""$)/u

/** The line between two posts of a thread in a cell. */
const SEGMENT_LINE = '---'
const SEGMENT_LINES = /^---[ \t]*$/m
/** A JSON list in a cell that may be a text. */
const JSON_LIST = /^\s*\[\s*(?:\{|\]\s*$)/

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

/** Returns a name without the differences that do not count: `First comment` is `firstComment`. */
const toColumnKey = (name: string): string => name.toLowerCase().replaceAll(/[\s_]/g, '')

const CANONICAL_NAMES = new Map(CSV_COLUMNS.map((name) => [toColumnKey(name), name]))

/** Reads the names of columns, in any letter case. Columns without a name may be empty. */
export function readHeader(names: readonly string[]): Header {
  const columns = names.map((name) => CANONICAL_NAMES.get(toColumnKey(name)) ?? null)
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
    ...toContentCells(withoutEmpty(content)),
    platforms: post.selectedPlatforms.join(SEPARATOR),
    accounts: (post.selectedAccounts ?? []).join(SEPARATOR),
    groups: '',
    scheduledAt: post.scheduledAt ?? '',
    timezone: post.timezone,
    ifLate: post.ifLate ? `${post.ifLate.action} ${post.ifLate.afterMinutes}` : '',
    status: post.status,
    ...Object.assign(
      {},
      ...SUFFIXES.map(([platform, suffix]) => toContentCells(platformSpecificContent[platform] ?? {}, suffix)),
    ),
    accountContent: Object.keys(accountSpecificContent).length > 0 ? JSON.stringify(accountSpecificContent) : '',
  }
}

/** Removes what an empty cell says. */
function withoutEmpty({ options, link, ...content }: ExportedContent): ExportedContent {
  const parts = Object.entries(content).filter(([, part]) => part.length > 0)
  return { ...Object.fromEntries(parts), ...(options && { options }), ...(link && { link }) }
}

function toContentCells(content: ExportedContent, suffix = ''): CsvRecord {
  const { text, mediaItems, segments, firstComment, onUnsupported = '', options, link } = content
  return {
    [`text${suffix}`]: toTextCell(text),
    [`media${suffix}`]: mediaItems ? JSON.stringify(mediaItems) : '',
    [`segments${suffix}`]: segments ? toSegmentsCell(segments) : '',
    [`firstComment${suffix}`]: toTextCell(firstComment),
    [`onUnsupported${suffix}`]: onUnsupported,
    [`options${suffix}`]: options ? JSON.stringify(options) : '',
    [`link${suffix}`]: typeof link === 'object' ? JSON.stringify(link) : (link ?? ''),
  }
}

function toTextCell(text: string | undefined): string {
  return text === '' ? EMPTY_TEXT : escapeCell(text ?? '')
}

/** Returns the texts of a thread with lines between them, or a JSON list where that would not be read as the same thread. */
function toSegmentsCell(segments: ExportedSegment[]): string {
  const texts = segments.map(({ text }) => text)
  const cell = texts.join(`\n${SEGMENT_LINE}\n`)
  const read = splitSegments(cell)
  const isSame = texts.length > 0 && read.length === texts.length && texts.every((text, index) => text === read[index])
  const isPlain = isSame && !JSON_LIST.test(cell) && segments.every(({ mediaItems }) => mediaItems === undefined)
  return isPlain ? escapeCell(cell) : JSON.stringify(segments)
}

function splitSegments(text: string): string[] {
  return text
    .split(SEGMENT_LINES)
    .map((one) => one.trim())
    .filter((one) => one !== '')
}

/** Where the parts of a post body are in a CSV file; the first match counts. */
const PLACES: [path: string, column: string][] = [
  ...toContentPlaces('content'),
  ['content', 'text'],
  ['selectedPlatforms', 'platforms'],
  ['selectedAccounts', 'accounts'],
  ['selectedGroups', 'groups'],
  ...SUFFIXES.flatMap(([platform, suffix]) => toContentPlaces(`platformSpecificContent.${platform}`, suffix)),
  ['accountSpecificContent', 'accountContent'],
]

function toContentPlaces(path: string, suffix = ''): [path: string, column: string][] {
  return [
    [`${path}.mediaItems`, `media${suffix}`],
    ...['text', 'segments', 'firstComment', 'onUnsupported', 'options', 'link'].map((name): [string, string] => [
      `${path}.${name}`,
      `${name}${suffix}`,
    ]),
  ]
}

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
  const overrides = SUFFIXES.flatMap(([platform, suffix]) => {
    const override = parseContent(suffix)
    return Object.keys(override).length > 0 ? [[platform, override] as const] : []
  })
  const accountContent = parseJsonCell('accountContent')
  const [scheduledAt, timezone, status] = ['scheduledAt', 'timezone', 'status'].map((column) => cell(column).trim())
  const body = {
    content: { text: '', ...parseContent() },
    selectedPlatforms: parsePlatforms(),
    ...(accounts.length > 0 && { selectedAccounts: accounts }),
    ...(groups.length > 0 && { selectedGroups: groups }),
    ...(overrides.length > 0 && { platformSpecificContent: Object.fromEntries(overrides) }),
    ...(accountContent !== undefined && { accountSpecificContent: accountContent }),
    ...(scheduledAt && { scheduledAt: parseTime(scheduledAt) }),
    ...(timezone && { timezone }),
    ...parseIfLate(),
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
    if (text === NEXT_SLOT) return text
    const read = toIsoTime(text, dateOrder)
    if ('time' in read) return read.time
    refuse('scheduledAt', 'DATE_TIME_INVALID', read.problem)
    return ''
  }

  /** An action and its minutes: `skip 60`. */
  function parseIfLate(): Record<string, unknown> {
    const text = cell('ifLate').trim()
    if (text === '') return {}
    const [, action = '', minutes] = /^(skip|ask)\s+(\d{1,4})$/i.exec(text) ?? []
    if (minutes === undefined)
      refuse('ifLate', 'INVALID', 'must be skip or ask and a number of minutes, such as skip 60.')
    return minutes === undefined ? {} : { ifLate: { action: action.toLowerCase(), afterMinutes: Number(minutes) } }
  }

  function parseContent(suffix = ''): Record<string, unknown> {
    const text = parseText(`text${suffix}`)
    const mediaItems = parseMedia(`media${suffix}`)
    const segments = parseSegments(`segments${suffix}`)
    const firstComment = parseText(`firstComment${suffix}`)
    const options = parseJsonCell(`options${suffix}`)
    const link = parseLink(`link${suffix}`)
    const stated = cell(`onUnsupported${suffix}`).trim()
    const policy = UNSUPPORTED_POLICIES.find((name) => name.toLowerCase() === stated.toLowerCase())
    return {
      ...(text !== undefined && { text }),
      ...(mediaItems !== undefined && { mediaItems }),
      ...(segments !== undefined && { segments }),
      ...(firstComment !== undefined && { firstComment }),
      ...(stated !== '' && { onUnsupported: policy ?? stated }),
      ...(options !== undefined && { options }),
      ...(link !== undefined && { link }),
    }
  }

  /** `auto`, `none`, the address of the card, or a card as JSON. */
  function parseLink(column: string): unknown {
    const text = cell(column).trim()
    if (text.startsWith('{')) return parseJsonCell(column)
    if (text === '') return undefined
    const mode = LINK_MODES.find((name) => name === text.toLowerCase())
    return mode ?? { url: text }
  }

  function parseText(column: string): string | undefined {
    const text = cell(column)
    if (text === '') return undefined
    return text === EMPTY_TEXT ? '' : unescapeCell(text)
  }

  /** The texts of a thread after the first, with lines between them, or a JSON list of segments. */
  function parseSegments(column: string): unknown {
    if (JSON_LIST.test(cell(column))) return parseJsonCell(column)
    const texts = splitSegments(unescapeCell(cell(column)))
    return texts.length > 0 ? texts.map((text) => ({ text })) : undefined
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
