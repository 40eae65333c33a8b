import { cancellationSignal } from '@temporalio/activity'
import type { Clock } from '../../clock.ts'
import { splitIntoChunks } from '../../domain/shared/lists.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import type { AccountStore } from '../../store/accounts/accounts.ts'
import type { FollowersPage, Pauses } from '../../workflows/messages/analytics.ts'
import type { CollectFollowers } from './collect-followers.ts'

const ACCOUNTS_PER_PAGE = 100
const MAX_CONCURRENT_CALLS = 5

interface CollectFollowersPageDeps {
  accounts: Pick<AccountStore, 'listPage'>
  clock: Clock
  followers: Pick<CollectFollowers, 'isSupported' | 'collect'>
}

/** Collects the follower counts of one page of accounts. */
export function createCollectFollowersPage({ accounts, clock, followers }: CollectFollowersPageDeps) {
  /** @param after where the page begins; null at the beginning */
  return async function collectFollowersPage(
    after: string | null,
    pauses: Pauses,
    platforms: readonly Platform[],
  ): Promise<FollowersPage> {
    const page = await accounts.listPage(after, ACCOUNTS_PER_PAGE)
    const due = page.accounts.filter((account) => followers.isSupported(account, platforms))
    const done: FollowersPage = { next: null, pauses: { ...pauses }, taken: 0, skipped: 0, failed: 0, paused: 0 }
    for (const chunk of splitIntoChunks(due, MAX_CONCURRENT_CALLS)) {
      await Promise.all(
        chunk.map(async (account) => {
          const { platform } = account
          const now = clock.now().getTime()
          if ((done.pauses[platform] ?? 0) > now) return void (done.paused += 1)
          const result = await followers.collect(account, cancellationSignal())
          if (result.kind === 'paused') {
            done.pauses[platform] = Math.max(done.pauses[platform] ?? 0, now + result.waitMs)
          }
          done[result.kind] += 1
        }),
      )
    }
    return { ...done, next: page.next }
  }
}
