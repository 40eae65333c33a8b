import { readConfig } from '../../src/config/schema.ts'
import { createContext } from '../../src/context.ts'
import { startWorkers } from '../../src/worker/create-workers.ts'
import { benchPlatforms } from '../platforms.ts'
import { serve, setting } from '../processes.ts'

// This process is the service's worker. Without `BENCH_REAL_PLATFORMS`, its platforms respond immediately.

const config = readConfig(process.env)
const isReal = process.env['BENCH_REAL_PLATFORMS'] !== undefined
const receiver = process.env['BENCH_RECEIVER'] ?? null
const spreadMs = Number(process.env['BENCH_SPREAD_MS'] ?? 0)
const context = await createContext(config, isReal ? {} : { platforms: benchPlatforms(config, { receiver, spreadMs }) })
const workers = await startWorkers(context, { workflowBundle: { codePath: setting('BENCH_BUNDLE') } })

serve('ready', async () => {
  await workers.stop()
  await context.close()
})
