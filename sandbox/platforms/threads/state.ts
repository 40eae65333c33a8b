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
  /** True for a profile without a linked Instagram account. */
  isUnlinked?: boolean
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

/** The simulator's stored data. */
export function openState(file: string) {
  const table = openTables(file)
  const nextId = createIds((now) => now * 1_000n)

  return {
    table,
    apps: table<App>('apps'),
    accounts: table<Account>('accounts'),
    codes: table<Code>('codes'),
    tokens: table<Token>('tokens'),
    /** Returns an id that is odd and beyond exact JavaScript numbers, like the real ones. */
    newId: (): string => `1${nextId()}7`,
  }
}

export type State = ReturnType<typeof openState>
