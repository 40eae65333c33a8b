import { buildApp } from '../../src/api/app.ts'
import { readConfig } from '../../src/config/schema.ts'
import { createContext } from '../../src/context.ts'
import { INACTIVE_ORCHESTRATOR } from '../../tests/support/inactive-orchestrator.ts'
import { serve } from '../processes.ts'

// This process is the service's API. With `BENCH_WITHOUT_TEMPORAL` it runs no workflows, which separates the cost of the routes from
// that of Temporal.

const config = readConfig(process.env)
const context = await createContext(
  config,
  process.env['BENCH_WITHOUT_TEMPORAL'] === undefined ? {} : { orchestrator: INACTIVE_ORCHESTRATOR },
)
const app = await buildApp(context)
const address = await app.listen({ host: config.HOST, port: 0 })

serve(address, async () => {
  await app.close()
  await context.close()
})
