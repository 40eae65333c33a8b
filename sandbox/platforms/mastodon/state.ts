import { createIds } from '../shared/ids.ts'
import { openTables } from '../shared/tables.ts'

export interface Account {
  id: string
  username: string
  displayName: string
  /** HTML. */
  note: string
  createdAt: string
  /** Counts that were set through the control interface. */
  metrics?: Record<string, number>
}

export interface App {
  id: string
  name: string
  website: string | null
  clientId: string
  clientSecret: string
  redirectUris: string[]
  scopes: string[]
}

export interface Grant {
  code: string
  clientId: string
  accountId: string
  redirectUri: string
  scopes: string[]
  challenge: string | null
  createdAt: number
}

export interface Token {
  token: string
  clientId: string
  /** Null for a token of the application itself. */
  accountId: string | null
  scopes: string[]
  isRevoked: boolean
  createdAt: number
}

export interface Media {
  id: string
  accountId: string
  kind: 'image' | 'video'
  mimeType: string
  sizeBytes: number
  description: string | null
  /** When the server has done its work on it. */
  readyAt: number
  statusId: string | null
}

export interface Status {
  id: string
  accountId: string
  text: string
  visibility: string
  language: string | null
  mediaIds: string[]
  clientId: string
  createdAt: string
  /** When its words were changed; absent before. */
  editedAt?: string
  metrics?: Record<string, number>
}

export interface Remembered {
  statusId: string
  /** Milliseconds since 1970. */
  until: number
}

/** Everything the simulator knows, kept in the file. */
export function openState(file: string) {
  const table = openTables(file)
  const nextId = createIds((now) => now << 16n)

  return {
    accounts: table<Account>('accounts'),
    apps: table<App>('apps'),
    grants: table<Grant>('grants'),
    tokens: table<Token>('tokens'),
    media: table<Media>('media'),
    statuses: table<Status>('statuses'),
    /** What each `Idempotency-Key` of an account made. */
    idempotency: table<Remembered>('idempotency'),
    /** Ids of Mastodon begin with their time, so that they sort by it. */
    newId: (): string => String(nextId()),
  }
}

export type State = ReturnType<typeof openState>
