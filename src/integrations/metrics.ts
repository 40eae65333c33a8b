import { createServer, type Server } from 'node:http'
import { Counter, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { Platform } from '../domain/platforms.ts'

const LATENESS_BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 600, 3_600]

/** Figures of this process for Prometheus. Labels are platforms and outcomes, never ids or texts. */
export function createMetrics() {
  const registers = [new Registry()]
  const [registry] = registers as [Registry]
  collectDefaultMetrics({ register: registry })
  const lateness = new Histogram({
    name: 'postonce_publish_lateness_seconds',
    help: 'From the instant a post was due to the start of the call that makes it visible, first calls only',
    labelNames: ['platform'],
    buckets: LATENESS_BUCKETS_SECONDS,
    registers,
  })
  const calls = new Counter({
    name: 'postonce_publish_calls_total',
    help: 'Visible calls by what they came to',
    labelNames: ['platform', 'outcome'],
    registers,
  })

  return {
    /** The first visible call of a delivery starts, `lateMs` after the post was due. */
    publishStarted: (platform: Platform, lateMs: number): void => lateness.observe({ platform }, lateMs / 1_000),
    publishEnded: (platform: Platform, outcome: 'accepted' | 'refused' | 'unknown'): void =>
      calls.inc({ platform, outcome }),
    text: (): Promise<string> => registry.metrics(),
    contentType: registry.contentType,
  }
}

export type Metrics = ReturnType<typeof createMetrics>

/** Serves `/metrics` on a port of its own, away from the public; port 0 means not at all. */
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
