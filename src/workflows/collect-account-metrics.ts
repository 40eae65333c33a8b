import { continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow'
import type { Activities } from '../activities/index.ts'
import { HOUR, MINUTE, SECOND } from '../domain/times.ts'
import type { FollowersPage } from './messages.ts'

/** A page is repeated until it is done; who was asked about today is not asked about again. */
const analytics = proxyActivities<Activities>({
  startToCloseTimeout: 15 * MINUTE,
  heartbeatTimeout: 5 * SECOND,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: HOUR },
})

type Totals = Pick<FollowersPage, 'taken' | 'skipped' | 'failed'>

interface Progress extends Totals {
  /** The last user whose accounts were looked at; null in the beginning. */
  after: string | null
  pauses: FollowersPage['pauses']
}

const BEGINNING: Progress = { after: null, pauses: {}, taken: 0, skipped: 0, failed: 0 }

/** Asks how many follow each connected account. */
export async function collectAccountMetrics(progress: Progress = BEGINNING): Promise<Totals> {
  let { after, pauses, taken, skipped, failed } = progress
  for (;;) {
    const page = await analytics.collectFollowersPage(after, pauses)
    pauses = page.pauses
    taken += page.taken
    skipped += page.skipped
    failed += page.failed
    if (page.next === null) return { taken, skipped, failed }
    after = page.next
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof collectAccountMetrics>({ after, pauses, taken, skipped, failed })
    }
  }
}
