import { isConnected, type Account } from '../../store/accounts/account-records.ts'
import type { AccountStore } from '../../store/accounts/accounts.ts'
import type { DeadLetterStore } from '../../store/analytics/dead-letters.ts'
import type { SnapshotStore } from '../../store/analytics/snapshots.ts'

interface FinishUpgradeDeps {
  accounts: Pick<AccountStore, 'finishUpgrade'>
  snapshots: Pick<SnapshotStore, 'dropOlderIndexes' | 'nameAccount'>
  deadLetters: Pick<DeadLetterStore, 'dropOlderIndexes'>
}

/**
 * Moves what an older release stored, with one account per platform, once none of its processes runs. It may be interrupted and repeated.
 * @returns the number of moved users
 */
export async function finishUpgrade({ accounts, snapshots, deadLetters }: FinishUpgradeDeps): Promise<number> {
  await snapshots.dropOlderIndexes()
  await deadLetters.dropOlderIndexes()
  return accounts.finishUpgrade(async (own) => {
    for (const { _id: accountId, userId, platform } of own.filter(isConnected))
      await snapshots.nameAccount({ userId, platform, accountId, since: findLastEnding(own, platform) })
  })
}

/** Snapshots that were taken after it are of the account that is connected now. */
function findLastEnding(accounts: readonly Account[], platform: Account['platform']): Date {
  const endings = accounts.filter((account) => account.platform === platform).flatMap(({ endings: own = [] }) => own)
  return new Date(Math.max(0, ...endings.map(Number)))
}
