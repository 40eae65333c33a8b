import closeWithGrace from 'close-with-grace'
import { buildApp } from './api/app.ts'
import { readConfig } from './config/schema.ts'
import { createContext } from './context.ts'
import { startMetricsServer } from './telemetry/metrics-server.ts'
import { runProcess, logMissing } from './cli/run-process.ts'
import { connectDatabase } from './store/shared/database.ts'

await runProcess(async () => {
  const config = readConfig(process.env)
  const context = await createContext(config, { database: connectDatabase(config.MONGODB_URL) })
  const app = await buildApp(context)
  const metricsServer = await startMetricsServer(context)
  closeWithGrace({ delay: config.SHUTDOWN_GRACE_MS, logger: context.logger }, async ({ err }) => {
    if (err) context.logger.fatal({ err }, 'uncaught error, stopping')
    context.drain()
    await app.close()
    await metricsServer.close()
    await context.close()
  })
  await app.listen({ host: config.HOST, port: config.PORT })
  // The server listens already: /health/ready reports what is missing.
  await context.readiness.waitUntilReady(logMissing(context.logger))
  if (!context.draining.aborted) context.logger.info('api ready')
})
