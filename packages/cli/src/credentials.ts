import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Session } from '@postonce/sdk'

/** The record that `postonce login` stores. */
export interface Credentials {
  url: string
  apiKey?: string
  session?: Session
}

type Env = Record<string, string | undefined>

export function credentialsFile(env: Env): string {
  const folder = env['POSTONCE_CONFIG_DIR'] || join(env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'postonce')
  return join(folder, 'credentials.json')
}

/** Returns null when nothing is stored. */
export function readCredentials(env: Env): Credentials | null {
  try {
    return JSON.parse(readFileSync(credentialsFile(env), 'utf8')) as Credentials
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new Error(`${credentialsFile(env)} cannot be read. Run "postonce login" again.`, { cause: error })
  }
}

/** Stores credentials that only the user can read. A reader sees either the old or the new file. */
export function writeCredentials(env: Env, credentials: Credentials): void {
  const file = credentialsFile(env)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const next = `${file}.${process.pid}`
  writeFileSync(next, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 })
  renameSync(next, file)
}

export function removeCredentials(env: Env): void {
  rmSync(credentialsFile(env), { force: true })
}
