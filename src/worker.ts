import closeWithGrace from 'close-with-grace'
import { readConfig } from './config/schema.ts'
import { createContext } from './context.ts'
import { serveFigures } from './telemetry/metrics-server.ts'
import { runProcess, logMissing } from './cli/run-process.ts'
import { connectDatabase } from './store/shared/database.ts'
import { watchForTemporalLoss } from './worker/temporal-data-loss.ts'
import { startWorkers } from './worker/create-workers.ts'

await runProcess(async () => {
  const config = readConfig(process.env)
  const context = await createContext(config, { database: connectDatabase(config.MONGODB_URL) })
  const figures = await serveFigures(context)
  let stopWatching = () => {}
  let workers: Awaited<ReturnType<typeof startWorkers>> | undefined

  const grace = closeWithGrace({ delay: 2 * config.SHUTDOWN_GRACE_MS, logger: context.logger }, async ({ err }) => {
    if (err) context.logger.fatal({ err }, 'Stopping after an error nobody caught')
    context.drain()
    stopWatching()
    await workers?.stop()
    await figures.close()
    await context.close()
  })

  // Nothing is taken on before it can be done: until then the task queues count as not served.
  await context.readiness.untilReady(logMissing(context.logger))
  try {
    workers = await startWorkers(context, { signal: context.draining })
  } catch (error) {
    if (context.draining.aborted) return
    throw error
  }
  // A worker that dies on its own takes the process with it: whoever supervises it starts a whole one again.
  workers.ended.catch((error: unknown) => {
    context.logger.fatal({ err: error }, 'A worker ended by itself')
    process.exitCode = 1
    grace.close()
  })
  if (workers.queues.includes('maintenance')) stopWatching = watchForTemporalLoss(context)
  context.logger.info({ queues: workers.queues }, 'Worker is ready')
})
