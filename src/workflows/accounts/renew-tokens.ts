import { continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'

const maintenance = proxyActivities<Activities>({
  startToCloseTimeout: 15 * MINUTE,
  heartbeatTimeout: 30 * SECOND,
  retry: { initialInterval: 10 * SECOND, maximumAttempts: 5 },
})

interface Totals {
  /** The last user whose accounts were looked at; a run begins without. */
  after: string | null
  renewed: number
  warned: number
}

/** Renews the connections that come to their end, and warns the users whose connections only a new login can save. */
export async function renewTokens(
  from: Totals = { after: null, renewed: 0, warned: 0 },
): Promise<Omit<Totals, 'after'>> {
  let { after, renewed, warned } = from
  for (;;) {
    const page = await maintenance.renewEndingTokens(after)
    renewed += page.renewed
    warned += page.warned
    if (page.after === null) return { renewed, warned }
    after = page.after
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof renewTokens>({ after, renewed, warned })
  }
}
