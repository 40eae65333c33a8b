import { cancellationSignal } from '@temporalio/activity'
import type { Clock } from '../../clock.ts'
import { splitIntoChunks } from '../../domain/shared/lists.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import type { PlatformAccountStore } from '../../store/accounts/platform-accounts.ts'
import type { FollowersPage, Pauses } from '../../workflows/messages/analytics.ts'
import type { CollectFollowers } from './collect-followers.ts'

const OWNERS_PER_PAGE = 50
const MAX_CONCURRENT_CALLS = 5

interface CollectFollowersPageDeps {
  accounts: Pick<PlatformAccountStore, 'listAll'>
  clock: Clock
  followers: Pick<CollectFollowers, 'listSupported' | 'collect'>
}

/** Collects the follower counts of one page of accounts. */
export function createCollectFollowersPage({ accounts, clock, followers }: CollectFollowersPageDeps) {
  /** @param after the last user of the page before; null at the beginning */
  return async function collectFollowersPage(
    after: string | null,
    pauses: Pauses,
    platforms: readonly Platform[],
  ): Promise<FollowersPage> {
    const owners = await accounts.listAll(after, OWNERS_PER_PAGE)
    const due = owners.flatMap((owner) =>
      followers.listSupported(owner, platforms).map((platform) => ({ userId: owner.userId, platform })),
    )
    const done: FollowersPage = { next: null, pauses: { ...pauses }, taken: 0, skipped: 0, failed: 0, paused: 0 }
    for (const chunk of splitIntoChunks(due, MAX_CONCURRENT_CALLS)) {
      await Promise.all(
        chunk.map(async ({ userId, platform }) => {
          const now = clock.now().getTime()
          if ((done.pauses[platform] ?? 0) > now) return void (done.paused += 1)
          const result = await followers.collect(userId, platform, cancellationSignal())
          if (result.kind === 'paused') {
            done.pauses[platform] = Math.max(done.pauses[platform] ?? 0, now + result.waitMs)
          }
          done[result.kind] += 1
        }),
      )
    }
    return { ...done, next: owners.length < OWNERS_PER_PAGE ? null : owners.at(-1)!.userId }
  }
}
