import { cancellationSignal } from '@temporalio/activity'
import type { Clock } from '../../clock.ts'
import { workByServer } from '../../flow/lanes.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { AccountStore, ConnectedAccount } from '../../store/accounts/accounts.ts'
import {
  toServerName,
  type CollectedFollowers,
  type FollowersPage,
  type FollowersPlace,
  type Pauses,
} from '../../workflows/contract/analytics.ts'
import type { CollectFollowers } from './collect-followers.ts'

const ACCOUNTS_PER_PAGE = 100
const CALLS_PER_SERVER = 5
/** While a page has accounts of several servers, none is read for longer. */
const SERVER_TURN_MS = 30 * SECOND
/** A slow server is left alone for this long, so that the other pages do not wait for it. Its accounts are read in a later round. */
const SLOW_PAUSE_MS = 15 * MINUTE

interface CollectFollowersPageDeps {
  accounts: AccountStore
  clock: Clock
  followers: Pick<CollectFollowers, 'isSupported' | 'collect'>
}

/** Collects the follower counts of one page of a shard's accounts. */
export function createCollectFollowersPage({ accounts, clock, followers }: CollectFollowersPageDeps) {
  const getTime = () => clock.now().getTime()

  /**
   * Reads the servers of the accounts concurrently.
   * @param isFirst whether a slow server is left to a later round
   */
  async function collect(
    due: ConnectedAccount[],
    {
      pauses: before,
      toServer,
      isFirst,
    }: { pauses: Pauses; toServer: (account: ConnectedAccount) => string; isFirst: boolean },
  ): Promise<CollectedFollowers & { pauses: Pauses }> {
    const pauses = { ...before }
    const done: CollectedFollowers = { taken: 0, skipped: 0, failed: 0, paused: 0 }
    const hasTurns = isFirst && new Set(due.map(toServer)).size > 1
    const turnEndsAt = hasTurns ? getTime() + SERVER_TURN_MS : Infinity
    const pause = (server: string, until: number) => {
      pauses[server] = Math.max(pauses[server] ?? 0, until)
    }
    await workByServer(due, { toServer, perServer: CALLS_PER_SERVER }, async (account, server) => {
      const now = getTime()
      if (now > turnEndsAt) pause(server, turnEndsAt + SLOW_PAUSE_MS)
      if ((pauses[server] ?? 0) > now) return void (done.paused += 1)
      const result = await followers.collect(account, cancellationSignal())
      if (result.kind === 'paused') pause(server, now + result.waitMs)
      done[result.kind] += 1
    })
    return { ...done, pauses }
  }

  return async function collectFollowersPage(place: FollowersPlace): Promise<FollowersPage> {
    const { platform, range, after, pauses, servers } = place
    const page = await accounts.listOfOwners({ platform, range }, after, ACCOUNTS_PER_PAGE)
    const toServer = ({ server }: ConnectedAccount) => toServerName(platform, server)
    const due = page.accounts.filter(
      (account) => followers.isSupported(account) && (servers === undefined || servers.includes(toServer(account))),
    )
    const done = await collect(due, { pauses, toServer, isFirst: servers === undefined })
    return { ...done, next: page.next }
  }
}
