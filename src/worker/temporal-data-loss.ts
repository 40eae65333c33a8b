import type { PublishOrchestrator } from '../integrations/temporal/orchestrator.ts'
import type { Logger } from '../logger.ts'
import { SECOND } from '../domain/shared/times.ts'
import { runPeriodically } from '../flow/periodically.ts'

const CHECK_EVERY_MS = 10 * SECOND

interface TemporalDataLossDeps {
  orchestrator: PublishOrchestrator
  config: { SWEEP_INTERVAL_MS: number }
  collection: { intervalMs: number }
  logger: Logger
}

/**
 * Watches for a loss of Temporal's data: a namespace without Schedules has no workflows either. It then restarts every open post, the next
 * due first, and creates the search attributes and Schedules again. Returns a function that stops the watch.
 */
export function watchForTemporalDataLoss(deps: TemporalDataLossDeps, everyMs = CHECK_EVERY_MS): () => void {
  const { logger } = deps
  return runPeriodically(async () => {
    try {
      await recoverIfLost(deps)
    } catch (error) {
      logger.warn({ err: error }, 'temporal data loss check failed')
    }
  }, everyMs)
}

async function recoverIfLost({ orchestrator, config, collection, logger }: TemporalDataLossDeps): Promise<void> {
  if (await orchestrator.hasSchedules()) return
  logger.warn('temporal data lost, restarting open posts')
  await orchestrator.ensureSearchAttributes().catch((error: unknown) => {
    logger.warn({ err: error }, 'search attribute creation failed')
  })
  await setUpSchedules({ orchestrator, config, collection })
}

/** Creates the Schedules, or updates them. Without any, Temporal is new or has lost its data, and every open post is restarted. */
export async function setUpSchedules({
  orchestrator,
  config,
  collection,
}: Omit<TemporalDataLossDeps, 'logger'>): Promise<void> {
  // The Schedules come last, so that the loss is found again if this process dies first.
  if (!(await orchestrator.hasSchedules())) await orchestrator.restartPosts()
  await orchestrator.ensureSchedules(config.SWEEP_INTERVAL_MS, collection.intervalMs)
}
