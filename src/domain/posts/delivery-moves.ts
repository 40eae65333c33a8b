import { failure, type Failure } from './failure.ts'
import {
  toCauseFields,
  updateEntry,
  findOpenEntry,
  findEntry,
  selectHandles,
  hasBegun,
  needsReconciliation,
  toDeliveryKey,
  toNextKey,
  UNCLAIMED,
  toPublishedKey,
  createDelivery,
  endWithFailure,
  isOpenEntry,
  toPartDueAt,
} from './post-entries.ts'
import type { AttemptRef, Delivery, Move, PlatformStatus, Post, Published } from './post.ts'
import { resolveContent } from './content.ts'
import { toPartIndex, toParts, type Part } from './parts.ts'
import { toOutage } from './outages.ts'
import { STORY_LIFE_MS, toPostKind } from './options.ts'
import { toTarget, type Target } from './targets.ts'
import { HOUR, MINUTE, SECOND } from '../shared/times.ts'

/** Definite failures that allow another try, per round, before the delivery counts as failed. */
export const MAX_TRIES = 5

/** Waits before each reconciliation of an unknown outcome. After the last one the delivery fails with `OUTCOME_UNKNOWN`. */
export const RECONCILE_WAITS_MS = [SECOND, 10 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR]

/** Thrown when a claim is not granted. The caller acts on `reason`. */
export class ClaimRefused extends Error {
  readonly reason: 'not-due' | 'leased' | 'not-yet' | 'in-doubt' | 'not-deliverable' | 'stale'
  constructor(reason: ClaimRefused['reason']) {
    super(`claim refused: ${reason}`)
    this.name = 'ClaimRefused'
    this.reason = reason
  }
}

/** Thrown when another post of this service already recorded the same platform post. */
export class EffectTaken extends Error {
  constructor() {
    super('another post already recorded this platform post')
    this.name = 'EffectTaken'
  }
}

export interface Claim {
  round: number
  /** See `toPartIndex`; absent: the first. */
  part?: number
  leaseUntil: Date
  /** The account's id on the platform. */
  accountId: string
  /** Our id, the handle and the server of the account. */
  account?: Pick<PlatformStatus, 'accountId' | 'accountName' | 'server'>
  /** Version of the prepared content. A claim for any other version is stale. */
  contentVersion: number
}

/**
 * Grants the exclusive right to make the visible call while the lease runs.
 * Meanwhile the post can be neither cancelled nor edited.
 * @throws ClaimRefused
 */
export function claim(target: Target, wanted: Claim): Move {
  return (post, now) => {
    const entry = findOpenEntry(post, target, wanted.round)
    if (!entry) throw new ClaimRefused('not-deliverable')
    const { delivery } = entry
    // guard: next part
    if (toPartIndex(entry) !== (wanted.part ?? 0)) throw new ClaimRefused('stale')
    // guard: due time
    if (post.dueAt === null || post.dueAt > now) throw new ClaimRefused('not-due')
    // guard: lease
    if (delivery.leaseUntil !== null && delivery.leaseUntil > now) throw new ClaimRefused('leased')
    if (needsReconciliation(delivery, now)) throw new ClaimRefused('in-doubt')
    // The return of a server ends the wait for it early.
    const mustWait = delivery.nextAttemptAt !== null && delivery.nextAttemptAt > now && !delivery.outage
    if (mustWait) throw new ClaimRefused('not-yet')
    // guard: content version
    if (post.contentVersion !== wanted.contentVersion) throw new ClaimRefused('stale')
    // The user may have moved the entry since the attempt read it.
    const isMoved = entry.accountId !== undefined && wanted.account && entry.accountId !== wanted.account.accountId
    if (isMoved) throw new ClaimRefused('stale')
    return updateEntry(post, target, {
      status: 'processing',
      ...wanted.account,
      ...toCauseFields(null),
      attemptCount: entry.attemptCount + 1,
      lastAttemptAt: now,
      delivery: {
        ...delivery,
        // guard: first key
        key: delivery.key ?? toDeliveryKey(post, entry),
        startedAt: delivery.startedAt ?? now,
        dueAt: delivery.dueAt ?? toPartDueAt(post.dueAt, entry),
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

/**
 * Records that the platform accepted a part of the post, whatever the status of the entry is by then. With the last part the delivery is
 * completed, otherwise the next one is due.
 */
export function accept(target: Target, published: Published, part = 0): Move {
  return (post, now) => {
    const entry = findEntry(post, target)
    if (!entry || isPublishedPart(entry, part)) return post
    const { platform, delivery } = entry
    const content = resolveContent(post, entry)
    const parts = toParts(platform, content)
    const isLast = part >= parts.length - 1
    const isStory = toPostKind(platform, content.options) === 'story'
    const accepted = { ...entry, ...toPublishedFields(entry, published, { parts, part, now }) }
    const key = toPublishedKey(platform, published.platformPostId)
    return {
      ...updateEntry(post, target, {
        ...accepted,
        ...(isLast
          ? {
              ...{ status: 'completed', ...toCauseFields(null), metricsDueAt: now },
              // A retried comment leaves the time of the post.
              completedAt: entry.completedAt ?? now,
              ...(isStory && { endsAt: new Date((entry.lastAttemptAt ?? now).getTime() + STORY_LIFE_MS) }),
              delivery: { ...delivery, outcome: 'accepted', leaseUntil: null, nextAttemptAt: null, outage: null },
            }
          : {
              ...(isOpenEntry(entry) && { status: 'processing', ...toCauseFields(null) }),
              delivery: createNextDelivery(post, accepted),
            }),
      }),
      publishedKeys: [...(post.publishedKeys ?? []), key],
    }
  }
}

function isPublishedPart(entry: PlatformStatus, part: number): boolean {
  if (entry.status === 'deleted' || toPartIndex(entry) > part || entry.comment?.status === 'completed') return true
  return entry.status === 'completed' && entry.comment === undefined
}

function toPublishedFields(
  entry: PlatformStatus,
  published: Published,
  { parts, part, now }: { parts: readonly Part[]; part: number; now: Date },
): Partial<PlatformStatus> {
  const first = part === 0 ? published : {}
  if (parts.length === 1) return first
  const ended = { ...published, completedAt: now }
  if (parts[part]?.kind === 'comment') return { comment: { status: 'completed', ...ended } }
  return { ...first, parts: [...(entry.parts ?? []), ended] }
}

/** Creates the delivery of the next part. After a restore it is in doubt as well. */
function createNextDelivery(post: Post, entry: PlatformStatus): Delivery {
  const { round, turnDueAt, restoredAt, startedAt } = entry.delivery
  const next = { ...createDelivery(), round, ...(turnDueAt && { turnDueAt }) }
  if (!restoredAt) return next
  const key = toDeliveryKey(post, { ...entry, delivery: next })
  const dueAt = post.dueAt && toPartDueAt(post.dueAt, entry)
  return { ...next, key, dueAt, startedAt, restoredAt, outcome: 'unknown', hadUnknownOutcome: true }
}

/**
 * Records a definite refusal by the platform or by a rule of this service. It ends the round.
 * @throws ClaimRefused `not-due` before the post is due
 */
export function refuse(target: Target, reason: Failure, from: AttemptRef): Move {
  return (post, now) => {
    const entry = findCurrentEntry(post, target, from)
    if (!entry) return post
    if (post.dueAt === null || post.dueAt > now) throw new ClaimRefused('not-due')
    return failEntry(post, entry, reason, { outcome: 'refused', now })
  }
}

/**
 * Schedules another try of a call that was definitely not accepted. Waits that the platform requested do not count as a try.
 * Neither does one that did not reach `next.server`. The status of an unclaimed post does not change, so users can still cancel it.
 */
export function defer(
  target: Target,
  reason: Failure,
  from: AttemptRef,
  next: { at: Date; countsAsTry: boolean; server?: string | undefined },
): Move {
  return (post, now) => {
    const entry = findCurrentEntry(post, target, from)
    if (!entry) return post
    const isDue = post.dueAt !== null && post.dueAt <= now
    const tries = entry.delivery.tries + (next.countsAsTry && isDue ? 1 : 0)
    if (tries >= MAX_TRIES) return failEntry(post, entry, reason, { outcome: 'refused', now })
    const called = entry.delivery.leaseUntil !== null
    const deferred = updateEntry(post, target, {
      status: 'pending',
      ...toCauseFields(reason),
      delivery: {
        ...entry.delivery,
        tries,
        outcome: called ? 'deferred' : entry.delivery.outcome,
        leaseUntil: null,
        nextAttemptAt: next.at,
        outage: toOutage(entry.delivery.outage, next.server, now),
      },
    })
    return { ...deferred, status: post.status }
  }
}

/**
 * Records that the outcome of a call is unknown, and schedules its reconciliation after a growing wait.
 * Once all waits are used up, the delivery fails with `OUTCOME_UNKNOWN`.
 * @param answered true when the call that just failed got a response, so that no server is still processing it
 * @param held the next attempt where the reconciliation could not be made, which uses up no wait, and the server that could not be reached
 */
export function markUnknown(
  target: Target,
  reason: Failure,
  from: AttemptRef,
  answered?: boolean,
  held?: { server?: string; at: Date },
): Move {
  return (post, now) => {
    const entry = findCurrentEntry(post, target, from)
    if (!entry) return post
    const { reconcileTries } = entry.delivery
    const wait = RECONCILE_WAITS_MS[reconcileTries]
    if (wait === undefined && !held)
      return failEntry(post, entry, toOutcomeUnknown(reason), { outcome: 'unknown', now })
    return updateEntry(post, target, {
      status: 'processing',
      ...toCauseFields(reason),
      delivery: {
        ...entry.delivery,
        outcome: 'unknown',
        hadUnknownOutcome: true,
        answered: answered ?? entry.delivery.answered ?? false,
        leaseUntil: null,
        reconcileTries: held ? reconcileTries : reconcileTries + 1,
        nextAttemptAt: held?.at ?? new Date(now.getTime() + wait!),
        outage: toOutage(entry.delivery.outage, held?.server, now),
      },
    })
  }
}

/** Ends the waits for the next reconciliation on these accounts, which were connected again. */
export function reconcileNow(accountIds: readonly string[]): Move {
  return (post) => {
    const isWaiting = ({ accountId, delivery }: PlatformStatus) =>
      delivery.outcome === 'unknown' && delivery.nextAttemptAt !== null && accountIds.some((id) => id === accountId)
    if (!post.platformStatuses.some(isWaiting)) return post
    const platformStatuses = post.platformStatuses.map((entry) =>
      isWaiting(entry) ? { ...entry, delivery: { ...entry.delivery, nextAttemptAt: null } } : entry,
    )
    return { ...post, platformStatuses, startPending: true }
  }
}

/** Gives the delivery its next key, because what the platform made of this one belongs to another post: a repeat would return that again. */
export function replaceKey(target: Target, from: AttemptRef): Move {
  return (post) => {
    const entry = findCurrentEntry(post, target, from)
    if (!entry || entry.delivery.key === null) return post
    return updateEntry(post, target, { delivery: { ...entry.delivery, key: toNextKey(entry.delivery.key) } })
  }
}

/** Records that the platform has no trace of the earlier call, which may then be repeated with the same key. */
export function markAbsent(target: Target, from: AttemptRef): Move {
  return endReconciliation(target, from, {})
}

/**
 * Allows a new publication after a user's retry when reconciliation cannot determine the outcome of the earlier call.
 * Drops the prepared handles and the key, because the platform may reject them as long as it remembers that call.
 */
export function publishAgain(target: Target, from: AttemptRef): Move {
  return endReconciliation(target, from, UNCLAIMED)
}

function endReconciliation(target: Target, from: AttemptRef, change: Partial<Delivery>): Move {
  return (post, now) => {
    const entry = findCurrentEntry(post, target, from)
    if (!entry || !needsReconciliation(entry.delivery, now)) return post
    const { restoredAt: _, ...delivery } = entry.delivery
    const isAnswered = delivery.answered || entry.lastAttemptAt === null
    return updateEntry(post, target, {
      status: 'pending',
      ...toCauseFields(null),
      delivery: {
        ...delivery,
        ...(!isAnswered && { unansweredAt: entry.lastAttemptAt! }),
        ...change,
        outcome: 'deferred',
        hadUnknownOutcome: true,
        leaseUntil: null,
        nextAttemptAt: null,
      },
    })
  }
}

/**
 * Fails what a permanently lost activity left open in its round, as `OUTCOME_UNKNOWN` when a call may have been sent.
 * The lease stays, because the process that held it may still be alive.
 */
export function giveUp(target: Target, reason: Failure, round: number): Move {
  return (post, now) => {
    const entry = findOpenEntry(post, target, round)
    if (!entry) return post
    const { leaseUntil, outcome } = entry.delivery
    if (outcome !== 'unknown' && leaseUntil === null) return failEntry(post, entry, reason, { outcome: 'refused', now })
    const ended = failEntry(post, entry, toOutcomeUnknown(reason), { outcome: 'unknown', now })
    return updateEntry(ended, target, {
      delivery: { ...findEntry(ended, target)!.delivery, leaseUntil },
    })
  }
}

/** Records that the platform reports the published post as deleted. */
export function markDeleted(target: Target): Move {
  return (post) => {
    const entry = findEntry(post, target)
    if (!entry || entry.status === 'deleted' || !hasBegun(post)) return post
    return updateEntry(post, target, { status: 'deleted', metricsDueAt: null })
  }
}

/**
 * Stores one result of preparation under its name. Handles of another account or content version are dropped first.
 * @param prepared.attempt the number of the last claim when the preparation began
 * @throws ClaimRefused `stale` when the post was edited since, `leased` when another attempt has claimed the delivery since,
 * `not-deliverable` when it has ended
 */
export function saveCheckpoint(
  target: Target,
  prepared: AttemptRef & { accountId: string; contentVersion: number; name: string; value: string },
): Move {
  return (post) => {
    const entry = findOpenEntry(post, target, prepared.round)
    if (!entry) throw new ClaimRefused('not-deliverable')
    if (post.contentVersion !== prepared.contentVersion) throw new ClaimRefused('stale')
    const { delivery } = entry
    // The call of the other attempt names what it prepared, and reconciliation has to find that.
    // guard: checkpoints of the claim
    if (delivery.attempt !== prepared.attempt) throw new ClaimRefused('leased')
    if (toPartIndex(entry) !== (prepared.part ?? 0)) throw new ClaimRefused('stale')
    const isOpen = delivery.outcome === 'unknown' || delivery.leaseUntil !== null
    if (isOpen && delivery.accountId !== prepared.accountId) throw new ClaimRefused('in-doubt')
    const current = selectHandles(delivery, prepared.accountId, prepared.contentVersion)
    const platformStatuses = post.platformStatuses.map((status) =>
      status !== entry
        ? status
        : {
            ...entry,
            delivery: {
              ...delivery,
              accountId: prepared.accountId,
              contentVersion: prepared.contentVersion,
              handles: { ...current, [prepared.name]: prepared.value },
            },
          },
    )
    return { ...post, platformStatuses }
  }
}

function findCurrentEntry(post: Post, target: Target, from: AttemptRef): PlatformStatus | null {
  const entry = findOpenEntry(post, target, from.round)
  const isCurrent = entry?.delivery.attempt === from.attempt && toPartIndex(entry) === (from.part ?? 0)
  return isCurrent ? entry : null
}

function failEntry(
  post: Post,
  entry: PlatformStatus,
  reason: Failure,
  { outcome, now }: { outcome: 'refused' | 'unknown'; now: Date },
): Post {
  const isClaimed = entry.status === 'processing'
  return updateEntry(post, toTarget(entry), {
    ...endWithFailure(post, entry, reason, now),
    ...(isClaimed ? {} : { attemptCount: entry.attemptCount + 1, lastAttemptAt: now }),
    delivery: {
      ...entry.delivery,
      outcome,
      hadUnknownOutcome: entry.delivery.hadUnknownOutcome || outcome === 'unknown',
      leaseUntil: null,
      nextAttemptAt: null,
      outage: null,
    },
  })
}

function toOutcomeUnknown(reason: Failure): Failure {
  return failure(
    'OUTCOME_UNKNOWN',
    `The outcome is unknown: the post may have been published. Check the platform before you retry. ${reason.message}`,
    reason.platformReason,
  )
}
