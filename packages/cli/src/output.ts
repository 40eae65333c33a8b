export interface Column<T> {
  title: string
  value(item: T): string | number | null | undefined
}

const GAP = '  '
const NONE = '-'

/** Formats items as a table with a heading. Texts lose control characters, which could change the terminal. */
export function formatTable<T>(items: T[], columns: Column<T>[]): string {
  const rows = [
    columns.map(({ title }) => title),
    ...items.map((item) => columns.map(({ value }) => toCell(value(item)))),
  ]
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => countCharacters(row[index] ?? ''))))
  return rows
    .map((row) =>
      row
        .map((cell, index) => pad(cell, widths[index] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n')
}

/** Formats the fields of one record, a line each. */
export function formatFields(fields: Record<string, string | number | null | undefined>): string {
  const width = Math.max(...Object.keys(fields).map((name) => name.length))
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(width)}${GAP}${toCell(value)}`)
    .join('\n')
}

/** Returns the first line of a text, at most so many characters. */
export function shorten(text: string, most: number): string {
  const line = [...(text.split('\n')[0] ?? '')]
  return line.length > most ? `${line.slice(0, most - 1).join('')}…` : line.join('')
}

function toCell(value: string | number | null | undefined): string {
  if (value === null || value === undefined || value === '') return NONE
  return String(value).replace(/\p{Cc}+/gu, ' ')
}

const countCharacters = (text: string) => [...text].length
const pad = (text: string, width: number) => text + ' '.repeat(Math.max(0, width - countCharacters(text)))
