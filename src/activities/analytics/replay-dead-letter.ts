import { cancellationSignal } from '@temporalio/activity'
import type { Platform } from '../../domain/shared/platforms.ts'
import type { AccountStore } from '../../store/accounts/accounts.ts'
import type { DeadLetterStore } from '../../store/analytics/dead-letters.ts'
import type { CollectFollowers } from './collect-followers.ts'
import type { RefreshMetrics } from './refresh-metrics.ts'

interface ReplayDeadLetterDeps {
  accounts: Pick<AccountStore, 'findDefault'>
  deadLetters: Pick<DeadLetterStore, 'find' | 'remove'>
  followers: Pick<CollectFollowers, 'collect'>
  refreshMetrics: RefreshMetrics
}

/** Retries a failed collection, and removes its dead letter when nothing is left to collect. */
export function createReplayDeadLetter({ accounts, deadLetters, followers, refreshMetrics }: ReplayDeadLetterDeps) {
  return async function replayDeadLetter(letterId: string): Promise<'done' | 'failed' | 'gone'> {
    const letter = await deadLetters.find(letterId)
    if (!letter) return 'gone'
    const { userId, platform, postId } = letter
    const isDone = postId === null ? await replayAccount(userId, platform) : await replayPost(postId, platform)
    if (isDone) await deadLetters.remove(letterId)
    return isDone ? 'done' : 'failed'
  }

  async function replayPost(postId: string, platform: Platform): Promise<boolean> {
    const result = await refreshMetrics(postId, platform)
    return result === null || result.saved + result.deleted === 1
  }

  async function replayAccount(userId: string, platform: Platform): Promise<boolean> {
    if (!(await accounts.findDefault(userId, platform))) return true
    return (await followers.collect(userId, platform, cancellationSignal(), true)).kind === 'taken'
  }
}
