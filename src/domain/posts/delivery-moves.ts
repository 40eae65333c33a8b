import { failure, type Failure } from './failure.ts'
import type { Platform } from '../shared/platforms.ts'
import {
  toCauseFields,
  updateEntry,
  findOpenEntry,
  findEntry,
  selectHandles,
  hasBegun,
  needsReconciliation,
  UNCLAIMED,
  toPublishedKey,
} from './post-entries.ts'
import type { AttemptRef, Delivery, Move, PlatformStatus, Post, Published } from './post.ts'
import { HOUR, MINUTE, SECOND } from '../shared/times.ts'

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
    const entry = findOpenEntry(post, platform, wanted.round)
    if (!entry) throw new ClaimRefused('not-deliverable')
    const { delivery } = entry
    if (post.dueAt === null || post.dueAt > now) throw new ClaimRefused('not-due')
    if (delivery.leaseUntil !== null && delivery.leaseUntil > now) throw new ClaimRefused('leased')
    if (needsReconciliation(delivery, now)) throw new ClaimRefused('in-doubt')
    if (delivery.nextAttemptAt !== null && delivery.nextAttemptAt > now) throw new ClaimRefused('not-yet')
    if (post.contentVersion !== wanted.contentVersion) throw new ClaimRefused('stale')
    return updateEntry(post, platform, {
      status: 'processing',
      ...toCauseFields(null),
      attemptCount: entry.attemptCount + 1,
      lastAttemptAt: now,
      delivery: {
        ...delivery,
        key: delivery.key ?? wanted.key,
        startedAt: delivery.startedAt ?? now,
        attempt: delivery.attempt + 1,
        accountId: wanted.accountId,
        contentVersion: wanted.contentVersion,
        handles: selectHandles(delivery, wanted.accountId, wanted.contentVersion),
        leaseUntil: wanted.leaseUntil,
        answered: false,
        repeatAllowed: false,
        outcome: 'none',
        nextAttemptAt: null,
      },
    })
  }
}

/** The platform accepted: a fact, recorded whatever the entry says meanwhile. */
export function accept(platform: Platform, published: Published): Move {
  return (post, now) => {
    const entry = findEntry(post, platform)
    if (!entry || entry.status === 'completed' || entry.status === 'deleted') return post
    const accepted = updateEntry(post, platform, {
      status: 'completed',
      ...published,
      ...toCauseFields(null),
      completedAt: now,
      delivery: { ...entry.delivery, outcome: 'accepted', leaseUntil: null, nextAttemptAt: null },
    })
    const key = toPublishedKey(platform, published.platformPostId)
    return { ...accepted, publishedKeys: [...(post.publishedKeys ?? []), key] }
  }
}

/** The platform, or a rule of ours, definitely refused: final for this round. Not before the instant. */
export function refuse(platform: Platform, reason: Failure, from: AttemptRef): Move {
  return (post, now) => {
    const entry = findCurrentEntry(post, platform, from)
    if (!entry) return post
    if (post.dueAt === null || post.dueAt > now) throw new ClaimRefused('not-due')
    return failEntry(post, entry, reason, now, 'refused')
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
    const entry = findCurrentEntry(post, platform, from)
    if (!entry) return post
    const isDue = post.dueAt !== null && post.dueAt <= now
    const tries = entry.delivery.tries + (next.countsAsTry && isDue ? 1 : 0)
    if (tries >= MAX_TRIES) return failEntry(post, entry, reason, now, 'refused')
    const called = entry.delivery.leaseUntil !== null
    const deferred = updateEntry(post, platform, {
      status: 'pending',
      ...toCauseFields(reason),
      delivery: {
        ...entry.delivery,
        tries,
        outcome: called ? 'deferred' : entry.delivery.outcome,
        leaseUntil: null,
        nextAttemptAt: next.at,
      },
    })
    return { ...deferred, status: post.status }
  }
}

/**
 * Nobody knows whether the platform accepted: looked into after growing waits, then told to the user as it is.
 * @param answered of a call that just failed: whether it was answered, so that no server still works on it
 */
export function markUnknown(platform: Platform, reason: Failure, from: AttemptRef, answered?: boolean): Move {
  return (post, now) => {
    const entry = findCurrentEntry(post, platform, from)
    if (!entry) return post
    const wait = RECONCILE_WAITS_MS[entry.delivery.reconcileTries]
    if (wait === undefined) return failEntry(post, entry, toOutcomeUnknown(reason), now, 'unknown')
    return updateEntry(post, platform, {
      status: 'processing',
      ...toCauseFields(reason),
      delivery: {
        ...entry.delivery,
        outcome: 'unknown',
        doubted: true,
        answered: answered ?? entry.delivery.answered ?? false,
        leaseUntil: null,
        reconcileTries: entry.delivery.reconcileTries + 1,
        nextAttemptAt: new Date(now.getTime() + wait),
      },
    })
  }
}

/** The platform has no trace of the earlier call: it may be repeated, with the same key. */
export function markAbsent(platform: Platform, from: AttemptRef): Move {
  return endReconciliation(platform, from, {})
}

/**
 * Reconciling cannot decide, and the user asked for the repeat: it goes out as a new publication. What was prepared and the key of the
 * earlier call are dropped, because a platform may refuse them for as long as it remembers that call.
 */
export function publishAgain(platform: Platform, from: AttemptRef): Move {
  return endReconciliation(platform, from, UNCLAIMED)
}

function endReconciliation(platform: Platform, from: AttemptRef, change: Partial<Delivery>): Move {
  return (post, now) => {
    const entry = findCurrentEntry(post, platform, from)
    if (!entry || !needsReconciliation(entry.delivery, now)) return post
    return updateEntry(post, platform, {
      status: 'pending',
      ...toCauseFields(null),
      delivery: {
        ...entry.delivery,
        ...change,
        outcome: 'deferred',
        doubted: true,
        leaseUntil: null,
        nextAttemptAt: null,
      },
    })
  }
}

/**
 * The activity is lost for good: ends what its round left open, with the truth about a call that may have gone out.
 * Its lease goes on, since the process that held it may be alive.
 */
export function giveUp(platform: Platform, reason: Failure, round: number): Move {
  return (post, now) => {
    const entry = findOpenEntry(post, platform, round)
    if (!entry) return post
    const { leaseUntil, outcome } = entry.delivery
    if (outcome !== 'unknown' && leaseUntil === null) return failEntry(post, entry, reason, now, 'refused')
    const ended = failEntry(post, entry, toOutcomeUnknown(reason), now, 'unknown')
    return updateEntry(ended, platform, {
      delivery: { ...findEntry(ended, platform)!.delivery, leaseUntil },
    })
  }
}

/** The platform reports the published post as deleted. */
export function markDeleted(platform: Platform): Move {
  return (post) => {
    const entry = findEntry(post, platform)
    if (!entry || entry.status === 'deleted' || !hasBegun(post)) return post
    return updateEntry(post, platform, { status: 'deleted' })
  }
}

/**
 * Remembers one prepared thing. Another account's or another content's handles are dropped first.
 * @throws ClaimRefused `stale` when the post was edited since, `not-deliverable` when it is no longer to be delivered
 */
export function saveCheckpoint(
  platform: Platform,
  prepared: { round: number; accountId: string; contentVersion: number; name: string; value: string },
): Move {
  return (post) => {
    const entry = findOpenEntry(post, platform, prepared.round)
    if (!entry) throw new ClaimRefused('not-deliverable')
    if (post.contentVersion !== prepared.contentVersion) throw new ClaimRefused('stale')
    const { delivery } = entry
    const isOpen = delivery.outcome === 'unknown' || delivery.leaseUntil !== null
    if (isOpen && delivery.accountId !== prepared.accountId) throw new ClaimRefused('in-doubt')
    const kept = selectHandles(delivery, prepared.accountId, prepared.contentVersion)
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

function findCurrentEntry(post: Post, platform: Platform, from: AttemptRef): PlatformStatus | null {
  const entry = findOpenEntry(post, platform, from.round)
  return entry && entry.delivery.attempt === from.attempt ? entry : null
}

function failEntry(
  post: Post,
  entry: PlatformStatus,
  reason: Failure,
  now: Date,
  outcome: 'refused' | 'unknown',
): Post {
  const claimed = entry.status === 'processing'
  return updateEntry(post, entry.platform, {
    status: 'failed',
    ...toCauseFields(reason),
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

function toOutcomeUnknown(reason: Failure): Failure {
  return failure(
    'OUTCOME_UNKNOWN',
    `It could not be found out whether the post was published; look at the platform before trying again. ${reason.message}`,
    reason.platformReason,
  )
}
