import { failure } from '../../domain/posts/failure.ts'
import { giveUp, markAbsent, publishAgain, RECONCILE_WAITS_MS } from '../../domain/posts/delivery-moves.ts'
import type { PlatformStatus, Post, Published } from '../../domain/posts/post.ts'
import type { PlatformAdapter } from '../../platforms/contract.ts'
import { PlatformError } from '../../platforms/errors.ts'
import type { DeliveryInput, DeliveryResult } from '../../workflows/messages.ts'
import type { AttemptIo, DeliverDeps } from './delivery-attempt.ts'
import { isGone, type Outcomes } from './record-outcome.ts'
import { isDatabaseOutage } from '../../store/mongo-errors.ts'
import { outgoing, type Preparation } from './prepare-delivery.ts'

interface DoubtDeps extends Pick<DeliverDeps, 'posts' | 'credentials' | 'clock' | 'metrics' | 'unansweredSettleMs'> {
  outcomes: Outcomes
  preparation: Preparation
}

/** What reconciling came to. `unreachable`: the platform could not be asked. */
type Finding = Published | 'absent' | 'undecidable' | 'unsettled' | 'other-account' | 'not-connected' | 'unreachable'

/** A repeat that the user asked for goes out when so many times nobody could be asked: the last wait of the schedule is left out. */
const MOST_UNREACHABLE = RECONCILE_WAITS_MS.length - 1

const WHY_UNKNOWN = {
  undecidable: 'The platform does not tell whether the post is there',
  unsettled: 'The platform has no trace of the post yet',
  'not-connected': 'The platform is not connected',
  unreachable: 'The platform could not be asked whether the post is there',
}

/** What is done about a call of which nobody knows whether it was accepted. */
export function createSettleDoubt(deps: DoubtDeps) {
  const { posts, credentials, clock, metrics, unansweredSettleMs, outcomes, preparation } = deps

  /** An earlier call may have been accepted: find out before anything is repeated. */
  return async function settleDoubt(
    post: Post,
    entry: PlatformStatus,
    adapter: PlatformAdapter | null,
    input: DeliveryInput,
    io: AttemptIo,
  ): Promise<DeliveryResult | null> {
    const from = { round: input.round, attempt: entry.delivery.attempt }
    const calledAt = entry.lastAttemptAt ?? entry.delivery.startedAt ?? clock.now()
    // guard: reconciliation
    const found = await look()
    if (typeof found === 'object') {
      note('found')
      return outcomes.accepted(post, input, from, found, io)
    }
    const next = entry.delivery.repeatAllowed ? afterUsersRetry(found) : found
    if (next === 'absent' || next === 'anew') {
      note(found === 'absent' ? 'absent' : 'unknown')
      const move = next === 'absent' ? markAbsent : publishAgain
      await outcomes.change(post._id, move(input.platform, from), io)
      return null
    }
    if (next === 'other-account') return end('The account was changed while the post was on its way.')
    if (next === 'not-connected' && entry.delivery.repeatAllowed) return end('The platform is not connected.')
    note('unknown')
    return outcomes.unknown(post, input, from, { reason: failure('OUTCOME_UNKNOWN', WHY_UNKNOWN[next]) }, io)

    /** The user knows that nobody knows, and asked for the post all the same: what cannot be decided no longer keeps it back. */
    function afterUsersRetry(finding: Exclude<Finding, Published>) {
      if (finding === 'other-account') return 'anew'
      if (finding === 'unreachable' && entry.delivery.reconcileTries >= MOST_UNREACHABLE) return 'absent'
      const isSettled = clock.now().getTime() - calledAt.getTime() >= unansweredSettleMs
      return finding === 'undecidable' && isSettled ? 'anew' : finding
    }

    function note(result: 'found' | 'absent' | 'unknown'): void {
      io.untold.push({ at: clock.now(), type: 'reconcile', platform: input.platform, ...from, result })
    }

    async function end(why: string): Promise<DeliveryResult> {
      const reason = failure('OUTCOME_UNKNOWN', why)
      const left = await outcomes.change(post._id, giveUp(input.platform, reason, input.round), io)
      metrics.deliveryRecorded(input.platform, 'failed', reason.code)
      return outcomes.ended(left, input)
    }

    async function look(): Promise<Finding> {
      const { key, startedAt, accountId } = entry.delivery
      if (key === null || startedAt === null) return 'absent'
      if (!adapter) return 'undecidable'
      try {
        const account = await credentials.get(post.userId, input.platform, { signal: io.signal })
        if (account && account.accountId !== accountId) return 'other-account'
        if (!account) return 'not-connected'
        const log = { ...preparation.log(post, entry, account, input), key, startedAt, isRepeat: true }
        return await adapter.reconcile(outgoing(post, input), account, log, {
          signal: io.signal,
          calledAt,
          wasAnswered: entry.delivery.answered ?? false,
          isTaken: (platformPostId) => posts.isTaken(post._id, input.platform, platformPostId),
        })
      } catch (error) {
        io.signal.throwIfAborted()
        if (isDatabaseOutage(error) || isGone(error)) throw error
        if (!(error instanceof PlatformError)) io.report('Looking for the trace of a post failed', error)
        return isAnswerToTheQuestion(error) ? 'undecidable' : 'unreachable'
      }
    }
  }
}

/** The platform itself refused to tell, which asking again does not change. */
function isAnswerToTheQuestion(error: unknown): boolean {
  return (
    error instanceof PlatformError && error.certain && ['permission', 'not_found', 'validation'].includes(error.class)
  )
}
