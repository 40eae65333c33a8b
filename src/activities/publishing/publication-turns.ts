import { describePublicationLimit, type PublicationTurn } from '../../domain/quotas/publications.ts'
import { toPartIndex } from '../../domain/posts/parts.ts'
import { toTarget } from '../../domain/posts/targets.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { Credentials, PlatformAdapter } from '../../platforms/contract.ts'
import { PublicationQuotaReached } from '../../platforms/errors.ts'
import { CapacityExceeded } from '../shared/call-limiter.ts'
import type { Attempt } from './attempt.ts'
import type { Context } from '../../context.ts'

/** A call begins this long after its grant at most. */
const GRANT_LIFE_MS = 10 * SECOND

/** The right to publish one post now. */
export interface Turn {
  /** Returns the right when the platform certainly did not publish the post. */
  giveBack(): Promise<void>
  /** Records what the platform stated when it refused the post. */
  report(error: PublicationQuotaReached): Promise<void>
}

const FREE_TURN: Turn = { giveBack: async () => {}, report: async () => {} }

/** Each part of a post is a publication. */
function toTurnId({ input, post, entry }: Pick<Attempt, 'input' | 'post' | 'entry'>): string {
  const part = toPartIndex(entry)
  return `${post._id}/${toTarget(input)}${part === 0 ? '' : `.${part}`}`
}

/** Lets the deliveries of an account take turns, in due order, under the quota of its platform. */
export function createPublicationTurns({ publicationLedger: ledger, askPublicationQuota }: Context) {
  /**
   * Takes the turn of a delivery.
   * @param callMs the time that the call takes at most, with the claim before it
   * @throws PublicationQuotaReached with the time until its turn, and errors of the database
   */
  async function take(
    attempt: Pick<Attempt, 'input' | 'post' | 'entry'>,
    adapter: PlatformAdapter,
    account: Credentials,
    callMs: number,
  ): Promise<Turn> {
    const { input, post, entry } = attempt
    const subject = adapter.publicationQuota?.(account)
    if (!subject) return FREE_TURN
    const { key, limits } = subject
    const request = {
      id: toTurnId(attempt),
      dueAt: entry.delivery.turnDueAt ?? post.dueAt!,
      limits,
      arrivalMs: GRANT_LIFE_MS + callMs,
    }
    const requestedAt = performance.now()
    let turn: PublicationTurn = await ledger.request(key, request)
    // The account's limit may be another one than the documented.
    const mayDiffer = 'waitMs' in turn && (await askPublicationQuota(subject, adapter, async () => account))
    if (mayDiffer) turn = await ledger.request(key, request)
    if ('waitMs' in turn) {
      const message = `${describePublicationLimit(input.platform, turn.limit)}. The post is published when it is its turn`
      throw new PublicationQuotaReached(message, { waitMs: turn.waitMs })
    }
    const { grant } = turn
    const giveBack = () => ledger.takeBack(key, grant)
    if (performance.now() - requestedAt > GRANT_LIFE_MS) {
      await giveBack()
      throw new CapacityExceeded('full')
    }
    return {
      giveBack,
      report: async ({ reports }) => {
        if (reports.length > 0) await ledger.report(key, reports)
      },
    }
  }

  return { take }
}
