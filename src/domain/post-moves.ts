import { failure, type Failure } from './failure.ts'
import type { Platform } from './platforms.ts'
import type {
  AttemptRef,
  Content,
  Delivery,
  DeliveryStatus,
  Move,
  PlatformStatus,
  Post,
  PostStatus,
  Published,
} from './post.ts'
import { ServiceError } from './service-error.ts'
import { HOUR, MINUTE, SECOND } from './times.ts'

/** Definite failures that allow another try, per round, before the delivery counts as failed. */
export const MAX_TRIES = 5

/** Waits before the looks for the trace of an unknown outcome; after the last one the user is told it is unknown. */
export const RECONCILE_WAITS_MS = [SECOND, 10 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR]

/** Why a claim was not given; the caller acts on `reason`. */
export class ClaimRefused extends Error {
  readonly reason: 'not-due' | 'leased' | 'not-yet' | 'in-doubt' | 'not-deliverable' | 'stale'
  constructor(reason: ClaimRefused['reason']) {
    super(`claim refused: ${reason}`)
    this.name = 'ClaimRefused'
    this.reason = reason
  }
}

/** The effect on the platform is already on record as another post's. */
export class EffectTaken extends Error {
  constructor() {
    super('another post of ours holds this platform post')
    this.name = 'EffectTaken'
  }
}

/** Names an effect on a platform among all posts. */
export function publishedKey(platform: Platform, platformPostId: string): string {
  return `${platform}:${platformPostId}`
}

/** The status of a post whose delivery began, from its platform statuses; `deleted` counts as accepted (invariant I5). */
export function rollUp(statuses: readonly { status: DeliveryStatus }[]): PostStatus {
  if (statuses.some(({ status }) => status === 'pending' || status === 'processing')) return 'PROCESSING'
  const failed = statuses.filter(({ status }) => status === 'failed').length
  if (failed === 0) return 'COMPLETED'
  return failed === statuses.length ? 'FAILED' : 'PARTIAL_SUCCESS'
}

export function emptyDelivery(): Delivery {
  return {
    key: null,
    startedAt: null,
    round: 0,
    attempt: 0,
    accountId: null,
    contentVersion: null,
    handles: {},
    leaseUntil: null,
    outcome: 'none',
    doubted: false,
    tries: 0,
    reconcileTries: 0,
    nextAttemptAt: null,
    reason: null,
  }
}

export function newPlatformStatus(platform: Platform): PlatformStatus {
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
    delivery: emptyDelivery(),
  }
}

export type NewPost = Pick<
  Post,
  | '_id'
  | 'userId'
  | 'content'
  | 'platformSpecificContent'
  | 'selectedPlatforms'
  | 'scheduledAt'
  | 'timezone'
  | 'correlationId'
  | 'requestHash'
  | 'metadata'
> & { draft: boolean }

/** A new post in the status that its time decides (spec section 3): a past `scheduledAt` means now and is stored as null. */
export function newPost(input: NewPost, now: Date): Post {
  const { draft, ...fields } = input
  const due = draft
    ? { scheduledAt: input.scheduledAt, dueAt: null, status: 'DRAFT' as const }
    : timing(input.scheduledAt, now)
  return {
    ...fields,
    ...due,
    contentVersion: 0,
    platformStatuses: input.selectedPlatforms.map(newPlatformStatus),
    // An immediate post needs no mark: being overdue already brings it to the sweeper.
    startPending: due.status === 'SCHEDULED',
    revision: 0,
    createdAt: now,
    updatedAt: now,
  }
}

function timing(scheduledAt: Date | null, now: Date): Pick<Post, 'scheduledAt' | 'dueAt' | 'status'> {
  if (scheduledAt && scheduledAt > now) return { scheduledAt, dueAt: scheduledAt, status: 'SCHEDULED' }
  return { scheduledAt: null, dueAt: now, status: 'PENDING' }
}

export interface PostChange {
  content?: Content
  platformSpecificContent?: Post['platformSpecificContent']
  selectedPlatforms?: Platform[]
  timezone?: string
  /** Absent keeps the time, null means now. */
  scheduledAt?: Date | null
  /** `DRAFT` keeps a draft a draft; the others publish it. Time decides between PENDING and SCHEDULED. */
  status?: 'DRAFT' | 'PENDING' | 'SCHEDULED'
}

/**
 * Changes a post that delivery has not claimed. Publishing a draft resets `createdAt` (spec section 3).
 * @throws ServiceError POST_NOT_EDITABLE
 */
export function edit(change: PostChange): Move {
  return (post, now) => {
    const isDraft = post.status === 'DRAFT'
    const isWaiting = post.status === 'PENDING' || post.status === 'SCHEDULED'
    if (!isDraft && !(isWaiting && change.status !== 'DRAFT')) {
      throw new ServiceError('POST_NOT_EDITABLE', 'Post can no longer be edited')
    }
    const { status, scheduledAt: newTime, ...fields } = change
    const scheduledAt = newTime === undefined ? post.scheduledAt : newTime
    const selectedPlatforms = change.selectedPlatforms ?? post.selectedPlatforms
    const edited: Post = {
      ...post,
      ...fields,
      selectedPlatforms,
      platformStatuses: selectedPlatforms.map((platform) => {
        const entry = entryOf(post, platform)
        // Failures before the edit say nothing of what comes after it.
        return entry ? { ...entry, delivery: { ...entry.delivery, tries: 0 } } : newPlatformStatus(platform)
      }),
      contentVersion: change.content || change.platformSpecificContent ? post.contentVersion + 1 : post.contentVersion,
    }
    if (isDraft && (status === undefined || status === 'DRAFT')) return { ...edited, scheduledAt }
    const publishing = isDraft ? { createdAt: now } : {}
    const keepsTime = isWaiting && (newTime === undefined || newTime?.getTime() === post.scheduledAt?.getTime())
    return { ...edited, ...publishing, ...(keepsTime ? {} : timing(scheduledAt, now)), startPending: true }
  }
}

/** @throws ServiceError NOT_FOUND with the specification's words, when delivery claimed the post or it never waited */
export function cancel(): Move {
  return (post) => {
    if (post.status !== 'PENDING' && post.status !== 'SCHEDULED') {
      throw new ServiceError('NOT_FOUND', 'Post not found, unauthorized, or not in a cancellable state')
    }
    return { ...post, status: 'CANCELLED', startPending: false }
  }
}

/**
 * Sends every failed platform round again. The idempotency key stays whenever an earlier call may have been accepted.
 * @throws ServiceError NO_FAILED_PLATFORMS, POST_IN_PROGRESS
 */
export function retry(): Move {
  return (post, now) => {
    if (!post.platformStatuses.some(({ status }) => status === 'failed')) {
      throw new ServiceError('NO_FAILED_PLATFORMS', 'No failed platforms to retry')
    }
    if (post.status === 'PROCESSING') {
      throw new ServiceError('POST_IN_PROGRESS', 'Post is still being delivered, retry when it has ended')
    }
    return rolledUp({
      ...post,
      dueAt: now,
      startPending: true,
      platformStatuses: post.platformStatuses.map((entry) => (entry.status === 'failed' ? nextRound(entry) : entry)),
    })
  }
}

function nextRound(entry: PlatformStatus): PlatformStatus {
  const { delivery } = entry
  const fresh = delivery.doubted
    ? {}
    : { key: null, startedAt: null, handles: {}, accountId: null, contentVersion: null, outcome: 'none' as const }
  return {
    ...entry,
    status: 'pending',
    error: null,
    errorCode: null,
    delivery: {
      ...delivery,
      ...fresh,
      round: delivery.round + 1,
      tries: 0,
      reconcileTries: 0,
      nextAttemptAt: null,
      reason: null,
      // A lease stays: the attempt that was given up may still be sending until it ends.
    },
  }
}

/** Whether an earlier visible call may have been accepted without our knowing: it must be reconciled before any repeat. */
export function isInDoubt(delivery: Delivery, now: Date): boolean {
  if (delivery.outcome === 'unknown') return true
  return delivery.leaseUntil !== null && delivery.leaseUntil <= now
}

export interface Claim {
  round: number
  /** Used by the first claim only; later ones keep what the first one fixed. */
  key: string
  leaseUntil: Date
  accountId: string
  /** The content that was prepared; a claim for other content is stale. */
  contentVersion: number
}

/**
 * The point of no return: whoever gets the claim alone may make the visible call while the lease runs.
 * The first claim of a post ends every chance to cancel or edit it.
 * @throws ClaimRefused
 */
export function claim(platform: Platform, wanted: Claim): Move {
  return (post, now) => {
    const entry = deliverable(post, platform, wanted.round)
    if (!entry) throw new ClaimRefused('not-deliverable')
    const { delivery } = entry
    if (post.dueAt === null || post.dueAt > now) throw new ClaimRefused('not-due')
    if (delivery.leaseUntil !== null && delivery.leaseUntil > now) throw new ClaimRefused('leased')
    if (isInDoubt(delivery, now)) throw new ClaimRefused('in-doubt')
    if (delivery.nextAttemptAt !== null && delivery.nextAttemptAt > now) throw new ClaimRefused('not-yet')
    if (post.contentVersion !== wanted.contentVersion) throw new ClaimRefused('stale')
    return changed(post, platform, {
      status: 'processing',
      attemptCount: entry.attemptCount + 1,
      lastAttemptAt: now,
      delivery: {
        ...delivery,
        key: delivery.key ?? wanted.key,
        startedAt: delivery.startedAt ?? now,
        attempt: delivery.attempt + 1,
        accountId: wanted.accountId,
        contentVersion: wanted.contentVersion,
        handles: handlesFor(delivery, wanted.accountId, wanted.contentVersion),
        leaseUntil: wanted.leaseUntil,
        outcome: 'none',
        nextAttemptAt: null,
        reason: null,
      },
    })
  }
}

/** The platform accepted: a fact, recorded whatever the entry says meanwhile. */
export function accept(platform: Platform, published: Published): Move {
  return (post, now) => {
    const entry = entryOf(post, platform)
    if (!entry || entry.status === 'completed' || entry.status === 'deleted') return post
    const accepted = changed(post, platform, {
      status: 'completed',
      ...published,
      error: null,
      errorCode: null,
      completedAt: now,
      delivery: { ...entry.delivery, outcome: 'accepted', leaseUntil: null, nextAttemptAt: null },
    })
    const key = publishedKey(platform, published.platformPostId)
    return { ...accepted, publishedKeys: [...(post.publishedKeys ?? []), key] }
  }
}

/** The platform, or a rule of ours, definitely refused: final for this round. Not before the instant. */
export function refuse(platform: Platform, reason: Failure, from: AttemptRef): Move {
  return (post, now) => {
    const entry = current(post, platform, from)
    if (!entry) return post
    if (post.dueAt === null || post.dueAt > now) throw new ClaimRefused('not-due')
    return failed(post, entry, reason, now, 'refused')
  }
}

/**
 * Definitely not accepted, and worth another try at `nextAttemptAt`; waits that the platform stated cost no try.
 * A post that no platform has claimed yet stays as it is, so it can still be cancelled while a platform is away.
 */
export function defer(
  platform: Platform,
  reason: Failure,
  from: AttemptRef,
  next: { at: Date; countsAsTry: boolean },
): Move {
  return (post, now) => {
    const entry = current(post, platform, from)
    if (!entry) return post
    const isDue = post.dueAt !== null && post.dueAt <= now
    const tries = entry.delivery.tries + (next.countsAsTry && isDue ? 1 : 0)
    if (tries >= MAX_TRIES) return failed(post, entry, reason, now, 'refused')
    const called = entry.delivery.leaseUntil !== null
    const deferred = changed(post, platform, {
      status: 'pending',
      delivery: {
        ...entry.delivery,
        tries,
        outcome: called ? 'deferred' : entry.delivery.outcome,
        leaseUntil: null,
        nextAttemptAt: next.at,
        reason: reason.code,
      },
    })
    return { ...deferred, status: post.status }
  }
}

/** Nobody knows whether the platform accepted: looked into after growing waits, then told to the user as it is. */
export function markUnknown(platform: Platform, reason: Failure, from: AttemptRef): Move {
  return (post, now) => {
    const entry = current(post, platform, from)
    if (!entry) return post
    const wait = RECONCILE_WAITS_MS[entry.delivery.reconcileTries]
    if (wait === undefined) return failed(post, entry, outcomeUnknown(reason), now, 'unknown')
    return changed(post, platform, {
      status: 'processing',
      delivery: {
        ...entry.delivery,
        outcome: 'unknown',
        doubted: true,
        leaseUntil: null,
        reconcileTries: entry.delivery.reconcileTries + 1,
        nextAttemptAt: new Date(now.getTime() + wait),
        reason: reason.code,
      },
    })
  }
}

/** The platform has no trace of the earlier call: it may be repeated, with the same key. */
export function markAbsent(platform: Platform, from: AttemptRef): Move {
  return (post, now) => {
    const entry = current(post, platform, from)
    if (!entry || !isInDoubt(entry.delivery, now)) return post
    return changed(post, platform, {
      status: 'pending',
      delivery: { ...entry.delivery, outcome: 'deferred', doubted: true, leaseUntil: null, nextAttemptAt: null },
    })
  }
}

/**
 * The activity is lost for good: ends what its round left open, with the truth about a call that may have gone out.
 * Its lease goes on, since the process that held it may be alive.
 */
export function giveUp(platform: Platform, reason: Failure, round: number): Move {
  return (post, now) => {
    const entry = deliverable(post, platform, round)
    if (!entry) return post
    const { leaseUntil, outcome } = entry.delivery
    if (outcome !== 'unknown' && leaseUntil === null) return failed(post, entry, reason, now, 'refused')
    const ended = failed(post, entry, outcomeUnknown(reason), now, 'unknown')
    return changed(ended, platform, {
      delivery: { ...entryOf(ended, platform)!.delivery, leaseUntil },
    })
  }
}

/** The platform reports the published post as deleted. */
export function markDeleted(platform: Platform): Move {
  return (post) => {
    const entry = entryOf(post, platform)
    if (!entry || entry.status === 'deleted' || !hasBegun(post)) return post
    return changed(post, platform, { status: 'deleted' })
  }
}

/**
 * Remembers one prepared thing. Another account's or another content's handles are dropped first.
 * @throws ClaimRefused `stale` when the post was edited since, `not-deliverable` when it is no longer to be delivered
 */
export function saveHandle(
  platform: Platform,
  prepared: { round: number; accountId: string; contentVersion: number; name: string; value: string },
): Move {
  return (post) => {
    const entry = deliverable(post, platform, prepared.round)
    if (!entry) throw new ClaimRefused('not-deliverable')
    if (post.contentVersion !== prepared.contentVersion) throw new ClaimRefused('stale')
    const { delivery } = entry
    const isOpen = delivery.outcome === 'unknown' || delivery.leaseUntil !== null
    if (isOpen && delivery.accountId !== prepared.accountId) throw new ClaimRefused('in-doubt')
    const kept = handlesFor(delivery, prepared.accountId, prepared.contentVersion)
    const platformStatuses = post.platformStatuses.map((status) =>
      status !== entry
        ? status
        : {
            ...entry,
            delivery: {
              ...delivery,
              accountId: prepared.accountId,
              contentVersion: prepared.contentVersion,
              handles: { ...kept, [prepared.name]: prepared.value },
            },
          },
    )
    return { ...post, platformStatuses }
  }
}

/** What was prepared for this very account and content; anything else is worthless. */
export function handlesFor(delivery: Delivery, accountId: string, contentVersion: number): Record<string, string> {
  const fits = delivery.accountId === accountId && delivery.contentVersion === contentVersion
  return fits ? delivery.handles : {}
}

/** What was prepared on this account for words that are no longer those of the post, and is of no use now; null when there is nothing. */
export function outdatedHandles(
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
export function deliverable(post: Post, platform: Platform, round: number): PlatformStatus | null {
  if (post.status !== 'PENDING' && post.status !== 'SCHEDULED' && post.status !== 'PROCESSING') return null
  const entry = entryOf(post, platform)
  if (!entry || entry.delivery.round !== round) return null
  return entry.status === 'pending' || entry.status === 'processing' ? entry : null
}

export function entryOf(post: Post, platform: Platform): PlatformStatus | null {
  return post.platformStatuses.find((entry) => entry.platform === platform) ?? null
}

function current(post: Post, platform: Platform, from: AttemptRef): PlatformStatus | null {
  const entry = deliverable(post, platform, from.round)
  return entry && entry.delivery.attempt === from.attempt ? entry : null
}

function failed(post: Post, entry: PlatformStatus, reason: Failure, now: Date, outcome: 'refused' | 'unknown'): Post {
  const claimed = entry.status === 'processing'
  return changed(post, entry.platform, {
    status: 'failed',
    error: reason.message,
    errorCode: reason.code,
    ...(claimed ? {} : { attemptCount: entry.attemptCount + 1, lastAttemptAt: now }),
    delivery: {
      ...entry.delivery,
      outcome,
      doubted: entry.delivery.doubted || outcome === 'unknown',
      leaseUntil: null,
      nextAttemptAt: null,
    },
  })
}

function outcomeUnknown(reason: Failure): Failure {
  return failure(
    'OUTCOME_UNKNOWN',
    `It could not be found out whether the post was published; look at the platform before trying again. ${reason.message}`,
  )
}

function changed(post: Post, platform: Platform, change: Partial<PlatformStatus>): Post {
  return rolledUp({
    ...post,
    platformStatuses: post.platformStatuses.map((entry) =>
      entry.platform === platform ? { ...entry, ...change } : entry,
    ),
  })
}

/** The one place where the status of a begun delivery is set. */
function rolledUp(post: Post): Post {
  return { ...post, status: rollUp(post.platformStatuses) }
}
