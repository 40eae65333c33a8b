import { failure } from '../../domain/posts/failure.ts'
import { giveUp, markAbsent, publishAgain, RECONCILE_WAITS_MS } from '../../domain/posts/delivery-moves.ts'
import type { Published } from '../../domain/posts/post.ts'
import { toTarget } from '../../domain/posts/targets.ts'
import { toEntryReference } from '../../domain/posts/timeline.ts'
import type { PlatformAdapter } from '../../platforms/contract.ts'
import { PlatformError } from '../../platforms/errors.ts'
import { isDatabaseOutage } from '../../store/mongo-errors.ts'
import { RELOAD, type Attempt, type AttemptResult } from './attempt.ts'
import { chooseForEntry } from './delivery-account.ts'
import { toOutgoingPost, type PrepareDelivery } from './prepare-delivery.ts'
import { isPostDeleted, type OutcomeRecorder } from './record-outcome.ts'
import { findUnreached } from './retry-policy.ts'
import type { ServerOutages } from './server-outages.ts'
import type { WorkerContext } from '../worker-context.ts'

interface ReconcileDeliveryDeps extends WorkerContext {
  outages: ServerOutages
  outcomes: OutcomeRecorder
  preparation: PrepareDelivery
}

/** The result of reconciling. `unanswered`: the platform failed to search. An error: the search did not reach its server. */
type Finding = Published | 'absent' | 'undecidable' | 'in-flight' | 'not-connected' | 'unanswered' | Error

/** After this many failed searches a retry of the user repeats the call. It skips the last wait of the schedule. */
const MAX_UNANSWERED = RECONCILE_WAITS_MS.length - 1

const WHY_UNKNOWN = {
  undecidable: 'The platform does not report whether the post exists',
  'in-flight': 'The platform has no trace of the post yet',
  'not-connected': 'The platform is not connected',
  unanswered: 'The platform did not answer whether the post exists',
}

/** Handles a delivery whose earlier call may have been accepted: it searches for the post before anything is repeated. */
export function createReconcileDelivery(deps: ReconcileDeliveryDeps) {
  const { posts, credentials, clock, metrics, unansweredSettleMs, outages, outcomes, preparation } = deps

  /** @param isTooLate whether the post may not wait any longer for a server that cannot be reached */
  return async function reconcileDelivery(
    attempt: Attempt,
    adapter: PlatformAdapter | null,
    isTooLate: boolean,
  ): Promise<AttemptResult> {
    const { input, entry, ref } = attempt
    const { platform } = input
    const target = toTarget(input)
    const calledAt = entry.lastAttemptAt ?? entry.delivery.startedAt ?? clock.now()
    // guard: reconciliation
    const found = await findEarlierCall(attempt, adapter, calledAt)
    if (found instanceof Error) {
      if (isTooLate) return giveUpDelivery(`${WHY_UNKNOWN.unanswered}.`)
      return outcomes.recordUnknown(attempt, failure('OUTCOME_UNKNOWN', WHY_UNKNOWN.unanswered), undefined, found)
    }
    if (typeof found === 'object') {
      addEvent('found')
      return outcomes.recordAccepted(attempt, found)
    }
    const next = entry.delivery.repeatAllowed ? allowRepeat(found) : found
    if (next === 'absent' || next === 'anew') {
      addEvent(found === 'absent' ? 'absent' : 'unknown')
      const move = next === 'absent' ? markAbsent : publishAgain
      await outcomes.applyMove(attempt, move(target, ref))
      return RELOAD
    }
    if (next === 'not-connected' && entry.delivery.repeatAllowed) {
      return giveUpDelivery('The platform is not connected.')
    }
    addEvent('unknown')
    return outcomes.recordUnknown(attempt, failure('OUTCOME_UNKNOWN', WHY_UNKNOWN[next]))

    /** The user retried although the outcome is unknown, so an undecidable outcome no longer blocks the post. */
    function allowRepeat(finding: Exclude<Finding, Published | Error>) {
      if (finding === 'unanswered' && entry.delivery.reconcileTries >= MAX_UNANSWERED) return 'absent'
      const isSettled = clock.now().getTime() - calledAt.getTime() >= unansweredSettleMs
      return finding === 'undecidable' && isSettled ? 'anew' : finding
    }

    function addEvent(result: 'found' | 'absent' | 'unknown'): void {
      attempt.activity.pendingEvents.push({
        at: clock.now(),
        type: 'reconcile',
        ...toEntryReference(entry),
        ...ref,
        result,
      })
    }

    async function giveUpDelivery(why: string): Promise<AttemptResult> {
      const reason = failure('OUTCOME_UNKNOWN', why)
      const moved = await outcomes.applyMove(attempt, giveUp(target, reason, input.round))
      metrics.deliveryRecorded(platform, 'failed', reason.code)
      return outcomes.endDelivery(moved, input)
    }
  }

  async function findEarlierCall(attempt: Attempt, adapter: PlatformAdapter | null, calledAt: Date): Promise<Finding> {
    const { input, post, entry, activity } = attempt
    const { signal } = activity
    const { key, startedAt } = entry.delivery
    if (key === null || startedAt === null) return 'absent'
    if (!adapter) return 'undecidable'
    try {
      const account = await credentials.get(post.userId, input.platform, {
        signal,
        choose: chooseForEntry(attempt),
      })
      if (!account) return 'not-connected'
      const checkpoints = { ...preparation.createCheckpoints(attempt, account), key, startedAt, isRepeat: true }
      const search = () =>
        adapter.reconcile(toOutgoingPost(attempt), account, checkpoints, {
          signal,
          calledAt,
          wasAnswered: entry.delivery.answered ?? false,
          isTaken: (platformPostId) => posts.belongsToOtherPost(post._id, input.platform, platformPostId),
        })
      return await outages.call(attempt, adapter, account, search, true)
    } catch (error) {
      signal.throwIfAborted()
      if (isDatabaseOutage(error) || isPostDeleted(error)) throw error
      if (error instanceof Error && findUnreached(error, 0, 0)) return error
      if (!(error instanceof PlatformError)) activity.report('reconcile failed unexpectedly', error)
      return isSearchRefused(error) ? 'undecidable' : 'unanswered'
    }
  }
}

/** Returns true when the platform refused the search itself. Another search would be refused, too. */
function isSearchRefused(error: unknown): boolean {
  return (
    error instanceof PlatformError && error.certain && ['permission', 'not_found', 'validation'].includes(error.class)
  )
}
