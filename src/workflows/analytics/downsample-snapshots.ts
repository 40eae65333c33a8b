import { continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { Downsampled, DownsamplePlace } from '../contract/analytics.ts'

const maintenance = proxyActivities<Activities>({
  startToCloseTimeout: 15 * MINUTE,
  heartbeatTimeout: 60 * SECOND,
  retry: { initialInterval: 10 * SECOND, maximumAttempts: 5 },
})

/** `place` is null at the beginning. */
interface Progress {
  place: DownsamplePlace | null
  removed: number
}

/** Downsamples the snapshots of all users, from the week where the last complete run ended. */
export async function downsampleSnapshots(from: Progress = { place: null, removed: 0 }): Promise<Downsampled> {
  let place = from.place ?? (await maintenance.beginDownsampling())
  let { removed } = from
  while (place) {
    const page = await maintenance.downsampleSnapshotsPage(place)
    removed += page.removed
    if (page.next === null) await maintenance.finishDownsampling(place)
    place = page.next
    if (place && workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof downsampleSnapshots>({ place, removed })
    }
  }
  return { removed }
}
