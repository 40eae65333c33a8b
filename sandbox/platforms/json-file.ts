import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Returns the file's content, or `fallback` when the file does not exist. */
export function readJson<T>(path: string, fallback: T): T {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return fallback
    throw error
  }
}

/**
 * Replaces the file atomically, so that a killed sandbox leaves the old or the new content. Only the owner can read it.
 */
export function writeJson(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true })
  const draft = `${path}.draft`
  writeFileSync(draft, JSON.stringify(value, null, 2), { mode: 0o600 })
  renameSync(draft, path)
}
