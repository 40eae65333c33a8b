import type { FailureCode } from './failure.ts'
import type { PlatformReason } from './platform-reason.ts'
import type { Platform } from '../shared/platforms.ts'
import type { Problem } from '../shared/service-error.ts'

/** Post `status` (spec section 3). */
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

/** Platform status `status` (spec section 3). */
export const DELIVERY_STATUSES = ['pending', 'processing', 'completed', 'failed', 'deleted'] as const

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** The types a post's media may have (spec 4.3); `image/jpg` is stored as `image/jpeg`. */
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

export interface Content {
  text: string
  mediaItems: MediaItem[]
}

/** Overrides of one platform: what is given replaces the same part of `content`. */
export type ContentOverride = Partial<Content>

/** What the last visible call, or the search for its trace, came to. */
export type Outcome = 'none' | 'accepted' | 'refused' | 'deferred' | 'unknown'

/** The server's own record of one platform's delivery; no response shows it (design section 3). */
export interface Delivery {
  /** Stable idempotency key and instant of the first claim; null before it. */
  key: string | null
  startedAt: Date | null
  /** Grows with every user retry. */
  round: number
  /** Grows with every claim; with `round` it names the attempt an outcome belongs to. */
  attempt: number
  accountId: string | null
  /** The post's `contentVersion` that `handles` were prepared from. */
  contentVersion: number | null
  handles: Record<string, string>
  /** Until when the attempt that claimed alone may send. */
  leaseUntil: Date | null
  outcome: Outcome
  /** True once a visible call's outcome was ever in doubt: such a delivery keeps its key over a user's retry. */
  doubted: boolean
  /** True when the call whose outcome is unknown was answered, so that no server still works on it; absent means not known. */
  answered?: boolean
  /** True from a user's retry to the next visible call: where reconciling cannot decide, the user has decided. */
  repeatAllowed?: boolean
  /** Definite failures in this round that allowed another try. */
  tries: number
  /** Looks for the trace of an unknown outcome, in this round. */
  reconcileTries: number
  nextAttemptAt: Date | null
}

export interface PlatformStatus {
  platform: Platform
  status: DeliveryStatus
  platformPostId: string | null
  platformPostUrl: string | null
  /** Why the delivery failed, or why the last attempt did while the next one is waited for; in our words. */
  error: string | null
  errorCode: FailureCode | null
  /** What the platform itself said of it; absent before there was anything. */
  platformReason?: PlatformReason | null
  attemptCount: number
  lastAttemptAt: Date | null
  completedAt: Date | null
  lastAnalyticsFetch: Date | null
  /** The last slot whose metrics nobody has to ask for any more, with or without a snapshot; absent before the first. */
  metricsSlot?: Date
  delivery: Delivery
}

export interface FirstAnswer {
  status: PostStatus
  scheduledAt: Date | null
  warnings: Problem[]
}

export interface Post {
  _id: string
  userId: string
  content: Content
  platformSpecificContent: Partial<Record<Platform, ContentOverride>>
  /** Grows with every edit of what is published, and when it may have to be published for somebody else. */
  contentVersion: number
  selectedPlatforms: Platform[]
  scheduledAt: Date | null
  /** When delivery is due: `scheduledAt`, else the instant of creation or of the user's retry; null for drafts. */
  dueAt: Date | null
  timezone: string
  status: PostStatus
  platformStatuses: PlatformStatus[]
  correlationId: string | null
  /** Hash of the parsed body that came with `correlationId`. */
  requestHash: string | null
  /** What the creating request was answered: its repeats with the same `correlationId` get the same. */
  firstAnswer?: FirstAnswer
  metadata: { source: 'web' | 'api' }
  /**
   * The draft that was made from this post and took over its share of the plan's allowance; absent while the post has its own. Such a post
   * cannot be retried, so that one share never publishes two posts.
   */
  allowanceMovedTo?: string
  /** True until a workflow start or signal for the latest change is acknowledged. */
  startPending: boolean
  /** `publishedKey` of every effect on a platform; no two posts hold the same. Absent before the first. */
  publishedKeys?: string[]
  revision: number
  createdAt: Date
  updatedAt: Date
}

/** What a platform answered to the visible call. */
export interface Published {
  platformPostId: string
  platformPostUrl: string
}

/** The attempt an outcome comes from. */
export interface AttemptRef {
  round: number
  attempt: number
}

/** A change of a post: pure, returns a new post (or the same one when nothing changes), throws when it is not allowed. */
export type Move = (post: Post, now: Date) => Post
