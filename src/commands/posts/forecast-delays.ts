import { warnOfBurst } from '../../domain/posts/due-order.ts'
import type { PreflightTarget } from '../../domain/posts/preflight.ts'
import type { QuotaSubject } from '../../domain/quotas/limits.ts'
import {
  describePublicationLimit,
  createDelayForecast,
  toLookbackMs,
  MAX_PLANNED,
  type ExpectedDelay,
  type PublicationState,
} from '../../domain/quotas/publications.ts'
import type { Problem } from '../../domain/shared/service-error.ts'
import { formatTime, roundUpToSecond } from '../../domain/shared/times.ts'
import type { ConnectedAccount } from '../../store/accounts/accounts.ts'
import { chooseById } from '../accounts/account-credentials.ts'
import { findPublicationQuota } from '../accounts/publication-quota.ts'
import type { CommandContext } from '../context.ts'

/** A post as it is planned; without an id, it is not stored yet. */
export interface PlannedPost {
  userId: string
  postId?: string
  dueAt: Date
}

/** An account with the quota of its publications. */
export interface LimitedAccount extends QuotaSubject {
  account: ConnectedAccount
}

/**
 * Forecasts the delays of posts on each of the accounts with a known quota. Before it returns any, the platform is asked what is left, because
 * a warning that the platform contradicts is worse than none.
 * @param forecast returns the delays on one account by what is recorded about its quota
 */
export async function forecastWithQuotas<Delay>(
  deps: CommandContext,
  accounts: readonly ConnectedAccount[],
  forecast: (limited: LimitedAccount, state: PublicationState) => Promise<Delay[]>,
): Promise<Delay[]> {
  const limited = accounts.flatMap((account): LimitedAccount[] => {
    const quota = findPublicationQuota(deps, account)
    return quota ? [{ account, ...quota }] : []
  })
  if (limited.length === 0) return []
  const states = await deps.publicationLedger.read(limited.map(({ key }) => key))
  const delays = await Promise.all(
    limited.map(async (one) => {
      const { account, key } = one
      const found = await forecast(one, states.get(key)!)
      const open = (signal: AbortSignal) =>
        deps.credentials.get(account.userId, account.platform, { signal, choose: chooseById(account._id) })
      const mayDiffer =
        found.length > 0 && (await deps.askPublicationQuota(one, deps.platforms.find(account.platform)!, open))
      return mayDiffer ? forecast(one, (await deps.publicationLedger.read([key])).get(key)!) : found
    }),
  )
  return delays.flat()
}

/** Returns how the quotas of accounts would delay a post, by account id: with what was published, waits and is scheduled before it. */
export async function forecastDelays(
  deps: CommandContext,
  { userId, postId, dueAt }: PlannedPost,
  accounts: readonly ConnectedAccount[],
): Promise<Map<string, ExpectedDelay>> {
  const delays = await forecastWithQuotas(deps, accounts, async ({ account, limits }, { record, now }) => {
    const planned = await deps.posts.listPlannedTimes(userId, {
      account,
      after: new Date(Math.max(deps.clock.now().getTime(), dueAt.getTime() - toLookbackMs(limits))),
      until: dueAt,
      limit: MAX_PLANNED,
      ...(postId !== undefined && { exceptId: postId }),
    })
    const delay = createDelayForecast(record, limits, now)(planned, dueAt)
    return delay ? [[account._id, delay] as const] : []
  })
  return new Map(delays)
}

/** Warns that a post would be published later than its time: in a burst of its user, or because of the quotas of its accounts. */
export async function findDelayWarnings(
  deps: CommandContext,
  planned: PlannedPost & { scheduledAt: Date | null; timezone: string },
  targets: readonly (PreflightTarget & { account: ConnectedAccount | null })[],
): Promise<Problem[]> {
  return [...warnOfBurst(planned, deps.burstLimits), ...(await findQuotaWarnings(deps, planned, targets))]
}

/** Warns of the accounts whose quota would delay a post. The post is accepted, and published when it is its turn. */
async function findQuotaWarnings(
  deps: CommandContext,
  planned: PlannedPost & { timezone: string },
  targets: readonly (PreflightTarget & { account: ConnectedAccount | null })[],
): Promise<Problem[]> {
  const delays = await forecastDelays(
    deps,
    planned,
    targets.flatMap(({ account }) => account ?? []),
  )
  return targets.flatMap((one): Problem[] => {
    const delay = one.account && delays.get(one.account._id)
    return delay ? [toQuotaWarning(one, delay, planned.timezone)] : []
  })
}

/** @param timezone of the user */
export function toQuotaWarning(
  { platform, target, path }: Pick<PreflightTarget, 'platform' | 'target' | 'path'>,
  delay: ExpectedDelay,
  timezone: string,
): Problem {
  const message = `${describeDelay(platform, delay, timezone)}. Schedule it for later, or let it wait for its turn.`
  const nextFreeAt = delay.freeAt.toISOString()
  const account = { platform, ...(target !== undefined && { accountId: target }) }
  return { path, code: 'QUOTA_LIKELY_EXCEEDED', message, ...account, nextFreeAt }
}

/** @param timezone of the user */
export function describeDelay(platform: PreflightTarget['platform'], delay: ExpectedDelay, timezone: string): string {
  const time = formatTime(roundUpToSecond(delay.freeAt), timezone)
  return `${describePublicationLimit(platform, delay)}, so the post would be published at about ${time}`
}
