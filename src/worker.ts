import closeWithGrace from 'close-with-grace'
import { readConfig } from './config.ts'
import { createContext } from './context.ts'
import { serveMetrics } from './integrations/metrics.ts'
import { exitOnBadStart } from './start.ts'
import { startWorkers } from './workers.ts'

await exitOnBadStart(async () => {
  const config = readConfig(process.env)
  const context = await createContext(config)
  const workers = await startWorkers(context)
  const metrics = await serveMetrics(context.metrics, config.HOST, config.METRICS_PORT)

  const grace = closeWithGrace({ delay: 2 * config.SHUTDOWN_GRACE_MS, logger: context.logger }, async ({ err }) => {
    if (err) context.logger.fatal({ err }, 'Stopping after an error nobody caught')
    await workers.stop()
    await metrics.close()
    await context.close()
  })
  // A worker that dies on its own takes the process with it: whoever supervises it starts a whole one again.
  workers.ended.catch((error: unknown) => {
    context.logger.fatal({ err: error }, 'A worker ended by itself')
    process.exitCode = 1
    grace.close()
  })
  context.logger.info({ queues: workers.queues }, 'Worker is ready')
})
