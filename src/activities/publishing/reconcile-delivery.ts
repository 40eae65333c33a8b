import { withFreshLogin } from '../../commands/accounts/fresh-login.ts'
import { failure } from '../../domain/posts/failure.ts'
import { giveUp, markAbsent, publishAgain, RECONCILE_WAITS_MS } from '../../domain/posts/delivery-moves.ts'
import type { PlatformReason } from '../../domain/posts/platform-reason.ts'
import type { Published } from '../../domain/posts/post.ts'
import { mayPublishAnother } from '../../domain/posts/post-entries.ts'
import { toParts } from '../../domain/posts/parts.ts'
import { resolveContent } from '../../domain/posts/content.ts'
import { toTarget } from '../../domain/posts/targets.ts'
import { toEntryReference } from '../../domain/posts/timeline.ts'
import { trimFullStop } from '../../domain/shared/text.ts'
import { HOUR } from '../../domain/shared/times.ts'
import type { Credentials, PlatformAdapter } from '../../platforms/contract.ts'
import { PlatformError } from '../../platforms/errors.ts'
import { isDatabaseOutage } from '../../store/mongo-errors.ts'
import type { ServerHeld } from '../shared/call-limiter.ts'
import { RELOAD, type Attempt, type AttemptResult } from './attempt.ts'
import { chooseForEntry } from './delivery-account.ts'
import { explainRefusal } from './explain-refusal.ts'
import { isUnauthorized, toOutgoingPost, type PrepareDelivery } from './prepare-delivery.ts'
import { isPostDeleted, type OutcomeRecorder } from './record-outcome.ts'
import { findUnreached } from './retry-policy.ts'
import type { ServerOutages } from './server-outages.ts'
import type { WorkerContext } from '../worker-context.ts'

interface ReconcileDeliveryDeps extends WorkerContext {
  outages: ServerOutages
  outcomes: OutcomeRecorder
  preparation: PrepareDelivery
}

/** The result of reconciling. `unanswered`: the platform failed to search. An error: it needs a new login, or its server was not reached. */
type Finding =
  Published | PlatformError | ServerHeld | 'absent' | 'undecidable' | 'in-flight' | 'not-connected' | 'unanswered'

/** After this many failed searches a retry of the user repeats the call. It skips the last wait of the schedule. */
const MAX_UNANSWERED = RECONCILE_WAITS_MS.length - 1

/** A new login ends this wait. */
const LOGIN_WAIT_MS = HOUR

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
    const calledAt = entry.delivery.restoredAt ?? entry.lastAttemptAt ?? entry.delivery.startedAt ?? clock.now()
    // guard: reconciliation
    const found = await findEarlierCall(attempt, adapter, calledAt)
    if (isLoginRefused(found)) return waitForLogin(found)
    if (found instanceof Error) {
      if (isTooLate) return giveUpDelivery(`${WHY_UNKNOWN.unanswered}.`)
      return outcomes.recordUnknown(attempt, failure('OUTCOME_UNKNOWN', WHY_UNKNOWN.unanswered), { error: found })
    }
    if (typeof found === 'object') {
      addEvent('found')
      return outcomes.recordAccepted(attempt, found, true)
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
    function allowRepeat(finding: Extract<Finding, string>) {
      if (finding === 'unanswered' && entry.delivery.reconcileTries >= MAX_UNANSWERED) return 'absent'
      const isSettled = clock.now().getTime() - calledAt.getTime() >= unansweredSettleMs
      return finding === 'undecidable' && isSettled ? 'anew' : finding
    }

    /** Only the user can renew the login. Then the search is made immediately. */
    async function waitForLogin({ message, platformReason }: PlatformError): Promise<AttemptResult> {
      if (entry.delivery.repeatAllowed) return giveUpDelivery(message, platformReason)
      addEvent('unknown')
      const why = `${trimFullStop(message)}. The post is searched for once the account is connected again.`
      const isHeld = clock.now().getTime() - calledAt.getTime() < deps.maxLatenessMs
      const reason = failure('OUTCOME_UNKNOWN', why, platformReason)
      return outcomes.recordUnknown(attempt, reason, { heldMs: isHeld ? LOGIN_WAIT_MS : undefined })
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

    async function giveUpDelivery(why: string, platformReason: PlatformReason | null = null): Promise<AttemptResult> {
      const reason = failure('OUTCOME_UNKNOWN', why, platformReason)
      const moved = await outcomes.applyMove(attempt, giveUp(target, reason, input.round))
      metrics.deliveryRecorded(platform, 'failed', reason.code)
      return outcomes.endDelivery(moved, input)
    }
  }

  /** Returns whether an equal post may have been found by what this one published, while the call of the other may still take effect. */
  async function hasEqualInFlight({ post, entry }: Attempt, holders: ReadonlySet<string>): Promise<boolean> {
    const { text } = toOutgoingPost({ post, entry }).content
    const others = await Promise.all([...holders].map((id) => posts.find(id)))
    return others.some((other) =>
      other?.platformStatuses.some(
        (one) =>
          one.platform === entry.platform &&
          toParts(one.platform, resolveContent(other, one)).some(({ content }) => content.text === text) &&
          mayPublishAnother(one, clock.now(), unansweredSettleMs),
      ),
    )
  }

  async function findEarlierCall(attempt: Attempt, adapter: PlatformAdapter | null, calledAt: Date): Promise<Finding> {
    const { input, post, entry, activity } = attempt
    const { signal } = activity
    const { key, dueAt, startedAt, restoredAt } = entry.delivery
    if (key === null || dueAt === null || startedAt === null) return 'absent'
    if (!adapter) return 'undecidable'
    try {
      const { userId } = post
      const choose = chooseForEntry(attempt)
      const account = await credentials.get(userId, input.platform, { signal, choose })
      if (!account) return 'not-connected'
      const holders = new Set<string>()
      const isTaken = async (platformPostId: string) => {
        const holder = await posts.findOtherHolder(post._id, input.platform, platformPostId)
        if (holder !== null) holders.add(holder)
        return holder !== null
      }
      const search = async (used: Credentials) => {
        const checkpoints = { ...preparation.createCheckpoints(attempt, used), key, dueAt, startedAt, isRepeat: true }
        try {
          const work = () =>
            adapter.reconcile(toOutgoingPost(attempt), used, checkpoints, {
              signal,
              calledAt,
              wasAnswered: restoredAt === undefined && (entry.delivery.answered ?? false),
              isRestored: restoredAt !== undefined,
              isTaken,
            })
          return await outages.call(attempt, adapter, used, work, true)
        } catch (error) {
          throw await explainRefusal(credentials, { adapter, userId, account: used, error })
        }
      }
      const found = await withFreshLogin(
        credentials,
        { userId, platform: input.platform, account, choose, signal },
        { call: search, isRefused: isUnauthorized },
      )
      if (found !== 'absent') return found
      // What the lost call used is not known, so nothing protects against its late effect.
      const mayTakeEffect = restoredAt && clock.now().getTime() - restoredAt.getTime() < unansweredSettleMs
      return mayTakeEffect || (await hasEqualInFlight(attempt, holders)) ? 'in-flight' : 'absent'
    } catch (error) {
      signal.throwIfAborted()
      if (isDatabaseOutage(error) || isPostDeleted(error)) throw error
      if (isLoginRefused(error) || isUnreached(error)) return error
      if (!(error instanceof PlatformError)) activity.report('reconcile failed unexpectedly', error)
      return isSearchRefused(error) ? 'undecidable' : 'unanswered'
    }
  }
}

/** Returns true when the search needs that the user connects the account again. */
function isLoginRefused(error: unknown): error is PlatformError {
  return isUnauthorized(error) || (error instanceof PlatformError && error.needsReconnection)
}

function isUnreached(error: unknown): error is PlatformError | ServerHeld {
  return findUnreached(error, 0, 0) !== null
}

/** Returns true when the platform refused the search itself. Another search would be refused, too. */
function isSearchRefused(error: unknown): boolean {
  return (
    error instanceof PlatformError && error.certain && ['permission', 'not_found', 'validation'].includes(error.class)
  )
}
