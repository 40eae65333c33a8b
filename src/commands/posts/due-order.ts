import { toBurstDelayMs, type DueOrder } from '../../domain/posts/due-order.ts'
import { HIGHEST_DUE_RANK } from '../../domain/posts/publish-plan.ts'
import type { CommandContext } from '../context.ts'

/** Returns the order of one more post of the user at this time. Only a crowded second costs more than one count. */
export async function findDueOrder(
  { posts, burstLimits }: CommandContext,
  userId: string,
  scheduledAt: Date,
): Promise<DueOrder> {
  const dueRank = await posts.countScheduled(scheduledAt)
  // The count ends at the highest rank.
  if (dueRank < Math.min(burstLimits.atInstant, HIGHEST_DUE_RANK)) return { dueRank, delayMs: 0 }
  const delayMs = toBurstDelayMs(await posts.countScheduledOf(userId, scheduledAt), burstLimits)
  if (delayMs === 0) return { dueRank, delayMs }
  return { dueRank: await posts.countScheduled(new Date(scheduledAt.getTime() + delayMs)), delayMs }
}
