import closeWithGrace from 'close-with-grace'
import { buildApp } from './api/app.ts'
import { readConfig } from './config.ts'
import { createContext } from './context.ts'
import { serveMetrics } from './integrations/metrics.ts'
import { exitOnBadStart } from './start.ts'

await exitOnBadStart(async () => {
  const config = readConfig(process.env)
  const context = await createContext(config)
  const missing = await context.database.missingIndexes()
  if (missing.length > 0) throw new Error(`Indexes are missing, run "npm run setup" first: ${missing.join('; ')}`)

  const app = await buildApp(context)
  const metrics = await serveMetrics(context.metrics, config.HOST, config.METRICS_PORT)
  closeWithGrace({ delay: config.SHUTDOWN_GRACE_MS, logger: context.logger }, async ({ err }) => {
    if (err) context.logger.fatal({ err }, 'Stopping after an error nobody caught')
    context.drain()
    await app.close()
    await metrics.close()
    await context.close()
  })
  await app.listen({ host: config.HOST, port: config.PORT })
})
