import { log } from '@temporalio/activity'
import type { Clock } from '../../clock.ts'
import { toSlot } from '../../domain/analytics/collection.ts'
import type { Platform } from '../../domain/shared/platforms.ts'
import { DAY, MINUTE } from '../../domain/shared/times.ts'
import { PlatformError } from '../../platforms/errors.ts'
import type { PlatformRegistry } from '../../platforms/registry.ts'
import type { DeadLetterStore } from '../../store/analytics/dead-letters.ts'
import type { PlatformAccounts, PlatformAccountStore } from '../../store/accounts/platform-accounts.ts'
import type { SaveSnapshots } from '../../store/analytics/snapshot-writer.ts'
import type { SnapshotStore } from '../../store/analytics/snapshots.ts'
import type { UserStore } from '../../store/users/users.ts'
import type { AccountCalls } from './account-calls.ts'
import { troubleOf } from './collection-trouble.ts'

/** How old a figure that is taken daily may be to go with a post's. */
const FOLLOWERS_LAST_MS = 2 * DAY
/** Who does not tell is not asked again for every post. */
const UNKNOWN_LASTS_MS = 15 * MINUTE
const MOST_UNKNOWN = 1_000

export interface CollectFollowersDeps {
  accounts: Pick<PlatformAccountStore, 'findConnected'>
  users: Pick<UserStore, 'findById'>
  platforms: Pick<PlatformRegistry, 'find'>
  snapshots: Pick<SnapshotStore, 'latestFollowers'>
  deadLetters: Pick<DeadLetterStore, 'add'>
  saveSnapshots: SaveSnapshots
  callAccount: AccountCalls
  clock: Clock
}

/** `paused`: to be asked for again, where the platform is to be left alone for so long before. */
export type TakenFollowers = { kind: 'taken' | 'skipped' | 'failed' } | { kind: 'paused'; waitMs: number }

/** How many follow the accounts, once a day. */
export function createCollectFollowers(deps: CollectFollowersDeps) {
  const { accounts, users, platforms, snapshots, saveSnapshots, callAccount, clock } = deps

  const unknownUntil = new Map<string, number>()

  function noteUnknown(name: string): void {
    if (unknownUntil.size >= MOST_UNKNOWN) unknownUntil.clear()
    unknownUntil.set(name, clock.now().getTime() + UNKNOWN_LASTS_MS)
  }

  /** Asks the platform and stores what it says; null where it tells nobody. */
  async function take(userId: string, platform: Platform, signal: AbortSignal): Promise<number | null> {
    if (!platforms.find(platform)?.followers) return null
    const takenAt = clock.now()
    const count = await callAccount(
      userId,
      platform,
      async (adapter, account, options) => adapter.followers?.(account, options) ?? null,
      signal,
    )
    if (count === null) return null
    const slot = toSlot(takenAt, DAY)
    await saveSnapshots.followers({ userId, platform, slot, takenAt, followers: count })
    return count
  }

  /** The last figure of the account that is connected now: there may have been another one before it. */
  async function latestOf(userId: string, platform: Platform) {
    const [latest, account] = await Promise.all([
      snapshots.latestFollowers(userId, platform),
      accounts.findConnected(userId, platform),
    ])
    const isOfAnother = latest !== null && account !== null && latest.takenAt < account.connectedAt
    return { latest: isOfAnother ? null : latest, version: account?.version }
  }

  async function isTaken(userId: string, platform: Platform): Promise<boolean> {
    const { latest } = await latestOf(userId, platform)
    return latest !== null && latest.slot >= toSlot(clock.now(), DAY)
  }

  return {
    /** Where an account tells how many follow it. */
    tellsOf: (owner: PlatformAccounts, on: readonly Platform[]): Platform[] =>
      on.filter((platform) => {
        const account = owner[platform]
        return account?.connected && account.health.status !== 'expired' && platforms.find(platform)?.followers
      }),

    /**
     * The figure of the day, or the one asked for now; null where it cannot be had, which is no reason to go without a post's counts.
     * @throws what says that the platform has to be left alone
     */
    async known(userId: string, platform: Platform, signal: AbortSignal): Promise<number | null> {
      const { latest, version } = await latestOf(userId, platform)
      if (latest && latest.takenAt.getTime() >= clock.now().getTime() - FOLLOWERS_LAST_MS) return latest.followers
      const name = `${userId}/${platform}/${version}`
      if ((unknownUntil.get(name) ?? 0) > clock.now().getTime()) return null
      let count: number | null = null
      try {
        count = await take(userId, platform, signal)
      } catch (error) {
        if (!(error instanceof PlatformError) || error.class === 'rate_limited') throw error
      }
      if (count === null) noteUnknown(name)
      return count
    },

    /**
     * One snapshot a day, however often it is repeated.
     * @throws what is no trouble with the platform
     */
    async collect(userId: string, platform: Platform, signal: AbortSignal, isAsked = false): Promise<TakenFollowers> {
      if (!isAsked && (await isTaken(userId, platform))) return { kind: 'skipped' }
      const owner = await users.findById(userId)
      if (!owner || owner.isDisabled) return { kind: 'skipped' }
      try {
        return { kind: (await take(userId, platform, signal)) === null ? 'skipped' : 'taken' }
      } catch (error) {
        signal.throwIfAborted()
        const trouble = troubleOf(error, platform)
        if (trouble.kind === 'pause') return { kind: 'paused', waitMs: trouble.waitMs }
        if (trouble.kind === 'crowded') return { kind: 'paused', waitMs: 0 }
        if (trouble.kind === 'dead') {
          if (trouble.isUnexpected) log.error('Collecting followers failed in an unexpected way', { error })
          await deps.deadLetters.add([{ type: 'account', postId: null, userId, platform }], trouble.reason, clock.now())
          return { kind: 'failed' }
        }
        if (trouble.why === 'permission') {
          log.warn('Followers are left out: the connection lacks a permission', { userId, platform })
        }
        return { kind: 'skipped' }
      }
    },
  }
}

export type CollectFollowers = ReturnType<typeof createCollectFollowers>
