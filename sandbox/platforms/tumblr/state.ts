import { createIds } from '../shared/ids.ts'
import { openTables } from '../shared/tables.ts'

export interface App {
  name: string
  consumerKey: string
  consumerSecret: string
  /** Where its callbacks go; more may follow as a query. */
  callbackUrl: string
}

/** Somebody with a login, and one blog that is theirs first of all. */
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
  /** Counts that were set through the control interface. */
  metrics?: Record<string, number>
}

export interface RequestToken {
  token: string
  secret: string
  consumerKey: string
  callback: string
  createdAt: number
  /** Both null until somebody allowed it. */
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
  /** When the server has done its work on it. */
  readyAt: number
}

export type Block = { type: string; alt_text?: string } & Record<string, unknown>

export interface Post {
  id: string
  /** The draft it was. */
  genesisId: string | null
  blogId: string
  state: 'published' | 'draft' | 'private' | 'queue'
  /** With `mediaId` in the place of what was uploaded. */
  content: Block[]
  tags: string[]
  /** Unix seconds, of its publication once that was. */
  timestamp: number
  metrics?: Record<string, number>
}

/** Everything the simulator knows, kept in the file. */
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
    /** As large as Tumblr's, beyond what a number in JavaScript can hold. */
    newId: (): string => String(nextId()),
  }
}

export type State = ReturnType<typeof openState>
