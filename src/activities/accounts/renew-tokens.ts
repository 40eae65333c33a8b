import { cancellationSignal, heartbeat, log } from '@temporalio/activity'
import { chooseById } from '../../commands/accounts/account-credentials.ts'
import { appendEvents } from '../../commands/events/append-events.ts'
import { accountExpiring } from '../../domain/events/account-events.ts'
import { EXPIRING_MS } from '../../domain/accounts/account-health.ts'
import { nameAmongSeveral } from '../../domain/accounts/selection.ts'
import { connectionEnding } from '../../domain/notifications/notifications.ts'
import { DAY } from '../../domain/shared/times.ts'
import { PlatformError } from '../../platforms/errors.ts'
import type { ConnectedAccount } from '../../store/accounts/accounts.ts'
import type { Context } from '../../context.ts'

/** Connections are renewed this long before they end, so that a platform outage of a few days ends none. */
const RENEW_BEFORE_MS = EXPIRING_MS + 3 * DAY
const PAGE = 50
const CONCURRENT_RENEWALS = 5

/** The result of a page. `after` is where the next one begins; null on the last page. */
interface RenewedPage {
  after: string | null
  renewed: number
  warned: number
}

/** Renews connections before they expire. It may be repeated: a renewed token is no longer due, and a warning is stored once. */
export function createRenewTokensActivities(deps: Context) {
  const { accounts, credentials, platforms, notifications, users, clock } = deps

  return {
    async renewEndingTokens(after: string | null): Promise<RenewedPage> {
      const endsBefore = new Date(clock.now().getTime() + RENEW_BEFORE_MS)
      const { accounts: ending, next } = await accounts.listPage(after, PAGE, endsBefore)
      const result = { renewed: 0, warned: 0 }
      for (let first = 0; first < ending.length; first += CONCURRENT_RENEWALS) {
        const outcomes = await Promise.all(
          ending.slice(first, first + CONCURRENT_RENEWALS).map((account) => renewOrWarn(account)),
        )
        for (const outcome of outcomes) if (outcome) result[outcome] += 1
        heartbeat(result)
      }
      return { ...result, after: next }
    },
  }

  async function renewOrWarn(before: ConnectedAccount): Promise<'renewed' | 'warned' | null> {
    const { _id, userId, platform } = before
    if (platforms.find(platform)?.renew) await renew(before)
    const account = await accounts.findOwn(userId, _id)
    if (account?.health.status !== 'active') return null
    const { endsAt } = account.auth
    if (endsAt !== null && endsAt.getTime() - clock.now().getTime() <= EXPIRING_MS) {
      await appendEvents(deps, userId, [accountExpiring(account, endsAt, clock.now())])
      const timezone = (await users.findTimezones([userId])).get(userId) ?? 'UTC'
      const accountName = nameAmongSeveral(await accounts.listConnected(userId), account)
      const warning = connectionEnding({ userId, platform, accountId: _id, accountName, timezone }, endsAt)
      return (await notifications.insertOnce(warning)) ? 'warned' : null
    }
    return account.version === before.version ? null : 'renewed'
  }

  /** A refusal marks the connection expired and notifies the user. A transient failure is retried the next day. */
  async function renew({ _id, userId, platform }: ConnectedAccount): Promise<void> {
    const signal = cancellationSignal()
    const choose = chooseById(_id)
    try {
      const current = await credentials.get(userId, platform, { signal, choose, minLifeMs: -Infinity })
      if (current) await credentials.renew(userId, platform, current, { signal, choose })
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof PlatformError)) throw error
      log.warn('token renewal failed', { userId, platform, class: error.class })
    }
  }
}
