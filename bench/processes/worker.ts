import { readConfig } from '../../src/config/schema.ts'
import { createContext } from '../../src/context.ts'
import { openDatabase } from '../../src/store/shared/database.ts'
import { startWorkers } from '../../src/worker/create-workers.ts'
import { benchPlatforms } from '../platforms.ts'
import { createCommandCounter } from '../../tests/support/driver-commands.ts'
import { liveHeapMib, serve, setting } from '../processes.ts'

// This process is the service's worker. Without `BENCH_REAL_PLATFORMS`, its platforms respond immediately.

const config = readConfig(process.env)
const { counts, onCommand } = createCommandCounter()
const receiver = process.env['BENCH_RECEIVER'] ?? null
const context = await createContext(config, {
  database: await openDatabase(config.MONGODB_URL, { onCommand }),
  ...(process.env['BENCH_REAL_PLATFORMS'] === undefined && { platforms: benchPlatforms(receiver) }),
})
const workers = await startWorkers(context, { workflowBundle: { codePath: setting('BENCH_BUNDLE') } })

const stop = async () => {
  await workers.stop()
  await context.close()
}
serve('ready', stop, { commands: () => counts, heap: liveHeapMib })
