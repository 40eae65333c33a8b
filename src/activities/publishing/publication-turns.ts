import { describePublicationLimit, type PublicationTurn } from '../../domain/quotas/publications.ts'
import type { QuotaSubject } from '../../domain/quotas/limits.ts'
import { toTarget } from '../../domain/posts/targets.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { Credentials, PlatformAdapter } from '../../platforms/contract.ts'
import { PublicationQuotaReached } from '../../platforms/errors.ts'
import { CapacityExceeded } from '../shared/call-limiter.ts'
import type { Attempt } from './attempt.ts'
import type { Context } from '../../context.ts'

/** A call begins this long after its grant at most. */
const GRANT_LIFE_MS = 10 * SECOND
/** How often a platform is asked for what is left of a quota, for each account. */
const ASK_EVERY_MS = 10 * MINUTE
const ASK_DEADLINE_MS = 5 * SECOND
const MAX_ASKED_ACCOUNTS = 10_000

/** The right to publish one post now. */
export interface Turn {
  /** Returns the right when the platform certainly did not publish the post. */
  giveBack(): Promise<void>
  /** Records what the platform stated when it refused the post. */
  report(error: PublicationQuotaReached): Promise<void>
}

const FREE_TURN: Turn = { giveBack: async () => {}, report: async () => {} }

/** Lets the deliveries of an account take turns, in due order, under the quota of its platform. */
export function createPublicationTurns({ publicationLedger: ledger }: Context) {
  const asked = new Map<string, { hasAnswered: Promise<boolean>; until: number }>()

  /** Asks the platform, whose limit may be another one than the documented. Returns whether it answered. */
  async function askPlatform({ key }: QuotaSubject, adapter: PlatformAdapter, account: Credentials): Promise<boolean> {
    try {
      const reports = await adapter.readPublicationQuota!(account, { signal: AbortSignal.timeout(ASK_DEADLINE_MS) })
      if (reports.length > 0) await ledger.report(key, reports)
      return reports.length > 0
    } catch {
      return false
    }
  }

  /** Asks at most once in a while, whatever number of deliveries wait. */
  async function hasNews(subject: QuotaSubject, adapter: PlatformAdapter, account: Credentials): Promise<boolean> {
    if (!adapter.readPublicationQuota) return false
    const now = performance.now()
    const earlier = asked.get(subject.key)
    if (earlier && earlier.until > now) return earlier.hasAnswered
    if (asked.size >= MAX_ASKED_ACCOUNTS) asked.clear()
    const hasAnswered = askPlatform(subject, adapter, account)
    asked.set(subject.key, { hasAnswered, until: now + ASK_EVERY_MS })
    return hasAnswered
  }

  /**
   * Takes the turn of a delivery.
   * @param callMs the time that the call takes at most, with the claim before it
   * @throws PublicationQuotaReached with the time until its turn, and errors of the database
   */
  async function take(
    { input, post, entry }: Pick<Attempt, 'input' | 'post' | 'entry'>,
    adapter: PlatformAdapter,
    account: Credentials,
    callMs: number,
  ): Promise<Turn> {
    const subject = adapter.publicationQuota?.(account)
    if (!subject) return FREE_TURN
    const { key, limits } = subject
    const request = {
      id: `${post._id}/${toTarget(input)}`,
      dueAt: entry.delivery.turnDueAt ?? post.dueAt!,
      limits,
      arrivalMs: GRANT_LIFE_MS + callMs,
    }
    const requestedAt = performance.now()
    let turn: PublicationTurn = await ledger.request(key, request)
    if ('waitMs' in turn && (await hasNews(subject, adapter, account))) turn = await ledger.request(key, request)
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
