import { createIds } from '../shared/ids.ts'
import { openTables } from '../shared/tables.ts'

export interface Account {
  id: string
  username: string
  displayName: string
  /** The profile text as HTML. */
  note: string
  createdAt: string
  /** Counts set through the control interface. */
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
  /** Time at which its processing ends, milliseconds since 1970. */
  readyAt: number
  /** Its processing fails. */
  isBroken: boolean
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
  spoilerText?: string
  sensitive?: boolean
  poll?: { options: string[]; expiresIn: number; multiple: boolean; hideTotals: boolean }
  /** The status that it is a reply to. */
  inReplyToId?: string
  /** Time of the last edit; absent while it was never edited. */
  editedAt?: string
  /** The texts of its edits, oldest first. */
  edits?: string[]
  metrics?: Record<string, number>
}

export interface Remembered {
  statusId: string
  /** Milliseconds since 1970. */
  until: number
}

/** The simulator's stored data. */
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
    /** The result of each `Idempotency-Key` of an account. */
    idempotency: table<Remembered>('idempotency'),
    /** Mastodon's ids start with their time, so that they sort by it. */
    newId: (): string => String(nextId()),
  }
}

export type State = ReturnType<typeof openState>
