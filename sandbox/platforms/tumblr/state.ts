import { createIds } from '../shared/ids.ts'
import { openTables } from '../shared/tables.ts'

export interface App {
  name: string
  consumerKey: string
  consumerSecret: string
  /** The callback URL; a query may be added. */
  callbackUrl: string
}

/** A person with a login and a primary blog. */
export interface Account {
  id: string
  name: string
}

export interface Blog {
  uuid: string
  accountId: string
  name: string
  title: string
  isPrimary: boolean
  /** Counts set through the control interface. */
  metrics?: Record<string, number>
}

export interface RequestToken {
  token: string
  secret: string
  consumerKey: string
  callback: string
  createdAt: number
  /** Both null until a user allows it. */
  accountId: string | null
  verifier: string | null
}

export interface AccessToken {
  token: string
  secret: string
  consumerKey: string
  accountId: string
  isRevoked: boolean
}

export interface Media {
  id: string
  accountId: string
  mimeType: string
  width: number
  height: number
  /** Time at which its processing ends, milliseconds since 1970. */
  readyAt: number
}

export type Block = { type: string; alt_text?: string } & Record<string, unknown>

export interface Post {
  id: string
  /** The id of the draft that became this post; `null` without a draft. */
  genesisId: string | null
  blogId: string
  state: 'published' | 'draft' | 'private' | 'queue'
  /** The blocks; `mediaId` replaces uploaded files. */
  content: Block[]
  tags: string[]
  sourceUrl?: string
  /** Unix seconds of the creation, or of the publication once it is published. */
  timestamp: number
  /** The texts of its edits since the publication, oldest first. */
  edits?: string[]
  metrics?: Record<string, number>
}

/** The simulator's stored data. */
export function openState(file: string) {
  const table = openTables(file)
  const nextId = createIds((now) => now * 500_000n)

  return {
    apps: table<App>('apps'),
    accounts: table<Account>('accounts'),
    blogs: table<Blog>('blogs'),
    requestTokens: table<RequestToken>('requestTokens'),
    accessTokens: table<AccessToken>('accessTokens'),
    media: table<Media>('media'),
    posts: table<Post>('posts'),
    /** What each account did today. */
    counts: table<number>('counts'),
    /** Returns an id as large as Tumblr's, beyond exact JavaScript numbers. */
    newId: (): string => String(nextId()),
  }
}

export type State = ReturnType<typeof openState>
