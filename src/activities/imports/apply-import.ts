import { cancellationSignal } from '@temporalio/activity'
import { applyRows } from '../../commands/imports/apply-rows.ts'
import type { Context } from '../../context.ts'
import { createFairLimit, QueueFull } from '../../flow/fair-limit.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { withHeartbeat } from '../shared/heartbeat.ts'
import { retryAfter } from '../shared/retry-after.ts'

/** Batches of imports that a worker processes concurrently. The other slots of their task queue are for the sweeper and other work. */
const CONCURRENT_BATCHES = 4
/** Batches of one user: its posts share transactions, so more of them would only wait for each other. */
const CONCURRENT_PER_USER = 2
/** Batches that wait in their slots for the user's turn, twice as many at most. */
const WAITING_BATCHES = 4

export function createApplyImportActivities(deps: Context) {
  const takeTurn = createFairLimit({
    maxRunning: CONCURRENT_BATCHES,
    perKey: CONCURRENT_PER_USER,
    waiting: WAITING_BATCHES,
    waitingPerKey: CONCURRENT_PER_USER,
  })

  return {
    /** Creates the posts of the next rows. Returns false when there is nothing, or nothing more, to do. */
    async applyImportRows(userId: string, importId: string): Promise<boolean> {
      try {
        return await withHeartbeat(null, () =>
          takeTurn(userId, () => applyRows(deps, userId, importId), { signal: cancellationSignal() }),
        )
      } catch (error) {
        if (!(error instanceof QueueFull)) throw error
        throw retryAfter('Other imports wait for the slots of this worker', SECOND * (0.5 + Math.random()))
      }
    },
  }
}
