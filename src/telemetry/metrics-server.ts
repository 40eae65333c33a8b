import type { Context } from '../context.ts'
import { SECOND } from '../domain/shared/times.ts'
import { serveMetrics } from './metrics.ts'
import { runPeriodically } from '../periodically.ts'

const PROBE_EVERY_MS = 10 * SECOND

/** Serves the figures of this process on their own port, and probes the servers it needs meanwhile; not at all with port 0. */
export async function startMetricsServer(context: Context): Promise<{ close(): Promise<void> }> {
  const { config, metrics, database, orchestrator } = context
  const server = await serveMetrics(metrics, config.HOST, config.METRICS_PORT)
  if (config.METRICS_PORT === 0) return server

  // A scrape never waits for a server: it shows what the last probe found. Each probe has its own deadline.
  const probes = [
    keepProbing(
      () => database.ping(),
      (...found) => metrics.serverProbed('mongodb', ...found),
    ),
    keepProbing(
      () => orchestrator.ping(),
      (...found) => metrics.serverProbed('temporal', ...found),
    ),
  ]
  return {
    async close() {
      for (const stop of probes) stop()
      await server.close()
    },
  }
}

function keepProbing(probe: () => Promise<void>, report: (isUp: boolean, seconds: number) => void): () => void {
  return runPeriodically(async () => {
    const startedAt = performance.now()
    const isUp = await probe().then(
      () => true,
      () => false,
    )
    report(isUp, (performance.now() - startedAt) / SECOND)
  }, PROBE_EVERY_MS)
}
