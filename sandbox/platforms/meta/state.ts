import type { Counted } from '../shared/graph/insights.ts'
import { createIds } from '../shared/ids.ts'
import { openTables } from '../shared/tables.ts'

export interface App {
  id: string
  name: string
  secret: string
  redirectUris: string[]
}

/** A person with a login. Pages and professional accounts belong to persons. */
export interface Person {
  id: string
  name: string
  /** The permissions that this person granted or declined, by id of the application. */
  grants: Record<string, { granted: string[]; declined: string[] }>
}

export interface Portfolio {
  id: string
  name: string
  /** The portfolio owns the page, or manages it for a client. */
  edge: 'owned_pages' | 'client_pages'
}

export interface Page {
  id: string
  personId: string
  name: string
  username: string | null
  /** The professional account on Instagram that is linked to the page. */
  instagramId: string | null
  /** The person's tasks on the page. */
  tasks: string[]
  /** False for a page that is listed without a token. */
  hasToken: boolean
  /** The business portfolio that the page belongs to; only its edges list such a page. */
  portfolio: Portfolio | null
  /** False for a page that refuses drafts. */
  takesDrafts: boolean
  metrics?: Record<string, number>
}

export interface InstagramAccount {
  id: string
  personId: string
  username: string
  name: string
  metrics?: Record<string, number>
}

/** A code from the login dialog. */
export interface Code {
  code: string
  appId: string
  personId: string
  redirectUri: string
  scopes: string[]
  declined: string[]
  /** The person's pages that the application may see. */
  pageIds: string[]
  createdAt: number
}

export interface Token {
  token: string
  appId: string
  personId: string
  /** `null` for a user token. */
  pageId: string | null
  scopes: string[]
  /** The pages that a user token may read. */
  pageIds: string[]
  /** Milliseconds since 1970; 0: never. */
  expiresAt: number
  issuedAt: number
  /** The reason why it is invalid; `null` while it is valid. */
  death: 'removed' | 'password' | 'expired' | 'role' | null
}

export interface Photo {
  id: string
  pageId: string
  url: string
  mimeType: string
  altText: string
  /** The post that shows it. */
  postId: string | null
  createdAt: number
}

export interface Video {
  id: string
  pageId: string
  url: string
  mimeType: string
  description: string
  /** Why its processing fails; null if it succeeds. */
  problem: string | null
  /** Time from which it can be read by its id. */
  readableAt: number
  /** Time at which it becomes public. */
  readyAt: number
  createdAt: number
}

export interface PagePost {
  /** `<page>_<post>`. */
  id: string
  pageId: string
  message: string
  link: string | null
  photoIds: string[]
  videoId: string | null
  /** When it was published; null for a draft. */
  publishedAt: number | null
  createdAt: number
  /** Time of the last change of its text, or of the publication of a draft; absent while it was never changed. */
  changedAt?: number
  /** The texts of its edits, oldest first. */
  edits?: string[]
  /** True for a post that a person has published on the page itself. */
  isByPerson?: true
  counted?: Counted
}

export interface Comment {
  /** `<post>_<comment>` on pages. */
  id: string
  /** The post, video or professional account's post that it is below. */
  postId: string
  /** The page or professional account that wrote it, or another person. */
  authorId: string
  text: string
  createdAt: number
}

/** The simulator's stored data. `table` opens additional ones. */
export function openState(file: string) {
  const table = openTables(file)
  const nextId = createIds((now) => now * 100n)

  return {
    table,
    apps: table<App>('apps'),
    persons: table<Person>('persons'),
    pages: table<Page>('pages'),
    instagramAccounts: table<InstagramAccount>('instagramAccounts'),
    codes: table<Code>('codes'),
    tokens: table<Token>('tokens'),
    photos: table<Photo>('photos'),
    videos: table<Video>('videos'),
    posts: table<PagePost>('posts'),
    comments: table<Comment>('comments'),
    /** Returns a new id; ids increase over time. `prefix` identifies the kind. */
    newId: (prefix = ''): string => `${prefix}${nextId()}`,
  }
}

export type MetaState = ReturnType<typeof openState>
