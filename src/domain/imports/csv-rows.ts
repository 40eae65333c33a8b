import { parseMediaType } from '../media/storage-keys.ts'
import { PLATFORMS } from '../shared/platforms.ts'
import type { Problem } from '../shared/service-error.ts'
import type { ExportedPost } from './imports.ts'

/** The columns of a CSV file of posts. Only `text` is required, with `platforms` or `accounts`. */
export const CSV_COLUMNS = [
  'text',
  'platforms',
  'accounts',
  'scheduledAt',
  'timezone',
  'status',
  'media',
  ...PLATFORMS.flatMap((platform) => [`text_${platform}`, `media_${platform}`]),
  'accountContent',
]

const REQUIRED_COLUMNS = ['text'] as const
const SEPARATOR = ';'
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

/** Returns why a header cannot be read. */
export function findHeaderProblems(header: readonly string[]): string[] {
  const unknown = header.filter((name) => !CSV_COLUMNS.includes(name))
  const repeated = header.filter((name, index) => header.indexOf(name) !== index)
  const missing = REQUIRED_COLUMNS.filter((name) => !header.includes(name))
  return [
    ...unknown.map(
      (name) => `The column ${JSON.stringify(name.slice(0, 100))} is not known. Correct its name or remove it.`,
    ),
    ...repeated.map((name) => `The column ${name} is there twice. Remove one.`),
    ...missing.map((name) => `The column ${name} is missing. Add it to the first line.`),
  ]
}

/** Converts a post to the cells of `CSV_COLUMNS`. */
export function toCsvRecord(post: ExportedPost): CsvRecord {
  const { content, platformSpecificContent = {}, accountSpecificContent = {} } = post
  return {
    text: escapeCell(content.text),
    platforms: post.selectedPlatforms.join(SEPARATOR),
    accounts: (post.selectedAccounts ?? []).join(SEPARATOR),
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

/**
 * Converts the cells of a row to a body of `POST /api/posts`, which callers check against its schema. Absent columns are empty cells.
 * Problems have the column as their path.
 */
export function parseCsvRecord(record: CsvRecord): { body: Record<string, unknown>; problems: Problem[] } {
  const problems: Problem[] = []
  const cell = (column: string) => record[column] ?? ''
  const list = (column: string) =>
    cell(column)
      .split(SEPARATOR)
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '')
  const accounts = list('accounts')
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
  const plain = ['scheduledAt', 'timezone', 'status'].flatMap((column) => {
    const value = cell(column).trim()
    return value === '' ? [] : [[column, value] as const]
  })
  const body = {
    content: { text: unescapeCell(cell('text')), ...(media !== undefined && { mediaItems: media }) },
    selectedPlatforms: list('platforms').map((name) => name.toLowerCase()),
    ...(accounts.length > 0 && { selectedAccounts: accounts }),
    ...(overrides.length > 0 && { platformSpecificContent: Object.fromEntries(overrides) }),
    ...(accountContent !== undefined && { accountSpecificContent: accountContent }),
    ...Object.fromEntries(plain),
  }
  return { body, problems }

  /** A JSON list of media items, or storage keys whose type their ending says. */
  function parseMedia(column: string): unknown {
    if (cell(column).trimStart().startsWith('[')) return parseJsonCell(column)
    const keys = list(column)
    if (keys.length === 0) return undefined
    return keys.flatMap((storageKey) => {
      const mimeType = parseMediaType(storageKey)
      if (mimeType) return [{ storageKey, mimeType }]
      const message = `${column} must have storage keys of uploads, separated by ${SEPARATOR}, or a JSON list of media items.`
      problems.push({ path: column, code: 'INVALID', message })
      return []
    })
  }

  function parseJsonCell(column: string): unknown {
    const text = cell(column)
    if (text.trim() === '') return undefined
    try {
      return JSON.parse(text)
    } catch {
      problems.push({ path: column, code: 'INVALID', message: `${column} is not valid JSON. Correct its syntax.` })
      return undefined
    }
  }
}
