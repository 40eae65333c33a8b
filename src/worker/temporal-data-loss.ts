import type { PublishOrchestrator } from '../integrations/temporal/orchestrator.ts'
import type { Logger } from '../logger.ts'
import { SECOND } from '../domain/shared/times.ts'
import { periodically } from '../periodically.ts'

const CHECK_EVERY_MS = 10 * SECOND

interface TemporalLossDeps {
  orchestrator: Pick<
    PublishOrchestrator,
    'hasSchedules' | 'ensureSearchAttributes' | 'restartPosts' | 'ensureSchedules'
  >
  config: { SWEEP_INTERVAL_MS: number }
  collection: { intervalMs: number }
  logger: Pick<Logger, 'warn'>
}

/**
 * Watches for the loss of Temporal's data: a namespace without our Schedules has none of our workflows either. Then every open post is
 * started again, the next due first, and search attributes and Schedules are made anew. Returns how to stop watching.
 */
export function watchForTemporalLoss(deps: TemporalLossDeps, everyMs = CHECK_EVERY_MS): () => void {
  const { logger } = deps
  return periodically(async () => {
    try {
      await recoverIfLost(deps)
    } catch (error) {
      logger.warn({ err: error }, 'check for lost Temporal data failed')
    }
  }, everyMs)
}

async function recoverIfLost({ orchestrator, config, collection, logger }: TemporalLossDeps): Promise<void> {
  if (await orchestrator.hasSchedules()) return
  logger.warn('Temporal has no Schedules: restarting all open posts')
  await orchestrator.ensureSearchAttributes().catch((error: unknown) => {
    logger.warn({ err: error }, 'search attributes could not be created')
  })
  // The Schedules come last: until they exist, a process that dies in between leaves the loss to be found again.
  await orchestrator.restartPosts()
  await orchestrator.ensureSchedules(config.SWEEP_INTERVAL_MS, collection.intervalMs)
}
