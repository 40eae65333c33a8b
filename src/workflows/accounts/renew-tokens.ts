import { continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'

const maintenance = proxyActivities<Activities>({
  startToCloseTimeout: 15 * MINUTE,
  heartbeatTimeout: 30 * SECOND,
  retry: { initialInterval: 10 * SECOND, maximumAttempts: 5 },
})

interface Totals {
  /** The last user whose accounts were checked; null at the beginning. */
  after: string | null
  renewed: number
  warned: number
}

/** Renews expiring connections, and warns the users whose connections need a new login. */
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
