import { cancellationSignal, heartbeat, log } from '@temporalio/activity'
import type { Clock } from '../../clock.ts'
import type { AccountCredentials } from '../../commands/accounts/account-credentials.ts'
import { EXPIRING_MS } from '../../domain/accounts/account-health.ts'
import { connectionEnding } from '../../domain/notifications/notifications.ts'
import { PLATFORMS, type Platform } from '../../domain/shared/platforms.ts'
import { DAY } from '../../domain/shared/times.ts'
import { PlatformError } from '../../platforms/errors.ts'
import type { PlatformRegistry } from '../../platforms/registry.ts'
import type { NotificationStore } from '../../store/notifications/notifications.ts'
import type {
  ConnectedAccount,
  PlatformAccounts,
  PlatformAccountStore,
} from '../../store/accounts/platform-accounts.ts'
import type { UserStore } from '../../store/users/users.ts'

/** Early enough that a platform that is down for days does not end anybody's connection. */
const RENEW_BEFORE_MS = EXPIRING_MS + 3 * DAY
const PAGE = 50
const AT_ONCE = 5

export interface RenewTokensDeps {
  accounts: Pick<PlatformAccountStore, 'listEnding' | 'findConnected'>
  credentials: AccountCredentials
  platforms: Pick<PlatformRegistry, 'find'>
  notifications: Pick<NotificationStore, 'insertOnce'>
  users: Pick<UserStore, 'findTimezones'>
  clock: Clock
}

/** What a page came to; `after` names its last user, null when there are no more. */
interface RenewedPage {
  after: string | null
  renewed: number
  warned: number
}

/** Keeps connections alive. May be repeated: what was renewed is not near its end any more, and a warning is stored once. */
export function createRenewTokensActivities(deps: RenewTokensDeps) {
  const { accounts, credentials, platforms, notifications, users, clock } = deps

  return {
    async renewEndingTokens(after: string | null): Promise<RenewedPage> {
      const endsBefore = new Date(clock.now().getTime() + RENEW_BEFORE_MS)
      const page = await accounts.listEnding({ after, endsBefore, limit: PAGE })
      const ending = page.flatMap((owner) =>
        PLATFORMS.filter((platform) => endsBy(owner[platform], endsBefore)).map((platform) => ({ owner, platform })),
      )
      const result = { renewed: 0, warned: 0 }
      for (let first = 0; first < ending.length; first += AT_ONCE) {
        const kept = await Promise.all(
          ending.slice(first, first + AT_ONCE).map(({ owner, platform }) => keepAlive(owner, platform)),
        )
        for (const what of kept) if (what) result[what] += 1
        heartbeat(result)
      }
      return { ...result, after: page.length < PAGE ? null : page.at(-1)!.userId }
    },
  }

  async function keepAlive(owner: PlatformAccounts, platform: Platform): Promise<'renewed' | 'warned' | null> {
    const { userId } = owner
    if (platforms.find(platform)?.renew) await renew(userId, platform)
    const account = await accounts.findConnected(userId, platform)
    if (account?.health.status !== 'active') return null
    const { endsAt } = account.auth
    if (endsAt !== null && endsAt.getTime() - clock.now().getTime() <= EXPIRING_MS) {
      const timezone = (await users.findTimezones([userId])).get(userId) ?? 'UTC'
      return (await notifications.insertOnce(connectionEnding({ userId, platform, timezone }, endsAt)))
        ? 'warned'
        : null
    }
    return account.version === owner[platform]?.version ? null : 'renewed'
  }

  /** A refusal marks the connection expired and tells the user; what passes is tried again tomorrow. */
  async function renew(userId: string, platform: Platform): Promise<void> {
    const signal = cancellationSignal()
    try {
      const current = await credentials.get(userId, platform, { signal, minLifeMs: -Infinity })
      if (current) await credentials.renew(userId, platform, current, { signal })
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof PlatformError)) throw error
      log.warn('A connection could not be renewed', { userId, platform, class: error.class })
    }
  }
}

function endsBy(account: PlatformAccounts[Platform], before: Date): account is ConnectedAccount {
  return account?.connected === true && account.auth.endsAt !== null && account.auth.endsAt <= before
}
