import { readConfig } from '../config/schema.ts'
import { createContext, type Context } from '../context.ts'
import { parseList } from '../domain/shared/lists.ts'
import { exitOnBadStart } from './run-process.ts'

/** `npm run setup`: indexes, search attributes, Schedules, bucket with its policy and CORS. May be run again at any time. */
await exitOnBadStart(async () => {
  const config = readConfig(process.env)
  const context = await createContext(config)
  try {
    await context.database.createIndexes()
    await context.storage.ensureBucket([config.FRONTEND_URL, ...parseList(config.CORS_ORIGINS)])
    await createSearchAttributes(context)
    await context.orchestrator.ensureSchedules(config.SWEEP_INTERVAL_MS, context.collection.intervalMs)
    context.logger.info('Indexes, bucket, search attributes and Schedules are in place')
  } finally {
    await context.close()
  }
})

/** Posts are published without them, so a Temporal that does not let us create them does not end the setup. */
async function createSearchAttributes({
  orchestrator,
  logger,
}: Pick<Context, 'orchestrator' | 'logger'>): Promise<void> {
  try {
    await orchestrator.ensureSearchAttributes()
  } catch (error) {
    logger.warn(
      { err: error },
      'search attributes could not be created; create PostStatus, UserId, Platforms and DueAt by hand',
    )
  }
}
