import { failure } from '../../domain/posts/failure.ts'
import { claim, defer } from '../../domain/posts/delivery-moves.ts'
import { toPartIndex } from '../../domain/posts/parts.ts'
import { findEntry } from '../../domain/posts/post-entries.ts'
import type { AttemptRef, Published } from '../../domain/posts/post.ts'
import { toTarget } from '../../domain/posts/targets.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { Credentials, DeliveryCheckpoints, PlatformAdapter } from '../../platforms/contract.ts'
import { PlatformError, PublicationQuotaReached } from '../../platforms/errors.ts'
import { isDatabaseOutage } from '../../store/mongo-errors.ts'
import { describeAccount } from '../../commands/accounts/describe-account.ts'
import { CapacityExceeded, type CallLimiter } from '../shared/call-limiter.ts'
import { RELOAD, type Attempt, type AttemptResult } from './attempt.ts'
import { isUnauthorized, toOutgoingPost, type PreparedAccount, type PrepareDelivery } from './prepare-delivery.ts'
import { chooseForEntry } from './delivery-account.ts'
import { explainRefusal } from './explain-refusal.ts'
import type { OutcomeRecorder } from './record-outcome.ts'
import { createPublicationTurns } from './publication-turns.ts'
import { findUnreached } from './retry-policy.ts'
import type { WakeDeliveries } from './server-outages.ts'
import type { WorkerContext } from '../worker-context.ts'
import { createSendPriority } from '../../flow/send-priority.ts'

/** The lease outlives the deadline of the visible call by this much. */
const LEASE_MARGIN_MS = 2 * SECOND
/** An accepted result that is not recorded by then goes to Temporal as well. */
const REMEMBER_AFTER_MS = 300
/** The longest delay of a record while other calls are due. */
const MAX_RECORD_DELAY_MS = 200

interface SendPostDeps extends WorkerContext {
  callLimiter: CallLimiter
  wakeDeliveries: WakeDeliveries
  outcomes: OutcomeRecorder
  preparation: PrepareDelivery
}

/** The result of a visible call, with the claim that it was made under. */
type VisibleCall = { ref: AttemptRef; latencyMs?: number } & ({ published: Published } | { error: unknown })

/** Claims a prepared delivery, makes the visible call, and records its outcome. */
export function createSendPost(deps: SendPostDeps) {
  const { credentials, clock, callLimiter, wakeDeliveries, planWeights, metrics, outcomes, preparation } = deps
  const priority = createSendPriority(MAX_RECORD_DELAY_MS)
  const turns = createPublicationTurns(deps)

  /** @param isArmed whether the attempt waited for the post to be due: such calls come before the records of other attempts */
  return async function sendPost(
    attempt: Attempt,
    adapter: PlatformAdapter,
    { account, plan }: PreparedAccount,
    isArmed: boolean,
  ): Promise<AttemptResult> {
    const { input, post } = attempt
    const timeoutMs = adapter.publishTimeoutMs?.(toOutgoingPost(attempt)) ?? deps.publishTimeoutMs
    const { serviceUrl: server = '', accountId } = account
    const weight = planWeights[plan]
    const { isAdmitted = false } = attempt.activity
    const destination = { platform: input.platform, server, userId: post.userId, accountId, weight, isAdmitted }
    const send = () => callLimiter.run(destination, () => callInTurn(attempt, adapter, account, timeoutMs))
    let call: VisibleCall
    try {
      call = await (isArmed ? priority.send(send) : send())
    } catch (error) {
      return outcomes.recordFailureBeforeClaim(attempt, error)
    }
    const first = isFirstCall(call.ref) ? { post, at: clock.now() } : null
    metrics.publishEnded(input.platform, toCallOutcome(call), first)
    const claimed = { ...attempt, ref: call.ref }
    wakeOthers(attempt, call)
    if ('published' in call) return recordAccepted(claimed, call.published)
    return recordFailedCall(claimed, adapter, account, call.error)
  }

  /** A server that this delivery has waited for works again. */
  function wakeOthers({ entry: { delivery } }: Attempt, call: VisibleCall): void {
    const isReached = !('error' in call) || findUnreached(call.error, 0, 0) === null
    const { outage } = delivery
    if (outage && isReached) void wakeDeliveries({ server: outage.server, failedAt: outage.at.getTime() })
  }

  /** @throws PublicationQuotaReached, and what `claimAndCall` throws: then no call was made */
  async function callInTurn(
    attempt: Attempt,
    adapter: PlatformAdapter,
    account: Credentials,
    timeoutMs: number,
  ): Promise<VisibleCall> {
    const turn = await turns.take(attempt, adapter, account, timeoutMs + LEASE_MARGIN_MS)
    // A right that is not given back in an outage ends with its window.
    const giveBack = () => turn.giveBack().catch(() => {})
    let call: VisibleCall
    try {
      call = await claimAndCall(attempt, adapter, account, timeoutMs)
    } catch (error) {
      await giveBack()
      throw error
    }
    if (!('error' in call)) return call
    if (call.error instanceof PublicationQuotaReached) await turn.report(call.error).catch(() => {})
    else if (isRefusal(call.error)) await giveBack()
    return call
  }

  /** @throws ClaimRefused, and errors of the database: then no call was made */
  async function claimAndCall(
    { input, post, entry, activity, ref }: Attempt,
    adapter: PlatformAdapter,
    account: Credentials,
    timeoutMs: number,
  ): Promise<VisibleCall> {
    const { platform, round } = input
    const part = toPartIndex(entry)
    const target = toTarget(input)
    // The call may have waited for capacity for a while.
    activity.signal.throwIfAborted()
    const leaseUntil = new Date(clock.now().getTime() + timeoutMs + LEASE_MARGIN_MS)
    const move = claim(target, {
      round,
      part,
      leaseUntil,
      accountId: account.accountId,
      account: describeAccount(post.userId, platform, account),
      contentVersion: post.contentVersion,
    })
    const { delivery } = findEntry(await outcomes.applyMove({ input, post, entry, activity, ref }, move), target)!
    // guard: claimed attempt
    const claimed = { round, attempt: delivery.attempt, part }
    // The claim was so slow that its lease no longer covers the call.
    if (leaseUntil.getTime() - clock.now().getTime() < timeoutMs) {
      return { ref: claimed, error: new CapacityExceeded('full') }
    }
    const checkpoints: DeliveryCheckpoints = {
      ...preparation.createCheckpoints({ input, post, activity, entry: { ...entry, delivery } }, account),
      key: delivery.key!,
      dueAt: delivery.dueAt!,
      startedAt: delivery.startedAt!,
      isRepeat: entry.delivery.hadUnknownOutcome && entry.delivery.key !== null,
    }
    if (isFirstCall(claimed)) metrics.publishStarted(platform, post, clock.now())
    const outgoing = toOutgoingPost({ post, entry })
    const calledAt = performance.now()
    // The call may upload files, whose size decides how long it takes.
    const latency = () => (outgoing.content.mediaItems.length === 0 ? { latencyMs: performance.now() - calledAt } : {})
    try {
      const signal = AbortSignal.timeout(timeoutMs)
      const published = await adapter.publish(outgoing, account, checkpoints, { signal })
      return { ref: claimed, published, ...latency() }
    } catch (error) {
      return { ref: claimed, error, ...latency() }
    }
  }

  /** The record mostly takes a few milliseconds. If it takes longer, Temporal stores the result in case this process dies. */
  async function recordAccepted(attempt: Attempt, published: Published): Promise<AttemptResult> {
    const rememberTimer = setTimeout(
      () => attempt.activity.remember({ ...attempt.ref, ...published }),
      REMEMBER_AFTER_MS,
    )
    try {
      await priority.whenIdle()
      return await outcomes.recordAccepted(attempt, published)
    } finally {
      clearTimeout(rememberTimer)
    }
  }

  async function recordFailedCall(
    attempt: Attempt,
    adapter: PlatformAdapter,
    account: Credentials,
    error: unknown,
  ): Promise<AttemptResult> {
    const { post, input, ref, activity } = attempt
    if (!isRefusal(error)) {
      if (error instanceof PlatformError) {
        return outcomes.recordUnknown(attempt, failure('OUTCOME_UNKNOWN', error.message, error.platformReason), {
          answered: error.answered,
          error,
        })
      }
      activity.report('visible call failed unexpectedly', error)
      return outcomes.recordUnknown(attempt, failure('OUTCOME_UNKNOWN', 'The answer was lost'), { answered: false })
    }
    if (!isUnauthorized(error)) {
      return outcomes.recordFailure(
        attempt,
        await explainRefusal(credentials, { adapter, userId: post.userId, account, error }),
      )
    }
    if (activity.hasRenewed) {
      await credentials.markExpired(post.userId, input.platform, account, error)
      return outcomes.recordFailure(attempt, error)
    }
    // A renewal takes time, so the refusal is recorded first.
    const reason = failure(error.class, error.message, error.platformReason)
    await outcomes.applyMove(attempt, defer(toTarget(input), reason, ref, { at: clock.now(), countsAsTry: false }))
    try {
      await credentials.renew(post.userId, input.platform, account, {
        signal: activity.signal,
        choose: chooseForEntry(attempt),
        refusal: error,
      })
    } catch (renewalError) {
      activity.signal.throwIfAborted()
      if (isDatabaseOutage(renewalError)) throw renewalError
      return outcomes.recordFailure(attempt, renewalError)
    }
    activity.hasRenewed = true
    return RELOAD
  }
}

/** Returns true when a failed visible call certainly left nothing on the platform. */
function isRefusal(error: unknown): error is PlatformError | CapacityExceeded {
  if (error instanceof PlatformError) return error.certain && error.class !== 'duplicate'
  return error instanceof CapacityExceeded
}

/** Only the first call measures lateness: a wait or a retry of the user precedes every later one. */
function isFirstCall({ round, attempt, part }: AttemptRef): boolean {
  return round === 0 && attempt === 1 && part === 0
}

function toCallOutcome(call: VisibleCall): 'accepted' | 'refused' | 'unknown' {
  if ('published' in call) return 'accepted'
  return isRefusal(call.error) ? 'refused' : 'unknown'
}
