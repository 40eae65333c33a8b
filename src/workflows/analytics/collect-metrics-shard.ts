import { CancellationScope, isCancellation } from '@temporalio/workflow'
import type { CollectedPosts } from '../messages/analytics.ts'
import { collectDuePosts, type ShardProgress } from './collect-due-posts.ts'

/** Collects the due posts of one platform and a range of owners, until the run ends. */
export async function collectMetricsShard(progress: ShardProgress): Promise<CollectedPosts> {
  const { place, pauses, endsAt, listing, ...totals } = progress
  const remainingMs = Math.max(1, endsAt - Date.now())
  try {
    await CancellationScope.withTimeout(remainingMs, () => collectDuePosts({ place, pauses, endsAt, listing }, totals))
  } catch (error) {
    const isRunOver = isCancellation(error) && !CancellationScope.current().consideredCancelled
    if (!isRunOver) throw error
  }
  return totals
}
