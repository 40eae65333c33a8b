import { log } from '@temporalio/activity'
import { chooseById } from '../../commands/accounts/account-credentials.ts'
import { toSlot } from '../../domain/analytics/collection.ts'
import { DAY, MINUTE } from '../../domain/shared/times.ts'
import { PlatformError } from '../../platforms/errors.ts'
import type { Context } from '../../context.ts'
import type { ConnectedAccount } from '../../store/accounts/accounts.ts'
import type { CallAccount } from '../shared/call-account.ts'
import { classifyCollectionFailure } from './collection-failure.ts'

/** The maximum age of a follower count that is stored with a post's metrics. */
const FOLLOWERS_VALID_MS = 2 * DAY
/** An account without a readable count is not read again for this long. */
const UNKNOWN_VALID_MS = 15 * MINUTE
const MAX_UNKNOWN = 1_000

/** `paused`: the platform asks for no calls for `waitMs`. */
export type CollectFollowersResult = { kind: 'saved' | 'skipped' | 'failed' } | { kind: 'paused'; waitMs: number }

/** Collects the follower counts of accounts, once a day. */
export function createCollectFollowers(context: Context, callAccount: CallAccount) {
  const { accounts, users, platforms, snapshots, snapshotWriter, deadLetters, clock } = context

  const unknownUntil = new Map<string, number>()

  function rememberUnknown(connectionId: string): void {
    if (unknownUntil.size >= MAX_UNKNOWN) unknownUntil.clear()
    unknownUntil.set(connectionId, clock.now().getTime() + UNKNOWN_VALID_MS)
  }

  /** Reads the count from the platform and stores it; null when the platform does not report it. */
  async function readAndSave(account: ConnectedAccount, signal: AbortSignal): Promise<number | null> {
    const { _id: accountId, userId, platform } = account
    if (!platforms.find(platform)?.followers) return null
    const takenAt = clock.now()
    const count = await callAccount(
      userId,
      platform,
      async (adapter, login, options) => adapter.followers?.(login, options) ?? null,
      { signal, choose: chooseById(accountId) },
    )
    if (count === null) return null
    const slot = toSlot(takenAt, DAY)
    const connected = await accounts.listConnected(userId)
    const isOnly = connected.every((other) => other.platform !== platform || other._id === accountId)
    await snapshotWriter.saveFollowers({ userId, platform, accountId, isOnly, slot, takenAt, followers: count })
    return count
  }

  /** The last count since the account was connected. */
  async function findLatest({ _id, userId, platform, connectedAt }: ConnectedAccount) {
    const latest = await snapshots.latestFollowers(userId, platform, _id)
    return latest && latest.takenAt >= connectedAt ? latest : null
  }

  async function isCollectedToday(account: ConnectedAccount): Promise<boolean> {
    const latest = await findLatest(account)
    return latest !== null && latest.slot >= toSlot(clock.now(), DAY)
  }

  return {
    /**
     * Returns today's count, or reads it now; null when it is not available. Post metrics are collected without it.
     * @throws PlatformError for a rate limit, and the reason of an aborted signal
     */
    async findCurrent(account: ConnectedAccount, signal: AbortSignal): Promise<number | null> {
      const latest = await findLatest(account)
      if (latest && latest.takenAt.getTime() >= clock.now().getTime() - FOLLOWERS_VALID_MS) return latest.followers
      const connectionId = `${account._id}/${account.version}`
      if ((unknownUntil.get(connectionId) ?? 0) > clock.now().getTime()) return null
      let count: number | null = null
      try {
        count = await readAndSave(account, signal)
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof PlatformError && error.class === 'rate_limited') throw error
        if (!(error instanceof PlatformError)) log.error('follower count not stored', { error })
      }
      if (count === null) rememberUnknown(connectionId)
      return count
    },

    /**
     * Stores one snapshot per day, however often it is called. Failures at the platform are returned.
     * @param isForced collects again although there is a snapshot of today
     * @throws errors of the database, and the reason of an aborted signal
     */
    async collect(account: ConnectedAccount, signal: AbortSignal, isForced = false): Promise<CollectFollowersResult> {
      const { _id, userId, platform, isDefault, health } = account
      if (health.status === 'expired') return { kind: 'skipped' }
      if (!isForced && (await isCollectedToday(account))) return { kind: 'skipped' }
      const owner = await users.findById(userId)
      if (!owner || owner.isDisabled) return { kind: 'skipped' }
      try {
        return { kind: (await readAndSave(account, signal)) === null ? 'skipped' : 'saved' }
      } catch (error) {
        signal.throwIfAborted()
        const collectionFailure = classifyCollectionFailure(error, platform)
        if (collectionFailure.kind === 'pause') return { kind: 'paused', waitMs: collectionFailure.waitMs }
        if (collectionFailure.kind === 'no-capacity') return { kind: 'paused', waitMs: 0 }
        if (collectionFailure.kind === 'dead-letter') {
          if (collectionFailure.isUnexpected) log.error('follower collection failed unexpectedly', { error })
          await deadLetters.add(
            [{ type: 'account', postId: null, userId, platform, accountId: isDefault ? null : _id }],
            collectionFailure.reason,
            clock.now(),
          )
          return { kind: 'failed' }
        }
        if (collectionFailure.why === 'permission') {
          log.warn('followers skipped, permission missing', { userId, platform })
        }
        return { kind: 'skipped' }
      }
    },
  }
}

export type CollectFollowers = ReturnType<typeof createCollectFollowers>
