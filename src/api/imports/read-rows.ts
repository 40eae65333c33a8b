import { Readable } from 'node:stream'
import type { ValidateFunction } from 'ajv'
import { CsvError, parse } from 'csv-parse'
import type { ReadRow } from '../../commands/imports/plan-import.ts'
import type { WholePostInput } from '../../commands/posts/post-input.ts'
import { findHeaderProblems, parseCsvRecord, type CsvRecord } from '../../domain/imports/csv-rows.ts'
import type { ImportFormat } from '../../domain/imports/imports.ts'
import { createJsonRows } from '../../domain/imports/json-rows.ts'
import { parseJson } from '../../domain/shared/json-text.ts'
import { ServiceError, validationFailed, type Problem } from '../../domain/shared/service-error.ts'
import { AUTHENTICATED_BODY_BYTES } from '../plugins/json-bodies.ts'
import { toProblems } from '../shared/validation-problems.ts'

/** A row may be as large as the body of `POST /api/posts`. */
const MAX_ROW_BYTES = AUTHENTICATED_BODY_BYTES

/**
 * Reads the rows of a file while it arrives, so that one row at a time is in memory. A value that is not allowed is a problem of its
 * row. A syntax error ends the reading, because the rows after it cannot be found.
 * @param validate checks a body against the schema of a post
 * @throws ServiceError BAD_REQUEST, VALIDATION_FAILED or PAYLOAD_TOO_LARGE with the number of the row
 */
export function readRows(body: Readable, format: ImportFormat, validate: ValidateFunction): AsyncGenerator<ReadRow> {
  return format === 'json' ? readJsonRows(body, validate) : readCsvRows(body, validate)
}

async function* readJsonRows(body: Readable, validate: ValidateFunction): AsyncGenerator<ReadRow> {
  const cutter = createJsonRows(MAX_ROW_BYTES)
  let row = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    for (const text of cutter.push(chunk)) {
      row += 1
      yield toRow(row, text, validate)
    }
  }
  cutter.end()
}

async function* readCsvRows(body: Readable, validate: ValidateFunction): AsyncGenerator<ReadRow> {
  const parser = Readable.from(decode(body)).pipe(
    parse({
      bom: true,
      columns: (header: string[]) => assertHeader(header.map((name) => name.trim())),
      skip_empty_lines: true,
      max_record_size: MAX_ROW_BYTES,
    }),
  )
  let row = 0
  try {
    for await (const record of parser as AsyncIterable<CsvRecord>) {
      row += 1
      const { body: post, problems } = parseCsvRecord(record)
      yield toRow(row, Buffer.from(JSON.stringify(post)), validate, problems)
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw new ServiceError('BAD_REQUEST', describeCsvError(error), { cause: error })
  }

  /** Errors of a stream's source do not pass through `pipe`. */
  async function* decode(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    try {
      for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true })
      yield decoder.decode()
    } catch (error) {
      const isText = error instanceof TypeError
      parser.destroy(
        isText ? new ServiceError('BAD_REQUEST', 'The file is not valid UTF-8. Encode it as UTF-8.') : (error as Error),
      )
    }
  }
}

function assertHeader(header: string[]): string[] {
  const messages = findHeaderProblems(header)
  if (messages.length === 0) return header
  throw validationFailed(messages.map((message) => ({ path: 'header', code: 'COLUMNS', message })))
}

/** The parser reads ahead, so only the error knows its row. */
function describeCsvError({ code, lines, records }: CsvError): string {
  const location = `Row ${Number(records) + 1}, at line ${String(lines)} of the file,`
  switch (code) {
    case 'CSV_RECORD_INCONSISTENT_COLUMNS':
      return `${location} has another number of cells than the header. Quote cells that contain commas.`
    case 'CSV_MAX_RECORD_SIZE':
      return `${location} is larger than ${MAX_ROW_BYTES} characters, or a quote is not closed. Correct it.`
    case 'CSV_QUOTE_NOT_CLOSED':
      return `${location} has a quote that is not closed. Close it, or double quotes inside of a cell.`
    default:
      return `${location} is not valid CSV. Put cells with quotes in quotes, and double the quotes inside.`
  }
}

/** Applies the limits and checks of a request body to a row. */
function toRow(row: number, text: Uint8Array, validate: ValidateFunction, problems: Problem[] = []): ReadRow {
  let input: unknown
  try {
    input = parseJson(text)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    if (error.code === 'VALIDATION_FAILED')
      return { row, input: null, problems: [...problems, ...(error.errors ?? [])] }
    const message = `Row ${row}: ${error.message.replace('Request body', 'It')}`
    throw new ServiceError(error.code, message, { cause: error })
  }
  const isValid = validate(input)
  const found = [...problems, ...(isValid ? [] : toProblems(validate.errors ?? []))]
  return { row, input: found.length === 0 ? (input as WholePostInput) : null, problems: found.map(nameRow) }
}

/** The row is the request body of its post. */
function nameRow(problem: Problem): Problem {
  return { ...problem, message: problem.message.replace('The request body', 'The row') }
}
