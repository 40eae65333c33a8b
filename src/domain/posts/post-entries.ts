import { failure, type Failure } from './failure.ts'
import type { Platform } from '../shared/platforms.ts'
import type { Delivery, DeliveryStatus, PlatformStatus, Post, PostStatus } from './post.ts'

/** Names an effect on a platform among all posts. */
export function toPublishedKey(platform: Platform, platformPostId: string): string {
  return `${platform}:${platformPostId}`
}

/** The status of a post whose delivery began, from its platform statuses; `deleted` counts as accepted (invariant I5). */
export function rollUp(statuses: readonly { status: DeliveryStatus }[]): PostStatus {
  if (statuses.some(({ status }) => status === 'pending' || status === 'processing')) return 'PROCESSING'
  const failed = statuses.filter(({ status }) => status === 'failed').length
  if (failed === 0) return 'COMPLETED'
  return failed === statuses.length ? 'FAILED' : 'PARTIAL_SUCCESS'
}

/** What the first claim of a publication fixes, and what was prepared for it, before either. */
export const UNCLAIMED = {
  key: null,
  startedAt: null,
  accountId: null,
  contentVersion: null,
  handles: {},
} satisfies Partial<Delivery>

export function createDelivery(): Delivery {
  return {
    ...UNCLAIMED,
    round: 0,
    attempt: 0,
    leaseUntil: null,
    outcome: 'none',
    doubted: false,
    tries: 0,
    reconcileTries: 0,
    nextAttemptAt: null,
  }
}

export function createPlatformStatus(platform: Platform): PlatformStatus {
  return {
    platform,
    status: 'pending',
    platformPostId: null,
    platformPostUrl: null,
    error: null,
    errorCode: null,
    attemptCount: 0,
    lastAttemptAt: null,
    completedAt: null,
    lastAnalyticsFetch: null,
    delivery: createDelivery(),
  }
}

/** Whether an earlier visible call may have been accepted without our knowing: it must be reconciled before any repeat. */
export function needsReconciliation(delivery: Delivery, now: Date): boolean {
  if (delivery.outcome === 'unknown') return true
  return delivery.leaseUntil !== null && delivery.leaseUntil <= now
}

/** What was prepared for this very account and content; anything else is worthless. */
export function selectHandles(delivery: Delivery, accountId: string, contentVersion: number): Record<string, string> {
  const fits = delivery.accountId === accountId && delivery.contentVersion === contentVersion
  return fits ? delivery.handles : {}
}

/** What was prepared on this account for words that are no longer those of the post, and is of no use now; null when there is nothing. */
export function findOutdatedHandles(
  { accountId, contentVersion, handles }: Delivery,
  of: { accountId: string; contentVersion: number },
): Record<string, string> | null {
  const isOutdated = accountId === of.accountId && contentVersion !== of.contentVersion
  return isOutdated && Object.keys(handles).length > 0 ? handles : null
}

/** Whether any platform was claimed or ended: from then on the status is the roll-up. */
export function hasBegun(post: Post): boolean {
  return (
    post.status !== 'DRAFT' && post.status !== 'PENDING' && post.status !== 'SCHEDULED' && post.status !== 'CANCELLED'
  )
}

/** The entry while its delivery in this round is still open, else null. */
export function findOpenEntry(post: Post, platform: Platform, round: number): PlatformStatus | null {
  if (post.status !== 'PENDING' && post.status !== 'SCHEDULED' && post.status !== 'PROCESSING') return null
  const entry = findEntry(post, platform)
  if (!entry || entry.delivery.round !== round) return null
  return entry.status === 'pending' || entry.status === 'processing' ? entry : null
}

/** Whether a platform accepted the post, or may have: what was ever in doubt counts as reached. */
export function hasReachedAnyPlatform({ publishedKeys, platformStatuses }: Post): boolean {
  if (publishedKeys !== undefined) return true
  return platformStatuses.some(({ status, delivery }) => {
    const isOpen = status === 'processing' || delivery.leaseUntil !== null || delivery.outcome === 'unknown'
    return isOpen || delivery.doubted || status === 'completed' || status === 'deleted'
  })
}

export function findEntry(post: Post, platform: Platform): PlatformStatus | null {
  return post.platformStatuses.find((entry) => entry.platform === platform) ?? null
}

/** The fields of an entry that say why it failed, or why it waits. */
export function toCauseFields(reason: Failure | null): Pick<PlatformStatus, 'error' | 'errorCode' | 'platformReason'> {
  return {
    error: reason?.message ?? null,
    errorCode: reason?.code ?? null,
    platformReason: reason?.platformReason ?? null,
  }
}

/** Returns why an entry failed, or waits; null when nothing went wrong. */
export function toFailure({ error, errorCode, platformReason }: PlatformStatus): Failure | null {
  return errorCode === null ? null : failure(errorCode, error ?? 'Unknown', platformReason)
}

/** The post with one entry changed, and the status that follows from it. */
export function updateEntry(post: Post, platform: Platform, change: Partial<PlatformStatus>): Post {
  return rollUpPost({
    ...post,
    platformStatuses: post.platformStatuses.map((entry) =>
      entry.platform === platform ? { ...entry, ...change } : entry,
    ),
  })
}

/** The one place where the status of a begun delivery is set. */
export function rollUpPost(post: Post): Post {
  return { ...post, status: rollUp(post.platformStatuses) }
}
