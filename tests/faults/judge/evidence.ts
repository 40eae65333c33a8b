import type { Platform } from '../../../src/domain/shared/platforms.ts'
import type { DeliveryStatus, PostStatus } from '../../../src/domain/posts/post.ts'
import type { Target } from '../../../src/domain/posts/targets.ts'

/**
 * The plain data that the judge reads, and nothing else. Times that the run measured are milliseconds since 1970. Times from the
 * database are dates, as stored.
 */
export interface Evidence {
  /** When the evidence was gathered, after everything had become idle. */
  at: number
  operations: Operation[]
  posts: StoredPost[]
  users: StoredUser[]
  notifications: StoredNotification[]
  /** The feeds; null where a test does not judge them. */
  events: StoredEvent[] | null
  /** The webhooks that users have had since before their first event. */
  webhooks: WebhookEvidence[]
  platforms: PlatformEvidence[]
  /** When which server or process was down or frozen. */
  outages: Outage[]
  exits: ProcessExit[]
  canaries: Canary[]
  /** The texts that are searched for canaries in addition to the responses: logs, workflow histories, the database. */
  documents: Document[]
  /** How long after a claim its call may still begin, in milliseconds: the call's timeout and its margin. */
  leaseMs: number
}

/** `stop` cancels the waiting deliveries to some accounts. */
export type OperationKind = 'create' | 'edit' | 'cancel' | 'stop' | 'retry' | 'delete' | 'read' | 'other'

/** The body of the response to a `stop`: the platforms whose deliveries it ended. */
export interface StopBody {
  stopped: Platform[]
}

/** One request of a client and its response. */
export interface Operation {
  kind: OperationKind
  userId: string
  /** For a create, the id from its response; null without one. */
  postId: string | null
  sentAt: number
  /** Null without a response: the operation may have taken effect or not. */
  answeredAt: number | null
  status: number | null
  /** The fields that a create or an edit sets. An edit leaves absent fields unchanged. */
  input?: PostInput
  /** The body of the response. */
  body?: unknown
  /** The API process that got the request, by its name in `outages`. */
  process?: string
}

export interface PostInput {
  text?: string
  /** The texts of the further posts of a thread. */
  segments?: string[]
  firstComment?: string
  /** The texts that differ from the common text, by platform and by id of an account. */
  overrides?: Partial<Record<Target, string>>
  /** Adds the user's image. */
  withImage?: boolean
  /** Milliseconds since 1970; null means now. */
  scheduledAt?: number | null
  status?: 'DRAFT' | 'PENDING' | 'SCHEDULED'
  /** The platforms whose default account the post is for. */
  platforms?: Platform[]
  /** The ids of further accounts. */
  accounts?: string[]
  idempotencyKey?: string
}

/** The fields of a stored post that the judge reads. */
export interface StoredPost {
  _id: string
  userId: string
  content: { text: string; segments?: { text: string }[]; firstComment?: string }
  selectedPlatforms: Platform[]
  selectedAccounts?: string[]
  /** Events that are not in the feed yet. */
  pendingEvents?: unknown[]
  scheduledAt?: Date | null
  dueAt: Date | null
  status: PostStatus
  correlationId: string | null
  platformStatuses: {
    platform: Platform
    /** The id of a further account; absent for the default account. */
    target?: string
    status: DeliveryStatus
    platformPostId: string | null
    errorCode: string | null
    platformReason?: { code: string | null } | null
    completedAt: Date | null
    /** The published posts of a thread, in order. */
    parts?: { platformPostId: string }[]
    comment?: { status: string; platformPostId?: string; errorCode?: string | null }
    delivery: { round: number; attempt: number; outcome?: string }
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

export interface StoredEvent {
  _id: string
  userId: string
  sequence: number
  type: string
  data: { postId?: string; platformPostId?: string; scheduledAt?: string | null }
}

/** The requests that the receiver of a webhook got, in order. */
export interface WebhookEvidence {
  userId: string
  received: ReceivedEvent[]
}

export interface ReceivedEvent {
  id: string
  sequence: number
  type: string
  /** The id in the header `webhook-id`. */
  headerId: string
  isSigned: boolean
}

/** A post that the public sees. */
export interface LedgerRecord {
  id: string
  account: string
  text: string
  /** The id of the post that it replies to, or comments on. */
  replyTo?: string
}

/** What a platform has of the default accounts of all users, or of one further account. */
export interface PlatformEvidence {
  platform: Platform
  /** The id of the further account. */
  target?: string
  /** The posts that the public sees. */
  ledger: LedgerRecord[]
  /** The calls that reached the platform. Only a call that makes a post visible has a `text`, whatever its response was. */
  requests: { receivedAt: string; text?: string }[]
  /** How often each account's tokens were renewed, and how often they had expired. Absent where renewals are not counted. */
  renewals?: { account: string; actual: number; expected: number }[]
  /** The token requests for new connections, and the valid callbacks. Absent where exchanges are not counted. */
  exchanges?: { actual: number; expected: number }
}

export interface Outage {
  /** `mongod`, `temporal`, `storage`, or a process of the service such as `api-1`. */
  process: string
  from: number
  /** Null when the outage lasted until the end. */
  until: number | null
}

export interface ProcessExit {
  process: string
  at: number
  /** A phrase such as `ended with code 1`. */
  how: string
  /** The run itself ended the process. */
  intended: boolean
}

/** A secret that must not appear in documents or responses. */
export interface Canary {
  name: string
  value: string
  /** Prefixes of the sources that may contain it. */
  allowedIn?: string[]
}

export interface Document {
  /** A phrase such as `the log of api-1`. */
  source: string
  text: string
}

export interface Violation {
  invariant: 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I7' | 'I8' | 'I9' | 'I10' | 'renewal' | 'connect'
  /** A sentence that names the post and the contradiction. */
  message: string
}

/** Puts a marker before a text. Edits keep the marker, so that it identifies the post on a platform. */
export function marked(marker: string, text: string): string {
  return `[${marker}] ${text}`
}

/** Returns the key that matches posts with platform records: the marker, or the whole text without one. Several posts may share it. */
export function toMatchKey(text: string): string {
  return /^\[([\w-]+)\] /.exec(text)?.[1] ?? text
}
