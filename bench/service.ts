import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../sandbox/servers/process.ts'
import { buildApp } from '../src/api/app.ts'
import { readConfig } from '../src/config/schema.ts'
import { createContext } from '../src/context.ts'
import { settingsOf, startChild } from './processes.ts'
import type { World } from './world.ts'

interface ServiceOptions {
  /** The file of bench/processes with the simulators, without its extension. */
  simulators: string
  /** Environment variables of the simulators. */
  simulatorEnv?: Record<string, string>
  /** Additional settings of the service. */
  settings?: Record<string, string>
}

/** Starts the API in this process, and the worker and the simulators in separate processes. */
export async function openService(
  world: World,
  { simulators: name, simulatorEnv = {}, settings = {} }: ServiceOptions,
) {
  const dir = mkdtempSync(join(tmpdir(), 'postonce-bench-platforms-'))
  const port = await freePort()
  const base = await world.config({ PUBLIC_URL: `http://127.0.0.1:${port}`, ...settings })
  const simulators = await startChild(name, base, { env: { BENCH_DIR: dir, ...simulatorEnv } })
  const { env: addresses } = simulators.ready as { env: Record<string, string> }
  const config = readConfig({ ...settingsOf(base), ...addresses })
  const context = await createContext(config)
  await context.database.createSchema()
  await context.orchestrator.ensureSearchAttributes()
  await context.orchestrator.ensureSchedules(config.SWEEP_INTERVAL_MS, context.collection.intervalMs)
  const app = await buildApp(context)
  await app.listen({ host: '127.0.0.1', port })
  const env = { BENCH_BUNDLE: await world.bundle('ours'), BENCH_REAL_PLATFORMS: 'yes' }
  const startWorker = () => startChild('worker', config, { profiling: world.profiling, env })
  const worker = await startWorker()

  return {
    context,
    worker,
    /** Starts another worker. The caller stops it. */
    startWorker,
    /** The message of the simulators when they were ready. */
    ready: simulators.ready,

    async stop(): Promise<void> {
      await worker.stop()
      await app.close()
      await context.close()
      await simulators.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
