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
 * Watches for the loss of Temporal's data: a namespace without our Schedules has none of our workflows either. Then it restarts
 * every open post, the next due first, and creates the search attributes and Schedules again.
 * @returns a function that stops watching
 */
export function watchForTemporalLoss(deps: TemporalLossDeps, everyMs = CHECK_EVERY_MS): () => void {
  const { logger } = deps
  return periodically(async () => {
    try {
      await recoverIfLost(deps)
    } catch (error) {
      logger.warn({ err: error }, 'temporal data check failed')
    }
  }, everyMs)
}

async function recoverIfLost({ orchestrator, config, collection, logger }: TemporalLossDeps): Promise<void> {
  if (await orchestrator.hasSchedules()) return
  logger.warn('temporal data lost, restarting open posts')
  await orchestrator.ensureSearchAttributes().catch((error: unknown) => {
    logger.warn({ err: error }, 'search attribute creation failed')
  })
  // The Schedules come last: until they exist, the loss is detected again after a crash.
  await orchestrator.restartPosts()
  await orchestrator.ensureSchedules(config.SWEEP_INTERVAL_MS, collection.intervalMs)
}
