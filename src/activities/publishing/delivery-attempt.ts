import { randomUUID } from 'node:crypto'
import { platformLabel } from '../../domain/shared/platforms.ts'
import { failure, type Failure } from '../../domain/posts/failure.ts'
import { claim, ClaimRefused, defer } from '../../domain/posts/delivery-moves.ts'
import { findOpenEntry, findEntry, needsReconciliation } from '../../domain/posts/post-entries.ts'
import type { AttemptRef, Move, PlatformStatus, Post, Published } from '../../domain/posts/post.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { Credentials, DeliveryLog, PlatformAdapter } from '../../platforms/contract.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import { PlatformError } from '../../platforms/errors.ts'
import { isDatabaseOutage } from '../../store/mongo-errors.ts'
import type { DeliveryInput, DeliveryResult } from '../../workflows/messages.ts'
import { Crowded, type Bulkheads } from '../shared/call-limiter.ts'
import { createBurst } from './send-priority.ts'
import { createSettleDoubt } from './reconcile-delivery.ts'
import { createOutcomes, GONE, isGone, resultOf, TryAgainIn, type Telling } from './record-outcome.ts'
import {
  createPreparation,
  isUnauthorized,
  outgoing,
  type PreparationDeps,
  type PreparationIo,
} from './prepare-delivery.ts'
import { verdictOn } from './retry-policy.ts'

/** A timer fires this early at the most: an attempt for a post further ahead waits outside its slot. */
const LONGEST_ARMED_MS = 15 * SECOND
/** The lease outlives the visible call's deadline by this much. */
const LEASE_MARGIN_MS = 2 * SECOND
/** Owner and account are looked at once more this long before the instant, spread over the second figure. */
const LAST_LOOK_MS = 500
const LAST_LOOK_SPREAD_MS = 2 * SECOND
const MOST_LOOKS = 10
/** An accepted answer that is not on record by then goes to Temporal as well. */
const REMEMBER_AFTER_MS = 300
/** How long the record of an answer may stand back behind calls that are due at the same instant. */
const LONGEST_STAND_BACK_MS = 200

export type DeliveryMetrics = Pick<
  Metrics,
  'publishStarted' | 'publishEnded' | 'deliveryRecorded' | 'sendWaited' | 'sendCrowdedOut'
>

export interface DeliverDeps extends PreparationDeps {
  bulkheads: Bulkheads
  metrics: DeliveryMetrics
  publishTimeoutMs: number
  maxLatenessMs: number
  /** How long a call without an answer may still take effect, where the platform does not recognise repeats. */
  unansweredSettleMs: number
}

/** What an attempt needs of the activity that runs it. */
export interface ActivityIo extends PreparationIo {
  /** What an earlier attempt that died left behind, if it got that far. */
  remembered: (AttemptRef & Published) | null
  /** Keeps an accepted result safe outside the database. */
  remember(result: AttemptRef & Published): void
  /** The workflow run it belongs to, for the timeline. */
  runId: string
  log: Telling['log']
}

export interface AttemptIo extends ActivityIo, Telling {
  /** A refused login is renewed once; refused again, the connection has ended. */
  hasRenewed: boolean
}

/** Everything before the claim, in order. Whoever returns a result has ended the attempt. */
export function createDeliver(deps: DeliverDeps) {
  const { posts, notifications, credentials, platforms, clock, bulkheads, metrics } = deps
  const preparation = createPreparation(deps)
  const outcomes = createOutcomes({ posts, notifications, clock, metrics })
  const settleDoubt = createSettleDoubt({ ...deps, outcomes, preparation })
  const burst = createBurst(LONGEST_STAND_BACK_MS)

  /**
   * One attempt to bring one platform of a post out (design section 4, step 5).
   * @throws TryAgainIn; errors of the database pass through
   */
  async function deliver(input: DeliveryInput, activity: ActivityIo): Promise<DeliveryResult> {
    const io: AttemptIo = { ...activity, hasRenewed: false, untold: [] }
    for (let look = 0; look < MOST_LOOKS; look++) {
      try {
        const result = await lookAndAct(input, io)
        if (result) return result
      } catch (error) {
        if (isGone(error)) return GONE
        if (!(error instanceof ClaimRefused)) throw error
        if (error.reason === 'not-due' || error.reason === 'stale') return outcomes.again(input)
      }
    }
    throw new TryAgainIn(SECOND, 'The post keeps changing')
  }

  /** Returns null when something changed and the post has to be looked at afresh. */
  async function lookAndAct(input: DeliveryInput, io: AttemptIo): Promise<DeliveryResult | null> {
    const post = await posts.find(input.postId)
    if (!post) return GONE
    const entry = findOpenEntry(post, input.platform, input.round)
    if (!entry) return outcomes.ended(post, input)
    const from = { round: input.round, attempt: entry.delivery.attempt }
    if (io.remembered?.attempt === from.attempt && io.remembered.round === from.round) {
      return outcomes.accepted(post, input, from, io.remembered, io)
    }
    const now = clock.now()
    if (post.dueAt === null) return resultOf(post, input.platform, 'again')
    // Moved, and called back in a moment; or our clock is behind Temporal's, and the workflow would send us again at once.
    const ahead = post.dueAt.getTime() - now.getTime()
    if (ahead > LONGEST_ARMED_MS) throw new TryAgainIn(ahead - LONGEST_ARMED_MS, 'It is too early to arm')
    waitForTurn(entry, now)

    const adapter = platforms.find(input.platform)
    if (needsReconciliation(entry.delivery, now)) return settleDoubt(post, entry, adapter, input, io)
    if (!adapter) {
      return outcomes.refused(
        post,
        input,
        from,
        failure('PLATFORM_NOT_SUPPORTED', `${platformLabel(input.platform)} is not set up here`),
        io,
      )
    }
    if (now.getTime() - post.dueAt.getTime() > deps.maxLatenessMs) {
      return outcomes.refused(post, input, from, failure('TOO_LATE', 'The post could not be sent in time'), io)
    }

    let account: Credentials | Failure
    try {
      account = await preparation.ready(post, entry, adapter, input, io)
    } catch (error) {
      return failedBeforeClaim(error, post, entry, input, io)
    }
    if ('code' in account) return outcomes.refused(post, input, from, account, io)

    const lastLook = post.dueAt.getTime() - LAST_LOOK_MS - (spread(post._id) % LAST_LOOK_SPREAD_MS)
    if (clock.now().getTime() < lastLook) {
      io.untold.push({ at: clock.now(), type: 'wait', platform: input.platform, until: post.dueAt })
      await clock.sleepUntil(new Date(lastLook), io.signal)
      return null
    }
    const isArmed = post.dueAt > clock.now()
    await clock.sleepUntil(post.dueAt, io.signal)
    return send(post, entry, adapter, account, input, isArmed, io)
  }

  const change = (post: Post, move: Move, io: Telling): Promise<Post> => outcomes.change(post._id, move, io)

  async function failedBeforeClaim(
    error: unknown,
    post: Post,
    entry: PlatformStatus,
    input: DeliveryInput,
    io: AttemptIo,
  ): Promise<DeliveryResult | null> {
    io.signal.throwIfAborted()
    // A post that was deleted before its claim is nothing out of the ordinary.
    if (error instanceof ClaimRefused || isDatabaseOutage(error) || isGone(error)) throw error
    const waitedMs = clock.now().getTime() - (post.dueAt?.getTime() ?? Infinity)
    return settle(error, post, input, { round: input.round, attempt: entry.delivery.attempt }, io, waitedMs)
  }

  /** The claim, then nothing but the one visible call and the record of what it answered. */
  async function send(
    post: Post,
    entry: PlatformStatus,
    adapter: PlatformAdapter,
    account: Credentials,
    input: DeliveryInput,
    isArmed: boolean,
    io: AttemptIo,
  ): Promise<DeliveryResult | null> {
    const timeoutMs = adapter.publishTimeoutMs?.(outgoing(post, input)) ?? deps.publishTimeoutMs
    const inTurn = isArmed ? burst.first : <T>(work: () => Promise<T>) => work()
    let sent: { from: AttemptRef; published: Published } | { from: AttemptRef; error: unknown }
    try {
      const claimAndSend = async () => {
        // It may have stood in line for a while.
        io.signal.throwIfAborted()
        const leaseUntil = new Date(clock.now().getTime() + timeoutMs + LEASE_MARGIN_MS)
        const claimed = findEntry(
          await change(
            post,
            claim(input.platform, {
              round: input.round,
              key: randomUUID(),
              leaseUntil,
              accountId: account.accountId,
              contentVersion: post.contentVersion,
            }),
            io,
          ),
          input.platform,
        )!
        // guard: claimed attempt
        const from = { round: input.round, attempt: claimed.delivery.attempt }
        if (leaseUntil.getTime() - clock.now().getTime() < timeoutMs) {
          return { from, error: new Crowded(input.platform) }
        }
        const log: DeliveryLog = {
          ...preparation.log(post, { ...entry, delivery: claimed.delivery }, account, input),
          key: claimed.delivery.key!,
          startedAt: claimed.delivery.startedAt!,
          isRepeat: entry.delivery.doubted && entry.delivery.key !== null,
        }
        if (isFirst(from)) metrics.publishStarted(input.platform, post, clock.now())
        const deadline = AbortSignal.timeout(timeoutMs)
        try {
          const published = await adapter.publish(outgoing(post, input), account, log, { signal: deadline })
          return { from, published }
        } catch (error) {
          return { from, error }
        }
      }
      const destination = { platform: input.platform, server: account.serviceUrl ?? '', userId: post.userId }
      sent = await inTurn(() => bulkheads.send(destination, claimAndSend))
    } catch (error) {
      return failedBeforeClaim(error, post, entry, input, io)
    }
    metrics.publishEnded(input.platform, outcomeOf(sent), isFirst(sent.from) ? { post, at: clock.now() } : null)
    if ('published' in sent) return recordAccepted(post, input, sent, io)
    return failedCall(sent.error, post, account, input, sent.from, io)
  }

  /** Mostly the record is made in a few milliseconds. When it is not, Temporal keeps the answer, should this process end. */
  async function recordAccepted(
    post: Post,
    input: DeliveryInput,
    { from, published }: { from: AttemptRef; published: Published },
    io: AttemptIo,
  ): Promise<DeliveryResult> {
    const late = setTimeout(() => io.remember({ ...from, ...published }), REMEMBER_AFTER_MS)
    try {
      await burst.over()
      return await outcomes.accepted(post, input, from, published, io)
    } finally {
      clearTimeout(late)
    }
  }

  async function failedCall(
    error: unknown,
    post: Post,
    account: Credentials,
    input: DeliveryInput,
    from: AttemptRef,
    io: AttemptIo,
  ): Promise<DeliveryResult | null> {
    if (!isRefusal(error)) {
      const isTold = error instanceof PlatformError
      if (!isTold) io.report('The visible call failed in an unexpected way', error)
      const reason = isTold
        ? failure('OUTCOME_UNKNOWN', error.message, error.platformReason)
        : failure('OUTCOME_UNKNOWN', 'The answer was lost')
      return outcomes.unknown(post, input, from, { reason, answered: isTold && error.answered }, io)
    }
    if (!isUnauthorized(error)) return settle(error, post, input, from, io)
    if (io.hasRenewed) {
      await credentials.markExpired(post.userId, input.platform, account, error.message)
      return settle(error, post, input, from, io)
    }
    // A renewal takes its time: that nothing was published is on record before it.
    const next = { at: clock.now(), countsAsTry: false }
    await change(post, defer(input.platform, failure(error.class, error.message, error.platformReason), from, next), io)
    try {
      await credentials.renew(post.userId, input.platform, account, { signal: io.signal })
    } catch (renewal) {
      io.signal.throwIfAborted()
      if (isDatabaseOutage(renewal)) throw renewal
      return settle(renewal, post, input, from, io)
    }
    io.hasRenewed = true
    return null
  }

  /** Records a definite failure as its class asks. */
  async function settle(
    error: unknown,
    post: Post,
    input: DeliveryInput,
    from: AttemptRef,
    io: AttemptIo,
    waitedMs: number | null = null,
  ): Promise<DeliveryResult | null> {
    const tries = findEntry(post, input.platform)?.delivery.tries ?? 0
    const verdict = verdictOn(error, tries, Math.random(), waitedMs)
    if (verdict.reason.code === 'INTERNAL') io.report('A delivery failed in an unexpected way', error)
    if (verdict.kind === 'defer') return outcomes.deferred(post, input, from, verdict.reason, verdict, io)
    return outcomes.refused(post, input, from, verdict.reason, io)
  }

  function waitForTurn(entry: PlatformStatus, now: Date): void {
    const { leaseUntil, nextAttemptAt } = entry.delivery
    if (leaseUntil && leaseUntil > now)
      throw new TryAgainIn(leaseUntil.getTime() - now.getTime(), 'Another attempt may be sending')
    if (nextAttemptAt && nextAttemptAt > now)
      throw new TryAgainIn(nextAttemptAt.getTime() - now.getTime(), 'Its time has not come')
  }

  return { deliver, prepareAhead: preparation.ahead }
}

/** Whether a failed visible call definitely left nothing on the platform. */
function isRefusal(error: unknown): error is PlatformError | Crowded {
  if (error instanceof PlatformError) return error.certain && error.class !== 'duplicate'
  return error instanceof Crowded
}

/** Later calls say nothing of how late a post was: a wait or a user's retry stands between. */
function isFirst({ round, attempt }: AttemptRef): boolean {
  return round === 0 && attempt === 1
}

function outcomeOf(sent: { published: Published } | { error: unknown }): 'accepted' | 'refused' | 'unknown' {
  if ('published' in sent) return 'accepted'
  return isRefusal(sent.error) ? 'refused' : 'unknown'
}

function spread(postId: string): number {
  return Number.parseInt(postId.slice(-6), 16) || 0
}
