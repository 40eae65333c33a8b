import { continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { Downsampled, DownsampleCursor } from '../contract/analytics.ts'

const maintenance = proxyActivities<Activities>({
  startToCloseTimeout: 15 * MINUTE,
  heartbeatTimeout: 60 * SECOND,
  retry: { initialInterval: 10 * SECOND, maximumAttempts: 5 },
})

/** `cursor` is null at the beginning. */
interface Progress {
  cursor: DownsampleCursor | null
  removed: number
}

/** Downsamples the snapshots of all users, from the week where the last complete run ended. */
export async function downsampleSnapshots(from: Progress = { cursor: null, removed: 0 }): Promise<Downsampled> {
  let cursor = from.cursor ?? (await maintenance.beginDownsampling())
  let { removed } = from
  while (cursor) {
    const page = await maintenance.downsampleSnapshotsPage(cursor)
    removed += page.removed
    if (page.next === null) await maintenance.finishDownsampling(cursor)
    cursor = page.next
    if (cursor && workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof downsampleSnapshots>({ cursor, removed })
    }
  }
  return { removed }
}
