import { continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { CleanedFolders, FolderCursor } from '../contract/media.ts'

const maintenance = proxyActivities<Activities>({
  startToCloseTimeout: 15 * MINUTE,
  heartbeatTimeout: 60 * SECOND,
  retry: { initialInterval: 10 * SECOND, maximumAttempts: 5 },
})

interface Totals extends CleanedFolders {
  /** The next folder and key; null at the beginning. */
  cursor: FolderCursor | null
}

/** Removes uploads that no post used within a day, and copies that were stored for a platform to fetch. */
export async function cleanUploads(
  from: Totals = { cursor: null, removed: 0, restored: 0, deleted: 0 },
): Promise<CleanedFolders> {
  const { cursor, ...totals } = from
  for (let at = cursor; ;) {
    const page = await maintenance.cleanUploadsPage(at)
    totals.removed += page.removed
    totals.restored += page.restored
    totals.deleted += page.deleted
    if (page.next === null) return totals
    at = page.next
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof cleanUploads>({ cursor: at, ...totals })
  }
}
