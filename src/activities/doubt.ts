import { failure } from '../domain/failure.ts'
import { giveUp, markAbsent } from '../domain/delivery-moves.ts'
import type { PlatformStatus, Post, Published } from '../domain/post.ts'
import type { PlatformAdapter } from '../platforms/adapter.ts'
import { PlatformError } from '../platforms/errors.ts'
import type { DeliveryInput, DeliveryResult } from '../workflows/messages.ts'
import type { AttemptIo, DeliverDeps } from './deliver.ts'
import { isGone, type Outcomes } from './outcomes.ts'
import { isDatabaseOutage } from '../database-outage.ts'
import { outgoing, type Preparation } from './preparation.ts'

interface DoubtDeps extends Pick<DeliverDeps, 'posts' | 'credentials' | 'clock' | 'metrics'> {
  outcomes: Outcomes
  preparation: Preparation
}

/** What is done about a call of which nobody knows whether it was accepted. */
export function createSettleDoubt({ posts, credentials, clock, metrics, outcomes, preparation }: DoubtDeps) {
  /** An earlier call may have been accepted: find out before anything is repeated. */
  return async function settleDoubt(
    post: Post,
    entry: PlatformStatus,
    adapter: PlatformAdapter | null,
    input: DeliveryInput,
    io: AttemptIo,
  ): Promise<DeliveryResult | null> {
    const from = { round: input.round, attempt: entry.delivery.attempt }
    const found = await look()
    if (found === 'other-account') {
      const reason = failure('OUTCOME_UNKNOWN', 'The account was changed while the post was on its way.')
      const left = await outcomes.change(post._id, giveUp(input.platform, reason, input.round), io)
      metrics.deliveryRecorded(input.platform, 'failed', reason.code)
      return outcomes.ended(left, input)
    }
    const result = found === 'absent' ? found : found === 'undecidable' ? 'unknown' : 'found'
    io.untold.push({ at: clock.now(), type: 'reconcile', platform: input.platform, ...from, result })
    if (found === 'absent') {
      await outcomes.change(post._id, markAbsent(input.platform, from), io)
      return null
    }
    if (found === 'undecidable')
      return outcomes.unknown(
        post,
        input,
        from,
        failure('OUTCOME_UNKNOWN', 'The platform does not tell whether the post is there'),
        io,
      )
    return outcomes.accepted(post, input, from, found, io)

    async function look(): Promise<Published | 'absent' | 'undecidable' | 'other-account'> {
      const { key, startedAt, accountId } = entry.delivery
      if (key === null || startedAt === null) return 'absent'
      if (!adapter) return 'undecidable'
      try {
        const account = await credentials.get(post.userId, input.platform, { signal: io.signal })
        if (account && account.accountId !== accountId) return 'other-account'
        if (!account) return 'undecidable'
        const log = { ...preparation.log(post, entry, account, input), key, startedAt }
        return await adapter.reconcile(outgoing(post, input), account, log, {
          signal: io.signal,
          calledAt: entry.lastAttemptAt ?? startedAt,
          isTaken: (platformPostId) => posts.isTaken(post._id, input.platform, platformPostId),
        })
      } catch (error) {
        io.signal.throwIfAborted()
        if (isDatabaseOutage(error) || isGone(error)) throw error
        if (!(error instanceof PlatformError)) io.report('Looking for the trace of a post failed', error)
        return 'undecidable'
      }
    }
  }
}
