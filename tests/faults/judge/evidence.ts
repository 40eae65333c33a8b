import type { Platform } from '../../../src/domain/shared/platforms.ts'
import type { DeliveryStatus, PostStatus } from '../../../src/domain/posts/post.ts'

/**
 * What a run left behind, as plain data: the judge reads nothing else. Instants that were taken by the run are
 * milliseconds since 1970; those out of the database are dates, as stored.
 */
export interface Evidence {
  /** When everything was idle and the evidence was gathered. */
  at: number
  operations: Operation[]
  posts: StoredPost[]
  users: StoredUser[]
  notifications: StoredNotification[]
  platforms: PlatformEvidence[]
  /** What was taken away on purpose, and when. */
  outages: Outage[]
  exits: ProcessExit[]
  canaries: Canary[]
  /** Documents that are searched for canaries, in addition to the responses: logs, workflow histories, the database. */
  documents: Document[]
  /** How long a claim may be sent under: the call's deadline and its margin. */
  leaseMs: number
}

export type OperationKind = 'create' | 'edit' | 'cancel' | 'retry' | 'delete' | 'read' | 'other'

/** One request of a client, and what came of it. */
export interface Operation {
  kind: OperationKind
  userId: string
  /** Id from the response to a create; null without a response. */
  postId: string | null
  sentAt: number
  /** Null: no answer, so it may have been done or not. */
  answeredAt: number | null
  status: number | null
  /** What a create or an edit asked for; what is absent stays as it was. */
  wish?: Wish
  /** The answer's body. */
  body?: unknown
  /** The API process that was asked, as outages name it. */
  process?: string
}

export interface Wish {
  text?: string
  /** Other words for a platform. */
  overrides?: Partial<Record<Platform, string>>
  /** With the user's image. */
  withImage?: boolean
  /** Milliseconds; null means now. */
  scheduledAt?: number | null
  status?: 'DRAFT' | 'PENDING' | 'SCHEDULED'
  platforms?: Platform[]
  idempotencyKey?: string
}

/** The part of a stored post that is judged. */
export interface StoredPost {
  _id: string
  userId: string
  content: { text: string }
  selectedPlatforms: Platform[]
  dueAt: Date | null
  status: PostStatus
  correlationId: string | null
  platformStatuses: {
    platform: Platform
    status: DeliveryStatus
    platformPostId: string | null
    errorCode: string | null
    completedAt: Date | null
    delivery: { round: number; outcome?: string }
  }[]
}

export interface StoredUser {
  _id: string
  usage: { postsCreated: number }
  limits: { maxPosts: number }
}

export interface StoredNotification {
  userId: string
  dedupeKey: string
  type: string
  reference: { id: string }
}

export interface PlatformEvidence {
  platform: Platform
  /** What the public sees. */
  ledger: { id: string; account: string; text: string }[]
  /** What reached the platform; `text` is that of a call which makes a post visible, whatever it was answered. */
  requests: { receivedAt: string; text?: string }[]
  /** Where it is counted: how often an account's tokens were renewed, and how often they had ended. */
  renewals?: { account: string; made: number; due: number }[]
  /** Where it is counted: token requests for new connections, and the number of callbacks that were valid for one. */
  exchanges?: { made: number; due: number }
}

export interface Outage {
  /** `mongod`, `temporal`, `storage`, or the name of a process such as `api-1`. */
  what: string
  from: number
  /** Null: to the end. */
  until: number | null
}

export interface ProcessExit {
  process: string
  at: number
  how: string
  /** We did it. */
  intended: boolean
}

/** A planted secret. */
export interface Canary {
  name: string
  value: string
  /** Names (or prefixes) of documents that may contain it. */
  mayStandIn?: string[]
}

export interface Document {
  where: string
  text: string
}

export interface Violation {
  invariant: 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I7' | 'I8' | 'renewal' | 'connect'
  /** Names the post and what speaks against it. */
  sentence: string
}

/** The words of a post with a mark that edits keep, which identifies the post on a platform. */
export function marked(marker: string, words: string): string {
  return `[${marker}] ${words}`
}

/** What posts and records are matched by: the mark, or the whole text where there is none. Posts may share it. */
export function keyOf(text: string): string {
  return /^\[([\w-]+)\] /.exec(text)?.[1] ?? text
}
