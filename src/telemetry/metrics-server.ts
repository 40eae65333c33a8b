import { createServer, type Server } from 'node:http'
import type { Context } from '../context.ts'
import { MINUTE, SECOND } from '../domain/shared/times.ts'
import type { Metrics } from './metrics.ts'
import { runPeriodically } from '../flow/periodically.ts'

const PROBE_EVERY_MS = 10 * SECOND
/** Counting reads every secret. */
const COUNT_SECRETS_EVERY_MS = 10 * MINUTE

/** Serves the metrics of this process, and probes MongoDB and Temporal for them. Port 0 turns both off. */
export async function startMetricsServer(context: Context): Promise<{ close(): Promise<void> }> {
  const { config, metrics, database, orchestrator, sealedSecrets } = context
  const server = await serveMetrics(metrics, config.HOST, config.METRICS_PORT)
  if (config.METRICS_PORT === 0) return server

  // A scrape never waits for a server: it shows the result of the last probe. Each probe has its own deadline.
  const probes = [
    startProbe(
      () => database.ping(),
      (...result) => metrics.serverProbed('mongodb', ...result),
    ),
    startProbe(
      () => orchestrator.ping(),
      (...result) => metrics.serverProbed('temporal', ...result),
    ),
    runPeriodically(() => sealedSecrets.countByKey().then(metrics.secretsCounted, () => {}), COUNT_SECRETS_EVERY_MS),
  ]
  return {
    async close() {
      for (const stop of probes) stop()
      await server.close()
    },
  }
}

function startProbe(probe: () => Promise<void>, report: (isUp: boolean, seconds: number) => void): () => void {
  return runPeriodically(async () => {
    const startedAt = performance.now()
    const isUp = await probe().then(
      () => true,
      () => false,
    )
    report(isUp, (performance.now() - startedAt) / SECOND)
  }, PROBE_EVERY_MS)
}

/** Serves `/metrics` on a port of its own, which is not public. Port 0 turns it off. */
export async function serveMetrics(metrics: Metrics, host: string, port: number): Promise<{ close(): Promise<void> }> {
  if (port === 0) return { close: async () => {} }
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      () => response.writeHead(500).end(),
    )
  })
  await listen(server, host, port)
  return {
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
}
