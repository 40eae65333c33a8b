import { createIds } from '../shared/ids.ts'
import { openTables } from '../shared/tables.ts'

export interface App {
  id: string
  name: string
  secret: string
  redirectUris: string[]
}

export interface Account {
  id: string
  username: string
  name: string
  metrics?: Record<string, number>
}

export interface Code {
  code: string
  appId: string
  accountId: string
  redirectUri: string
  scopes: string[]
  createdAt: number
}

export interface Token {
  token: string
  appId: string
  accountId: string
  scopes: string[]
  isLong: boolean
  issuedAt: number
  expiresAt: number
  isRevoked: boolean
}

/** Everything the simulator knows, kept in the file. */
export function openState(file: string) {
  const table = openTables(file)
  const nextId = createIds((now) => now * 1_000n)

  return {
    table,
    apps: table<App>('apps'),
    accounts: table<Account>('accounts'),
    codes: table<Code>('codes'),
    tokens: table<Token>('tokens'),
    /** Odd, and longer than what JavaScript keeps exact of a number: the real ones are as long. */
    newId: (): string => `1${nextId()}7`,
  }
}

export type State = ReturnType<typeof openState>
