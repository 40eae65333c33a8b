import { continueAsNew, proxyActivities, setHandler } from '@temporalio/workflow'
import type { Activities } from '../../activities/index.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import { wakeImportSignal } from '../contract/imports.ts'

/** Retried until it succeeds: an outage pauses an import and does not end it. */
const imports = proxyActivities<Activities>({
  startToCloseTimeout: 2 * MINUTE,
  heartbeatTimeout: 10 * SECOND,
  retry: { initialInterval: SECOND, maximumInterval: 30 * SECOND },
})

/** A batch has about six events, so a history has fewer than 1,500. */
const BATCHES_PER_RUN = 200

/**
 * Creates the posts of an import, batch by batch, until no row is left or the import was paused, cancelled or deleted. Its record has the
 * state, so the workflow needs no other input.
 */
export async function applyImport(importId: string, userId: string): Promise<void> {
  let isWoken = false
  setHandler(wakeImportSignal, () => {
    isWoken = true
  })
  for (let batch = 0; batch < BATCHES_PER_RUN; batch += 1) {
    isWoken = false
    const mayContinue = await imports.applyImportRows(userId, importId)
    // A user may resume the import while its last batch ends.
    if (!mayContinue && !isWoken) return
  }
  await continueAsNew<typeof applyImport>(importId, userId)
}
