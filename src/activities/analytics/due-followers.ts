import { toSlot } from '../../domain/analytics/collection.ts'
import { DAY } from '../../domain/shared/times.ts'
import type { Context } from '../../context.ts'
import type { ConnectedAccount } from '../../store/accounts/accounts.ts'
import { NOTHING_COLLECTED } from '../../workflows/contract/analytics.ts'
import type { CollectFollowers } from './collect-followers.ts'
import type { DueRecords } from './collector.ts'

/** Claims accounts whose follower count is due, the longest due first. */
export function createDueFollowers(
  { accounts, clock }: Context,
  followers: CollectFollowers,
): DueRecords<ConnectedAccount> {
  return {
    isSupported: (adapter) => adapter.followers !== undefined,

    findServer: (platform, except) => accounts.findDueServer(platform, except, clock.now()),

    async *claim(lane, lease) {
      for (;;) {
        const account = await accounts.claimFollowers(lane, { now: clock.now(), until: lease() })
        if (!account) return false
        yield account
      }
    },

    async collect(account, { signal }) {
      const result = await followers.collect(account, signal)
      if (result.kind === 'paused') {
        return { ...NOTHING_COLLECTED, skipped: 1, end: 'left', ...(result.waitMs > 0 && { pauseMs: result.waitMs }) }
      }
      await accounts.planFollowers(account, new Date(toSlot(clock.now(), DAY).getTime() + DAY))
      return { ...NOTHING_COLLECTED, [result.kind]: 1, end: 'done' }
    },
  }
}
