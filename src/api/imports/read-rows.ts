import { isUtf8 } from 'node:buffer'
import { pipeline, Readable } from 'node:stream'
import type { ValidateFunction } from 'ajv'
import { CsvError, parse } from 'csv-parse'
import type { ReadRow } from '../../commands/imports/plan-import.ts'
import type { WholePostInput } from '../../commands/posts/post-input.ts'
import { findSeparator, parseCsvRecord, readHeader, toCellProblem, toRecord } from '../../domain/imports/csv-rows.ts'
import { MAX_IMPORT_ROWS, MAX_ROW_PROBLEMS, type ImportFormat } from '../../domain/imports/imports.ts'
import { cutJsonRows } from '../../domain/imports/json-rows.ts'
import type { DateOrder } from '../../domain/imports/spreadsheet-times.ts'
import { parseJson } from '../../domain/shared/json-text.ts'
import { ServiceError, validationFailed, type Problem } from '../../domain/shared/service-error.ts'
import { createTurns } from '../../flow/turns.ts'
import { ListedPost } from '../posts/schemas/list.ts'
import { findUnknownFields, isUnknownOption } from '../posts/unknown-fields.ts'
import { AUTHENTICATED_BODY_BYTES } from '../plugins/json-bodies.ts'
import { ImportRowInput } from './schema.ts'
import { toProblems } from '../shared/validation-problems.ts'

/** A row may be as large as the body of `POST /api/posts`. */
const MAX_ROW_BYTES = AUTHENTICATED_BODY_BYTES
const MAX_COLUMNS = 100
/** Rows of a CSV file with the empty ones, which spreadsheets leave after deleting. */
const MAX_CSV_ROWS = 5 * MAX_IMPORT_ROWS
/** The beginning of a file, which has its header. */
const HEAD_BYTES = 8_192
/** The CSV parser reads this many bytes without interruption, in a few milliseconds. */
const SLICE_BYTES = 2_048

export interface FileOptions {
  format: ImportFormat
  /** The order of day and month in a CSV file; null when it is not stated. */
  dateOrder: DateOrder | null
  /** Refuses unknown columns and fields, instead of warning about them. */
  isStrict: boolean
  /** Ends the reading. */
  signal: AbortSignal
}

/**
 * Reads the rows of a file in UTF-8 or UTF-16, one at a time and in turns with other requests. A value that is not allowed is a problem of
 * its row. A syntax error ends the reading, because the rows after it cannot be found.
 * @param validate checks a body against the schema of a post
 * @throws ServiceError BAD_REQUEST, VALIDATION_FAILED or PAYLOAD_TOO_LARGE with the number of the row
 */
export async function* readRows(
  file: Uint8Array,
  options: FileOptions,
  validate: ValidateFunction,
): AsyncGenerator<ReadRow> {
  const bytes = toUtf8(file)
  const takeTurn = createTurns(options.signal)
  const rows =
    options.format === 'json' ? readJsonRows(bytes, options, validate) : readCsvRows(bytes, options, validate)
  for await (const row of rows) {
    await takeTurn()
    yield row
  }
}

/** Returns the text without a byte order mark. Without one, the zero byte of the first character identifies UTF-16. */
function toUtf8(bytes: Uint8Array): Uint8Array {
  const [first, second, third] = bytes
  if ((first === 0xff && second === 0xfe) || second === 0) return decodeUtf16('utf-16le')
  if ((first === 0xfe && second === 0xff) || first === 0) return decodeUtf16('utf-16be')
  if (!isUtf8(bytes)) throw unreadable()
  return first === 0xef && second === 0xbb && third === 0xbf ? bytes.subarray(3) : bytes

  function decodeUtf16(encoding: string): Uint8Array {
    try {
      return Buffer.from(new TextDecoder(encoding, { fatal: true }).decode(bytes))
    } catch {
      throw unreadable()
    }
  }
}

function unreadable(): ServiceError {
  const message = 'The file is not valid UTF-8 or UTF-16. Save it as UTF-8, which Excel names "CSV UTF-8".'
  return new ServiceError('BAD_REQUEST', message)
}

function* readJsonRows(bytes: Uint8Array, options: FileOptions, validate: ValidateFunction): Generator<ReadRow> {
  let row = 0
  for (const text of cutJsonRows(bytes, MAX_ROW_BYTES)) yield toRow((row += 1), text, options, validate)
}

async function* readCsvRows(
  bytes: Uint8Array,
  options: FileOptions,
  validate: ValidateFunction,
): AsyncGenerator<ReadRow> {
  const { dateOrder, isStrict, signal } = options
  let header: ReturnType<typeof readHeader> | null = null
  let row = 0
  try {
    for await (const cells of readRecords(bytes, signal)) {
      if (!header) {
        header = readHeader(cells)
        const unknown = [...header.unknown.values()]
        const isRefused = header.problems.length > 0 || (isStrict && unknown.length > 0)
        if (isRefused) throw validationFailed([...header.problems, ...unknown])
        continue
      }
      row += 1
      const { record, problems, warnings } = toRecord(cells, header)
      const parsed = parseCsvRecord(record, dateOrder)
      const read = toRow(row, Buffer.from(JSON.stringify(parsed.body)), options, validate)
      const found = takeOnePerCell([...problems, ...parsed.problems, ...read.problems.map(toCellProblem)])
      const ignored = [...warnings, ...read.warnings.map(toCellProblem)]
      yield { ...read, input: found.length === 0 ? read.input : null, problems: found, warnings: ignored }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw new ServiceError('BAD_REQUEST', describeCsvError(error), { cause: error })
  }
}

/** Yields the cells of every row with any, the header first. */
function readRecords(bytes: Uint8Array, signal: AbortSignal): AsyncIterable<string[]> {
  const takeTurn = createTurns(signal)
  const { separator, hasSeparatorLine } = findSeparator(new TextDecoder().decode(bytes.subarray(0, HEAD_BYTES)))
  let rows = 0
  const parser = parse({
    delimiter: separator,
    from_line: hasSeparatorLine ? 2 : 1,
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    relax_column_count: true,
    max_record_size: MAX_ROW_BYTES,
    // The limits of the parser do not count empty cells and rows.
    cast: (cell, { index, records, lines }) => {
      if (index === 0) rows += 1
      if (rows > MAX_CSV_ROWS) {
        const message = `The file has more than ${MAX_CSV_ROWS} rows, most of them empty. Remove the empty rows.`
        throw new ServiceError('PAYLOAD_TOO_LARGE', message)
      }
      if (index >= MAX_COLUMNS) {
        const message = `${locate(records, lines)} has more than ${MAX_COLUMNS} cells. Remove columns, or quote cells that contain separators.`
        throw new ServiceError('BAD_REQUEST', message)
      }
      return cell
    },
  })
  async function* slices() {
    for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
      await takeTurn()
      yield bytes.subarray(at, at + SLICE_BYTES)
    }
  }
  // An error destroys the parser, and reading it reports the error.
  pipeline(Readable.from(slices()), parser, () => {})
  return parser as AsyncIterable<string[]>
}

function takeOnePerCell(problems: readonly Problem[]): Problem[] {
  return problems.filter(({ path }, index) => problems.findIndex((other) => other.path === path) === index)
}

/** The parser reads ahead, so only the error knows its row. */
function describeCsvError({ code, lines, records }: CsvError): string {
  const location = locate(Number(records), Number(lines))
  switch (code) {
    case 'CSV_MAX_RECORD_SIZE':
      return `${location} is larger than ${MAX_ROW_BYTES} characters, or a quote is not closed. Correct it.`
    case 'CSV_QUOTE_NOT_CLOSED':
      return `${location} has a quote that is not closed. Close it, or double quotes inside of a cell.`
    default:
      return `${location} is not valid CSV. Put cells with quotes in quotes, and double the quotes inside.`
  }
}

/** @param records before this one, the header included */
function locate(records: number, lines: number): string {
  return `${records === 0 ? 'The header' : `Row ${records}`}, at line ${lines} of the file,`
}

/** Applies the limits and checks of a request body to a row. */
function toRow(row: number, text: Uint8Array, { isStrict }: FileOptions, validate: ValidateFunction): ReadRow {
  const read = { row, bytes: text.length, warnings: [] as Problem[] }
  let input: unknown
  try {
    input = parseJson(text, `Row ${row}`)
  } catch (error) {
    if (!(error instanceof ServiceError) || !error.errors) throw error
    return { ...read, input: null, problems: error.errors }
  }
  const unknown = findUnknownFields([ImportRowInput, ListedPost], input)
  const refused = isStrict ? unknown : unknown.filter(isUnknownOption)
  if (refused.length > 0) return { ...read, input: null, problems: refused }
  read.warnings = unknown
  if (validate(input)) return { ...read, input: input as WholePostInput, problems: [] }
  const problems = toProblems(validate.errors ?? [], { subject: 'The row', max: MAX_ROW_PROBLEMS })
  return { ...read, input: null, problems }
}
