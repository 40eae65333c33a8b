import { proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { DAY, MINUTE, SECOND } from '../../domain/shared/times.ts'
import { runRounds } from '../shared/run-rounds.ts'

/** A change that is made already is not made again, so each round may repeat what an earlier one did. */
const maintenance = proxyActivities<Activities>({
  startToCloseTimeout: 10 * MINUTE,
  heartbeatTimeout: 10 * SECOND,
  scheduleToCloseTimeout: 2 * DAY,
  retry: { initialInterval: 2 * SECOND, backoffCoefficient: 2, maximumInterval: 10 * MINUTE },
})

/** Removes and edits what is published of a post where that was requested. A further request wakes it. */
export async function changePublished(postId: string, userId: string): Promise<void> {
  const args: [string, string] = [postId, userId]
  await runRounds<typeof changePublished>({
    args,
    round: () => maintenance.changePublished.executeWithOptions({ summary: 'Change the published posts' }, args),
    waitsFor: 'requests',
  })
}
