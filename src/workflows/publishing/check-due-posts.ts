import { continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { CheckedPosts, UncheckedCursor } from '../contract/publishing.ts'

const maintenance = proxyActivities<Activities>({
  startToCloseTimeout: 5 * MINUTE,
  heartbeatTimeout: 60 * SECOND,
  retry: { initialInterval: SECOND, maximumAttempts: 3 },
})

interface Progress extends CheckedPosts {
  /** Null at the beginning. */
  cursor: UncheckedCursor | null
}

/** Checks scheduled posts once more shortly before they are due, and warns their owners. */
export async function checkDuePosts(
  { cursor, ...totals }: Progress = { cursor: null, checked: 0, warned: 0 },
): Promise<CheckedPosts> {
  for (let at = cursor; ;) {
    const page = await maintenance.checkDuePostsPage(at)
    totals.checked += page.checked
    totals.warned += page.warned
    if (page.next === null) return totals
    at = page.next
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof checkDuePosts>({ cursor: at, ...totals })
  }
}
