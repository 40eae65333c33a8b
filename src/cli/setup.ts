import { listFrontendOrigins } from '../api/plugins/browser-security.ts'
import { readConfig } from '../config/schema.ts'
import { createContext, type Context } from '../context.ts'
import { setUpSchedules } from '../worker/temporal-data-loss.ts'
import { runProcess } from './run-process.ts'

/**
 * `npm run setup`: creates collections with their indexes, search attributes, Schedules, and the bucket with its policy and CORS.
 * Can be repeated at any time. It refuses a database that another release wrote.
 */
await runProcess(async () => {
  const config = readConfig(process.env)
  const context = await createContext(config)
  try {
    await context.database.createSchema()
    await context.storage.ensureBucket(listFrontendOrigins(config))
    await createSearchAttributes(context)
    await setUpSchedules(context)
    context.logger.info('Setup finished. Start the API and the worker next.')
  } finally {
    await context.close()
  }
})

/** Creates the search attributes. Posts are published without them, so a failure does not end the setup. */
async function createSearchAttributes({ orchestrator, logger }: Context): Promise<void> {
  try {
    await orchestrator.ensureSearchAttributes()
  } catch (error) {
    logger.warn(
      { err: error },
      'Search attributes were not created. Create PostStatus, UserId, Platforms and DueAt by hand.',
    )
  }
}
