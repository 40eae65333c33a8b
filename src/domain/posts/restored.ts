import { failure } from './failure.ts'
import { giveUp } from './delivery-moves.ts'
import { rollUpPost, toDeliveryKey, toPartDueAt } from './post-entries.ts'
import type { Delivery, Move, PlatformStatus, Post } from './post.ts'
import { startNextRound } from './post-moves.ts'
import { toTarget, type Target } from './targets.ts'

/**
 * Puts in doubt what a restored backup cannot know: deliveries that it has as open and that were due meanwhile may have been published, and
 * failed ones retried. They are searched for on the platform before anything is sent. Posts that are due later are left as they are.
 * @param dumpedAt when the backup began
 */
export function markRestored(dumpedAt: Date): Move {
  return (post, now) => {
    const { dueAt, status } = post
    if (dueAt === null || dueAt > now || status === 'DRAFT' || status === 'CANCELLED') return post
    const platformStatuses = post.platformStatuses.map((entry): PlatformStatus => {
      if (entry.status === 'completed' || entry.status === 'deleted') return entry
      const delivery = toDoubtful(post, entry, { dumpedAt, dueAt, now })
      if (entry.status === 'failed') return { ...entry, delivery }
      return {
        ...entry,
        status: 'processing',
        delivery: { ...delivery, outcome: 'unknown', reconcileTries: 0, nextAttemptAt: null },
      }
    })
    if (platformStatuses.every((entry, index) => entry === post.platformStatuses[index])) return post
    // guard: restored delivery
    const marked = rollUpPost({ ...post, platformStatuses })
    return { ...marked, startPending: marked.status === 'PROCESSING' }
  }
}

function toDoubtful(
  post: Post,
  entry: PlatformStatus,
  { dumpedAt, dueAt, now }: { dumpedAt: Date; dueAt: Date; now: Date },
): Delivery {
  const { delivery } = entry
  const startedAt = delivery.startedAt ?? dueAt
  return {
    ...delivery,
    key: delivery.key ?? toDeliveryKey(post, entry),
    dueAt: delivery.dueAt ?? toPartDueAt(dueAt, entry),
    startedAt: startedAt < dumpedAt ? startedAt : dumpedAt,
    hadUnknownOutcome: true,
    restoredAt: now,
  }
}

/** Returns whether an operator may decide about the delivery, because no search has shown yet whether it was published before a restore. */
export function isHeld({ status, delivery }: PlatformStatus): boolean {
  const isUndecided = status === 'processing' || (status === 'failed' && delivery.outcome === 'unknown')
  return isUndecided && delivery.restoredAt !== undefined
}

/**
 * Ends the doubt about held deliveries by an operator's word.
 * @param target the only delivery it is about; absent: all that are held
 * @param decision `publish`: they are not on the platform, and are published. `drop`: they are never published
 */
export function decideHeld(decision: 'publish' | 'drop', target?: Target): Move {
  return (post, now) => {
    const held = post.platformStatuses.filter((one) => isHeld(one) && (target ?? toTarget(one)) === toTarget(one))
    if (held.length === 0) return post
    const reason = failure(
      'OUTCOME_UNKNOWN',
      'The operator of this service has decided not to publish it after a restore.',
    )
    const targets = new Set(held.map(toTarget))
    const ended = held.reduce((at, one) => giveUp(toTarget(one), reason, one.delivery.round)(at, now), post)
    const decided = rollUpPost({
      ...ended,
      platformStatuses: ended.platformStatuses.map((entry) => {
        if (!targets.has(toTarget(entry))) return entry
        const { restoredAt: _, ...delivery } = entry.delivery
        if (decision === 'drop') return { ...entry, delivery }
        return startNextRound({ ...entry, delivery: { ...delivery, hadUnknownOutcome: false } })
      }),
    })
    return decision === 'drop' ? decided : { ...decided, dueAt: now, startPending: true }
  }
}
