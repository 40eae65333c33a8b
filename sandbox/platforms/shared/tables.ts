import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

export interface Table<T> {
  get(key: string): T | undefined
  set(key: string, value: T): T
  delete(key: string): void
  values(): T[]
}

type Line = [table: string, key: string, value: unknown]

/**
 * Records in memory with an append-only file: each change is one line. A killed sandbox loses at most the change that
 * was being written.
 */
export function openTables(file: string) {
  mkdirSync(dirname(file), { recursive: true })
  const tables = new Map<string, Map<string, unknown>>()
  for (const [table, key, value] of readLines(file)) {
    if (value === null) recordsOf(table).delete(key)
    else recordsOf(table).set(key, value)
  }
  compact()

  function recordsOf(name: string): Map<string, unknown> {
    const records = tables.get(name) ?? new Map<string, unknown>()
    tables.set(name, records)
    return records
  }

  function compact(): void {
    const lines = [...tables].flatMap(([table, records]) =>
      [...records].map(([key, value]) => `${JSON.stringify([table, key, value])}\n`),
    )
    writeFileSync(`${file}.draft`, lines.join(''), { mode: 0o600 })
    renameSync(`${file}.draft`, file)
  }

  return function table<T>(name: string): Table<T> {
    const records = recordsOf(name) as Map<string, T>
    const write = (key: string, value: T | null) => appendFileSync(file, `${JSON.stringify([name, key, value])}\n`)
    return {
      get: (key) => records.get(key),
      set(key, value) {
        records.set(key, value)
        write(key, value)
        return value
      },
      delete(key) {
        if (records.delete(key)) write(key, null)
      },
      values: () => [...records.values()],
    }
  }
}

function readLines(file: string): Line[] {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return line === '' ? [] : [JSON.parse(line) as Line]
      } catch {
        return []
      }
    })
}
