import type { Options } from 'csv-stringify'

/** Every text is in quotes, so that line ends inside of it survive. Spreadsheets need the byte order mark to recognise UTF-8. */
export const CSV_FORMAT = { header: true, bom: true, quoted_string: true } as const satisfies Options

export const CSV_TYPE = 'text/csv; charset=utf-8'
