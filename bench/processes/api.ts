import { buildApp } from '../../src/api/app.ts'
import { readConfig } from '../../src/config/schema.ts'
import { createContext } from '../../src/context.ts'
import type { PublishOrchestrator } from '../../src/integrations/temporal/orchestrator.ts'
import { serve } from '../processes.ts'

/** Responds immediately, which separates the cost of Temporal from that of the route. */
const noTemporal: PublishOrchestrator = {
  start: async () => true,
  signal: async () => true,
  startWork: async () => true,
  listOverdue: async () => [],
  terminateStuck: async () => false,
  notifySubscription: async () => true,
  deleteWorkflows: async () => {},
  hasSchedules: async () => true,
  restartPosts: async () => {},
  ensureSearchAttributes: async () => {},
  ensureSchedules: async () => {},
  refreshMetrics: async () => 'failed' as const,
  ping: async () => {},
  findProblems: async () => [],
  close: async () => {},
}

/** The service's API as it is, or without Temporal when it was asked for. */
const config = readConfig(process.env)
const context = await createContext(
  config,
  process.env['BENCH_WITHOUT_TEMPORAL'] === undefined ? {} : { orchestrator: noTemporal },
)
const app = await buildApp(context)
const address = await app.listen({ host: config.HOST, port: 0 })

serve(address, async () => {
  await app.close()
  await context.close()
})
