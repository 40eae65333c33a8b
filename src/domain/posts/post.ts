import type { FailureCode } from './failure.ts'
import type { PlatformOptions } from './options.ts'
import type { Outage } from './outages.ts'
import type { PlatformReason } from './platform-reason.ts'
import type { Platform } from '../shared/platforms.ts'
import type { Problem } from '../shared/service-error.ts'

/** Values of a post's `status`. */
export const POST_STATUSES = [
  'DRAFT',
  'PENDING',
  'SCHEDULED',
  'PROCESSING',
  'COMPLETED',
  'PARTIAL_SUCCESS',
  'FAILED',
  'CANCELLED',
] as const

export type PostStatus = (typeof POST_STATUSES)[number]

/** Values of `metadata.source`: `web` for a request from a page. */
export const POST_SOURCES = ['web', 'api'] as const

export type PostSource = (typeof POST_SOURCES)[number]

/** The programs that name themselves when they write a post. */
export const NAMED_CLIENTS = ['console', 'cli', 'mcp', 'sdk'] as const

/** Values of `metadata.client`: what wrote a post. `import` is a file, `api` a program without a name. */
export const POST_CLIENTS = [...NAMED_CLIENTS, 'import', 'api'] as const

export type PostClient = (typeof POST_CLIENTS)[number]

/** Where a post comes from. It never changes. */
export interface PostMetadata {
  source: PostSource
  client: PostClient
}

/** Values of a platform status's `status`. */
export const DELIVERY_STATUSES = ['pending', 'processing', 'completed', 'failed', 'deleted'] as const

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** The longest hold: how long an immediate post waits, seconds. */
export const MAX_HOLD_SECONDS = 120

/** Accepted media types of a post. `image/jpg` is stored as `image/jpeg`. */
export const MEDIA_TYPES = [
  'image/png',
  'image/jpeg',
  'image/jpg',
  'image/webp',
  'video/mp4',
  'video/quicktime',
] as const

export interface MediaItem {
  storageKey: string
  /** Always derived from `storageKey`, never taken from a client. */
  storageUrl: string
  mimeType: string
  originalFilename?: string
  sizeBytes?: number
  /** Pixels. */
  width?: number
  height?: number
  /** Seconds. */
  duration?: number
  altText?: string
}

/** A further post of a thread. */
export interface Segment {
  text: string
  mediaItems: MediaItem[]
}

/** The choice for platforms that can publish no thread, or no first comment: the post is refused, its texts are joined, or it is left out. */
export const UNSUPPORTED_POLICIES = ['refuse', 'join', 'skipPlatform'] as const

export type UnsupportedPolicy = (typeof UNSUPPORTED_POLICIES)[number]

/** `auto`: the first link of the text becomes a card. `none`: no link does. */
export const LINK_MODES = ['auto', 'none'] as const

/** A link that a post shows as a card. What is absent is read from the page. */
export interface LinkCard {
  url: string
  title?: string
  description?: string
  image?: MediaItem
}

/** Which link of a post becomes a card. */
export type LinkChoice = (typeof LINK_MODES)[number] | LinkCard

export interface Content {
  text: string
  mediaItems: MediaItem[]
  /** The posts of a thread after the first, each a reply to the one before; absent or empty without any. */
  segments?: Segment[]
  /** The author's comment below the published post; absent or empty without one. */
  firstComment?: string
  /** Absent: `refuse`. */
  onUnsupported?: UnsupportedPolicy
  options?: PlatformOptions
  /** Absent: `auto`. */
  link?: LinkChoice
}

/** Content override for one platform. Each present field replaces that of `content`. */
export type ContentOverride = Partial<Content>

/** Result of the last visible call or of its reconciliation. */
export type Outcome = 'none' | 'accepted' | 'refused' | 'deferred' | 'unknown'

/**
 * Internal delivery state of one platform: of its next part, where a post has several (domain/posts/parts.ts). No API response contains it.
 */
export interface Delivery {
  /** Idempotency key (`toDeliveryKey`); null before the first claim. */
  key: string | null
  /** When the first call with this key was claimed, or may have been since a backup; null before it. */
  startedAt: Date | null
  /** When the post was due at that claim; null before it. */
  dueAt: Date | null
  /** Incremented by every user retry. */
  round: number
  /** Incremented by every claim. Together with `round` and the part it identifies the attempt that an outcome belongs to. */
  attempt: number
  accountId: string | null
  /** The post's `contentVersion` for which `handles` were prepared. */
  contentVersion: number | null
  /** Results of preparation by name, such as the id of an uploaded file. */
  handles: Record<string, string>
  /** End of the claiming attempt's exclusive right to send; null when there is no claim. */
  leaseUntil: Date | null
  outcome: Outcome
  /** True once a visible call's outcome was unknown. Such a delivery keeps its key when the user retries. */
  hadUnknownOutcome: boolean
  /** True when the call with the unknown outcome got a response, so that no server is still processing it; absent: not known. */
  answered?: boolean
  /** When the last call began that got no response and was repeated nevertheless; absent: there is none. It may still take effect. */
  unansweredAt?: Date
  /** When the delivery was restored from a backup (`markRestored`), until a search has shown that it was not published; absent otherwise. */
  restoredAt?: Date
  /** True from a user's retry until the next visible call: the post may be sent again if reconciliation cannot determine the outcome. */
  repeatAllowed?: boolean
  /** Retryable definite failures in this round. */
  tries: number
  /** Reconciliations of an unknown outcome in this round. */
  reconcileTries: number
  nextAttemptAt: Date | null
  /** The due time that decides the turn under a quota, once a retry of others has changed the post's; absent: the post's. */
  turnDueAt?: Date
  /** Set while the delivery waits for a server that cannot be reached. */
  outage: Outage | null
}

/** A post of a thread that is published. */
export interface PublishedPart extends Published {
  completedAt: Date
}

/** The first comment of a published post: `pending` once a failed one is retried. Its failure is no failure of the post. */
export type CommentStatus =
  ({ status: 'completed' } & PublishedPart) | ({ status: 'failed' } & Cause) | { status: 'pending' }

/** Why a delivery failed, or why its last attempt failed while the next one is pending. */
export interface Cause {
  /** A sentence for users. */
  error: string | null
  errorCode: FailureCode | null
  /** The platform's own explanation of the failure; absent before the first one. */
  platformReason?: PlatformReason | null
}

/** A request to change what is published. */
export type PublishedChange = {
  requestedAt: Date
  /** The id of the user, or of the API key after `key:`. */
  requestedBy: string
} & ({ status: 'pending' } | { status: 'completed'; completedAt: Date } | ({ status: 'failed' } & Cause))

/** An edit of the published post. */
export type Revision = PublishedChange & {
  /** Replaces the text of the first post. */
  text: string
  /** When a call began that may still make the edit; absent: no such call is known. */
  calledAt?: Date
}

export interface PlatformStatus extends Cause {
  platform: Platform
  /** The id of the account that the user chose; absent for the default account of the platform. */
  target?: string
  /** The id of the account that it is published with; absent while the platform has none. */
  accountId?: string
  /** The handle and the server of that account. */
  accountName?: string
  server?: string
  status: DeliveryStatus
  /** The first post of a thread, as soon as it is published. */
  platformPostId: string | null
  platformPostUrl: string | null
  /** A sentence for users about what the published post lacks, such as a file or the card of its link; absent when it lacks nothing. */
  warning?: string
  /** The published posts of a thread or of a post with a comment, in order; absent before the first one, and for all other posts. */
  parts?: PublishedPart[]
  /** Absent until the first comment has ended, and for posts without one. */
  comment?: CommentStatus
  /** Absent until a removal is requested, null once the post is retried after it. */
  removal?: PublishedChange | null
  /** The edits of the published post in the order of their requests; absent before the first. */
  revisions?: Revision[]
  /**
   * Id of the duplicate that the user submitted for the same account after the failure. Absent before, null once the delivery is retried
   * after it.
   */
  replacedBy?: string | null
  attemptCount: number
  lastAttemptAt: Date | null
  completedAt: Date | null
  lastAnalyticsFetch: Date | null
  /** When the platform removes the post by itself, as it does with stories; absent: never. */
  endsAt?: Date
  /**
   * When metrics are collected next; while a collector has claimed the entry, when its lease ends. Null when they are not collected any more,
   * absent before the publication.
   */
  metricsDueAt?: Date | null
  delivery: Delivery
}

/** The check of a scheduled post shortly before it is due. */
export interface DueCheck {
  /** Null since the post was changed, and while something would make it fail. */
  at: Date | null
  /** The targets whose owner was warned. */
  warned: string[]
}

/** A group of accounts that a post is for, as it was when the post was stored. Later changes of the group do not reach the post. */
export interface PostGroup {
  id: string
  name: string
  /** The accounts that the post has through the group; another part of the selection may name them as well. */
  accountIds: string[]
}

export const LATE_ACTIONS = ['skip', 'ask'] as const

/** The action for a post that could not be sent in time. */
export interface IfLate {
  action: (typeof LATE_ACTIONS)[number]
  /** After the due time. */
  afterMinutes: number
}

export interface FirstResponse {
  status: PostStatus
  scheduledAt: Date | null
  dueAt: Date | null
  warnings: Problem[]
}

export interface Post {
  _id: string
  userId: string
  content: Content
  platformSpecificContent: Partial<Record<Platform, ContentOverride>>
  /** Overrides by account id, which come before those of the platform; absent without any. */
  accountSpecificContent?: Record<string, ContentOverride>
  /** Incremented by every edit of the content, and when the post may have to be published on another account. */
  contentVersion: number
  selectedPlatforms: Platform[]
  /** Ids of accounts besides the default ones of the platforms; absent without any. */
  selectedAccounts?: string[]
  /** Absent without any. */
  groups?: PostGroup[]
  scheduledAt: Date | null
  /**
   * When delivery is due: `scheduledAt`, or a little later in a burst of one user (`toBurstDelayMs`), or else the end of the hold after the
   * creation, or the time of the user's retry; null for drafts.
   */
  dueAt: Date | null
  /**
   * How many posts were already scheduled for this second when this one was: such a post is armed earlier. Absent for immediate posts.
   */
  dueRank?: number
  timezone: string
  status: PostStatus
  platformStatuses: PlatformStatus[]
  correlationId: string | null
  /** Hash of the parsed body of the request with `correlationId`. */
  requestHash: string | null
  /** Response to the creating request. Repeats with the same `correlationId` get the same response. */
  firstResponse?: FirstResponse
  metadata: PostMetadata
  /**
   * Id of the draft that took over this post's share of the plan's allowance; absent while the post has its own. A retry takes
   * a further share first, so that one share never publishes two posts.
   */
  allowanceMovedTo?: string
  /** Id of the post that this one was duplicated from; absent for all others. */
  duplicateOf?: string
  /**
   * Id of the account or group whose slot at `scheduledAt` the post has taken; null once it has left it, absent for posts that never took
   * one.
   */
  slotOf?: string | null
  /** Absent or null: the post is sent, however late. */
  ifLate?: IfLate | null
  /** Absent before the first check. */
  dueCheck?: DueCheck
  /** True until Temporal acknowledges the workflow start or signal for the latest change. */
  startPending: boolean
  /** When a pending change of what is published was requested, or is tried again; null when none is pending, absent before the first. */
  changeDueAt?: Date | null
  /** `toPublishedKey` of every platform post, each held by one post only; absent before the first. */
  publishedKeys?: string[]
  revision: number
  createdAt: Date
  updatedAt: Date
}

/** The platform's response to an accepted visible call. */
export interface Published {
  platformPostId: string
  platformPostUrl: string
  /** As `PlatformStatus.warning`. */
  warning?: string
}

/** Identifies the attempt that reports an outcome. */
export interface AttemptRef {
  round: number
  attempt: number
  /** See `toPartIndex`; absent: the first. */
  part?: number
}

/** A pure change of a post. Returns the same object when nothing changes, and throws when the change is not allowed. */
export type Move = (post: Post, now: Date) => Post
