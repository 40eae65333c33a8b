import closeWithGrace from 'close-with-grace'
import { buildApp } from './api/app.ts'
import { readConfig } from './config/schema.ts'
import { createContext } from './context.ts'
import { serveFigures } from './telemetry/metrics-server.ts'
import { runProcess, logMissing } from './cli/run-process.ts'
import { connectDatabase } from './store/shared/database.ts'

await runProcess(async () => {
  const config = readConfig(process.env)
  const context = await createContext(config, { database: connectDatabase(config.MONGODB_URL) })
  const app = await buildApp(context)
  const figures = await serveFigures(context)
  closeWithGrace({ delay: config.SHUTDOWN_GRACE_MS, logger: context.logger }, async ({ err }) => {
    if (err) context.logger.fatal({ err }, 'Stopping after an error nobody caught')
    context.drain()
    await app.close()
    await figures.close()
    await context.close()
  })
  await app.listen({ host: config.HOST, port: config.PORT })
  // It listens already: /health/ready says what it waits for.
  await context.readiness.untilReady(logMissing(context.logger))
  if (!context.draining.aborted) context.logger.info('API is ready')
})
