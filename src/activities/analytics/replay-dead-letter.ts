import { cancellationSignal } from '@temporalio/activity'
import { chooseByIdOrDefault } from '../../commands/accounts/account-credentials.ts'
import type { Context } from '../../context.ts'
import type { DeadLetter } from '../../store/analytics/dead-letters.ts'
import type { CollectFollowers } from './collect-followers.ts'
import type { RefreshMetrics } from './refresh-metrics.ts'

/** Retries a failed collection, and removes its dead letter when nothing is left to collect. */
export function createReplayDeadLetter(
  { accounts, deadLetters }: Context,
  { followers, refreshMetrics }: { followers: CollectFollowers; refreshMetrics: RefreshMetrics },
) {
  return async function replayDeadLetter(letterId: string): Promise<'done' | 'failed' | 'gone'> {
    const letter = await deadLetters.find(letterId)
    if (!letter) return 'gone'
    const isDone = letter.postId === null ? await replayAccount(letter) : await replayPost(letter.postId, letter)
    if (isDone) await deadLetters.remove(letterId)
    return isDone ? 'done' : 'failed'
  }

  async function replayPost(postId: string, { userId, platform, accountId }: DeadLetter): Promise<boolean> {
    const result = await refreshMetrics({ userId, postId, platform, target: accountId ?? undefined })
    return result === null || result.saved + result.deleted === 1
  }

  async function replayAccount({ userId, platform, accountId }: DeadLetter): Promise<boolean> {
    const connected = await accounts.listConnected(userId)
    const account = chooseByIdOrDefault(accountId)(connected, platform)
    if (!account) return true
    return (await followers.collect(account, cancellationSignal(), true)).kind === 'saved'
  }
}
