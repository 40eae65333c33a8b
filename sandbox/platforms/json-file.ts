import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** The file's content, or `fallback` when there is no such file. */
export function readJson<T>(path: string, fallback: T): T {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return fallback
    throw error
  }
}

/** Replaces the file in one step, so that a killed sandbox leaves either the old or the new content. Readable by the owner only. */
export function writeJson(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true })
  const draft = `${path}.draft`
  writeFileSync(draft, JSON.stringify(value, null, 2), { mode: 0o600 })
  renameSync(draft, path)
}
