import { applyRows, type ApplyRowsDeps } from '../../commands/imports/apply-rows.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { withHeartbeat } from '../shared/heartbeat.ts'
import { retryAfter } from '../shared/retry-after.ts'

export type ApplyImportDeps = ApplyRowsDeps

/** Batches of imports that a worker processes concurrently. The other slots of their task queue are for the sweeper and other work. */
const CONCURRENT_BATCHES = 4

export function createApplyImportActivities(deps: ApplyImportDeps) {
  let running = 0

  return {
    /** Creates the posts of the next rows. Returns false when there is nothing, or nothing more, to do. */
    async applyImportRows(userId: string, importId: string): Promise<boolean> {
      // Imports meet again after a batch, so one with many rows does not delay another by more than a few of its batches.
      if (running >= CONCURRENT_BATCHES) {
        throw retryAfter('Other imports use the places of this worker', SECOND * (0.5 + Math.random()))
      }
      running += 1
      try {
        return await withHeartbeat(null, () => applyRows(deps, userId, importId))
      } finally {
        running -= 1
      }
    },
  }
}
