import { readConfig } from './config.ts'
import { createContext } from './context.ts'
import { listed } from './domain/lists.ts'
import { exitOnBadStart } from './start.ts'

/** `npm run setup`: indexes, Schedules, bucket with its policy and CORS. May be run again at any time. */
await exitOnBadStart(async () => {
  const config = readConfig(process.env)
  const context = await createContext(config)
  try {
    await context.database.createIndexes()
    await context.storage.ensureBucket([config.FRONTEND_URL, ...listed(config.CORS_ORIGINS)])
    await context.orchestrator.ensureSchedules(config.SWEEP_INTERVAL_MS, context.collection.intervalMs)
    context.logger.info('Indexes, bucket and Schedules are in place')
  } finally {
    await context.close()
  }
})
