import { failure, type Failure } from './failure.ts'
import type { Platform } from '../shared/platforms.ts'
import { resolveContent } from './content.ts'
import { toPartIndex, toParts } from './parts.ts'
import { toTarget, type ChosenAccount, type Target } from './targets.ts'
import type { Cause, CommentStatus, Delivery, DeliveryStatus, PlatformStatus, Post, PostStatus } from './post.ts'

/** Returns the key that identifies a platform post across all posts. */
export function toPublishedKey(platform: Platform, platformPostId: string): string {
  return `${platform}:${platformPostId}`
}

/** Computes the status of a post after its first claim from its platform statuses. `deleted` counts as accepted. */
export function rollUp(statuses: readonly { status: DeliveryStatus }[]): PostStatus {
  if (statuses.some(({ status }) => status === 'pending' || status === 'processing')) return 'PROCESSING'
  const failed = statuses.filter(({ status }) => status === 'failed').length
  if (failed === 0) return 'COMPLETED'
  // guard: roll-up
  return failed === statuses.length ? 'FAILED' : 'PARTIAL_SUCCESS'
}

/** Initial values of the fields that preparation and the first claim set. */
export const UNCLAIMED = {
  key: null,
  startedAt: null,
  dueAt: null,
  accountId: null,
  contentVersion: null,
  handles: {},
} satisfies Partial<Delivery>

/**
 * Returns the idempotency key of a delivery that has none. It depends only on what a backup holds, so that a restored delivery repeats
 * an earlier call with the same key (ADR "A restored delivery begins in doubt").
 */
export function toDeliveryKey({ _id }: Pick<Post, '_id'>, entry: PlatformStatus): string {
  const part = toPartIndex(entry)
  return `${_id}/${toTarget(entry)}${part === 0 ? '' : `.${part}`}/${entry.delivery.round}`
}

/** Returns the due time of a part: the parts of a post have different ones, so that platforms show them in order. */
export function toPartDueAt(dueAt: Date, entry: PlatformStatus): Date {
  return new Date(dueAt.getTime() + toPartIndex(entry))
}

/** Returns the key that replaces one whose effect belongs to another post. */
export function toNextKey(key: string): string {
  const [postId, target, round, step = '0'] = key.split('/')
  return [postId, target, round, Number(step) + 1].join('/')
}

export function createDelivery(): Delivery {
  return {
    ...UNCLAIMED,
    round: 0,
    attempt: 0,
    leaseUntil: null,
    outcome: 'none',
    hadUnknownOutcome: false,
    tries: 0,
    reconcileTries: 0,
    nextAttemptAt: null,
    outage: null,
  }
}

export function createPlatformStatus(
  platform: Platform,
  account: Omit<ChosenAccount, 'platform'> = {},
): PlatformStatus {
  return {
    platform,
    ...account,
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

/** Returns true when an earlier visible call has an unknown outcome. It must be reconciled before the call is repeated. */
export function needsReconciliation(delivery: Delivery, now: Date): boolean {
  if (delivery.outcome === 'unknown') return true
  return delivery.leaseUntil !== null && delivery.leaseUntil <= now
}

/**
 * Returns whether an earlier call without a response may still publish the post, whatever the response to its repeat was.
 * @param settleMs how long after its start such a call may take effect
 */
export function mayTakeEffect({ unansweredAt }: Delivery, now: Date, settleMs: number): boolean {
  return unansweredAt !== undefined && now.getTime() - unansweredAt.getTime() < settleMs
}

/**
 * Returns whether a call of a published entry may still publish a second post. That post would belong to an equal post, because the platform
 * post of the entry may come from a call of the equal one.
 */
export function mayPublishAnother(
  { status, lastAttemptAt, delivery }: PlatformStatus,
  now: Date,
  settleMs: number,
): boolean {
  if (status !== 'completed' || !delivery.hadUnknownOutcome) return false
  const isUnanswered = !delivery.answered && lastAttemptAt !== null
  const calls = isUnanswered ? { ...delivery, unansweredAt: lastAttemptAt } : delivery
  return mayTakeEffect(calls, now, settleMs)
}

/** Returns the handles that were prepared for this account and content version; empty when they belong to another. */
export function selectHandles(delivery: Delivery, accountId: string, contentVersion: number): Record<string, string> {
  const fits = delivery.accountId === accountId && delivery.contentVersion === contentVersion
  return fits ? delivery.handles : {}
}

/** Returns handles prepared on this account for an older content version; null when there are none. */
export function findOutdatedHandles(
  { accountId, contentVersion, handles }: Delivery,
  current: { accountId: string; contentVersion: number },
): Record<string, string> | null {
  const isOutdated = accountId === current.accountId && contentVersion !== current.contentVersion
  return isOutdated && Object.keys(handles).length > 0 ? handles : null
}

/** Returns true once any platform was claimed or ended. From then on `rollUp` determines the post's status. */
export function hasBegun(post: Post): boolean {
  return (
    post.status !== 'DRAFT' && post.status !== 'PENDING' && post.status !== 'SCHEDULED' && post.status !== 'CANCELLED'
  )
}

/** Returns the entry while its delivery in this round is open, else null. */
export function findOpenEntry(post: Post, target: Target, round: number): PlatformStatus | null {
  // guard: open post
  if (!isOpenPost(post)) return null
  const entry = findEntry(post, target)
  return entry && entry.delivery.round === round && isOpenEntry(entry) ? entry : null
}

function isOpenPost({ status }: Post): boolean {
  return status === 'PENDING' || status === 'SCHEDULED' || status === 'PROCESSING'
}

export function isOpenEntry({ status }: PlatformStatus): boolean {
  return status === 'pending' || status === 'processing'
}

/** Returns true while a delivery is open and certainly nothing of its next part was sent. */
export function isIdle(entry: PlatformStatus): boolean {
  const { leaseUntil, outcome, hadUnknownOutcome } = entry.delivery
  return isOpenEntry(entry) && leaseUntil === null && outcome !== 'unknown' && !hadUnknownOutcome
}

/** Returns true while a delivery is open and certainly nothing of it was sent. */
export function isUnsent(entry: PlatformStatus): boolean {
  return isIdle(entry) && toPartIndex(entry) === 0
}

/** Returns true while a post that is no draft can be cancelled and edited, because certainly nothing of it was sent. */
export function canBeWithdrawn(post: Post): boolean {
  return isOpenPost(post) && post.platformStatuses.every(isUnsent)
}

/** Returns true while every open delivery of the post waits for a later instant, or there is none. */
export function isWaiting({ platformStatuses }: Post, now: Date): boolean {
  return platformStatuses.filter(isOpenEntry).every(({ delivery }) => (delivery.nextAttemptAt ?? now) > now)
}

/** Returns when the next delivery of a waiting post is attempted; null when it does not wait. */
export function findNextAttempt(post: Post, now: Date): Date | null {
  if (!isOpenPost(post) || !isWaiting(post, now)) return null
  const instants = post.platformStatuses.filter(isOpenEntry).map(({ delivery }) => delivery.nextAttemptAt!.getTime())
  return new Date(Math.min(...instants))
}

/** Returns true when a platform accepted the post or may have. An outcome that was ever unknown counts. */
export function hasReachedAnyPlatform({ publishedKeys, platformStatuses }: Post): boolean {
  if (publishedKeys !== undefined) return true
  return platformStatuses.some(({ status, delivery }) => {
    const isOpen = status === 'processing' || delivery.leaseUntil !== null || delivery.outcome === 'unknown'
    return isOpen || delivery.hadUnknownOutcome || status === 'completed' || status === 'deleted'
  })
}

/** Returns every platform of a post, also those that it has only through accounts. */
export function listPlatforms({
  platformStatuses,
}: {
  platformStatuses: readonly Pick<PlatformStatus, 'platform'>[]
}): Platform[] {
  return [...new Set(platformStatuses.map(({ platform }) => platform))]
}

export function findEntry(post: Post, target: Target): PlatformStatus | null {
  return post.platformStatuses.find((entry) => toTarget(entry) === target) ?? null
}

/** Returns the earlier entries that an edit has removed or moved to another account. */
export function findAbandoned(before: readonly PlatformStatus[], after: Post): PlatformStatus[] {
  return before.filter((entry) => {
    const now = findEntry(after, toTarget(entry))
    // An entry without an account was prepared with the one that it records now.
    return now === null || (entry.accountId !== undefined && now.accountId !== entry.accountId)
  })
}

/** Converts a failure to the fields of an entry; all null for no failure. */
export function toCauseFields(reason: Failure | null): Cause {
  return {
    error: reason?.message ?? null,
    errorCode: reason?.code ?? null,
    platformReason: reason?.platformReason ?? null,
  }
}

/** Reads the failure of an entry that failed or waits for a retry; null when it has none. */
export function toFailure({ error, errorCode, platformReason }: Cause): Failure | null {
  return errorCode === null ? null : failure(errorCode, error ?? 'Unknown', platformReason)
}

/** The fields of an entry whose delivery ends with a failure. That of a comment leaves the post published. */
export function endWithFailure(
  post: Post,
  entry: PlatformStatus,
  reason: Failure,
  now: Date,
): Pick<PlatformStatus, 'status' | 'completedAt' | 'metricsDueAt' | 'comment'> & Cause {
  const cause = toCauseFields(reason)
  const part = toParts(entry.platform, resolveContent(post, entry))[toPartIndex(entry)]
  if (part?.kind !== 'comment') return { status: 'failed', completedAt: entry.completedAt, ...cause }
  const comment: CommentStatus = { status: 'failed', ...cause }
  return {
    status: 'completed',
    completedAt: entry.completedAt ?? now,
    metricsDueAt: now,
    comment,
    ...toCauseFields(null),
  }
}

/** Returns the post with one entry changed and its status recomputed. */
export function updateEntry(post: Post, target: Target, change: Partial<PlatformStatus>): Post {
  return rollUpPost({
    ...post,
    platformStatuses: post.platformStatuses.map((entry) =>
      toTarget(entry) === target ? { ...entry, ...change } : entry,
    ),
  })
}

/** Recomputes the post's status. No other code sets the status after the first claim. */
export function rollUpPost(post: Post): Post {
  return { ...post, status: rollUp(post.platformStatuses) }
}
