import closeWithGrace from 'close-with-grace'
import { readConfig } from './config/schema.ts'
import { createContext } from './context.ts'
import { startMetricsServer } from './telemetry/metrics-server.ts'
import { runProcess, logMissing } from './cli/run-process.ts'
import { connectDatabase } from './store/shared/database.ts'
import { watchForTemporalDataLoss } from './worker/temporal-data-loss.ts'
import { startWorkers } from './worker/create-workers.ts'

await runProcess(async () => {
  const config = readConfig(process.env)
  const context = await createContext(config, { database: connectDatabase(config.MONGODB_URL) })
  const metricsServer = await startMetricsServer(context)
  let stopWatching = () => {}
  let workers: Awaited<ReturnType<typeof startWorkers>> | undefined

  const grace = closeWithGrace({ delay: 2 * config.SHUTDOWN_GRACE_MS, logger: context.logger }, async ({ err }) => {
    if (err) context.logger.fatal({ err }, 'uncaught error, stopping')
    context.drain()
    stopWatching()
    await workers?.stop()
    await metricsServer.close()
    await context.close()
  })

  // No worker polls before the process is ready. Until then the task queues count as not served.
  await context.readiness.waitUntilReady(logMissing(context.logger))
  try {
    workers = await startWorkers(context, { signal: context.draining })
  } catch (error) {
    if (context.draining.aborted) return
    throw error
  }
  // A dead worker ends the process, so that its supervisor starts a complete one.
  workers.ended.catch((error: unknown) => {
    context.logger.fatal({ err: error }, 'worker died, stopping')
    process.exitCode = 1
    grace.close()
  })
  if (workers.queues.includes('maintenance')) stopWatching = watchForTemporalDataLoss(context)
  context.logger.info({ queues: workers.queues }, 'worker ready')
})
