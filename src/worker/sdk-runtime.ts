import { createServer, type AddressInfo } from 'node:net'
import { DefaultLogger, Runtime, type LogMetadata } from '@temporalio/worker'
import { SECOND } from '../domain/shared/times.ts'
import type { Logger } from '../logger.ts'

interface RuntimeOptions {
  logger: Logger
  level: string
  /** Whether the SDK's own metrics are exported. */
  hasMetrics: boolean
}

/** Reads the SDK's metrics in the Prometheus text format; empty when they are not exported. */
export type ReadSdkMetrics = () => Promise<string>

let installed: Promise<ReadSdkMetrics> | null = null

/** Installs Temporal's native runtime once per process. It logs through `logger`, and leaves signals to this process. */
export function installSdkRuntime(options: RuntimeOptions): Promise<ReadSdkMetrics> {
  installed ??= install(options)
  return installed
}

async function install({ logger, level, hasMetrics }: RuntimeOptions): Promise<ReadSdkMetrics> {
  // The SDK can only serve its metrics on a port, so they are read from there and added to the metrics of this process.
  const address = hasMetrics ? `127.0.0.1:${await freeLoopbackPort()}` : null
  const threshold = level === 'silent' ? 'ERROR' : level === 'debug' || level === 'trace' ? 'DEBUG' : 'INFO'
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger(threshold, ({ level: severity, message, meta }) => {
      const write = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const
      logger[write[severity]](toLogFields(meta), message)
    }),
    telemetryOptions: {
      // The native part would print coloured text instead of JSON.
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      ...(address !== null && {
        metrics: {
          prometheus: {
            bindAddress: address,
            countersTotalSuffix: true,
            unitSuffix: true,
            useSecondsForDurations: true,
          },
        },
      }),
    },
  })
  if (address === null) return async () => ''
  return async () => {
    const response = await fetch(`http://${address}/metrics`, { signal: AbortSignal.timeout(2 * SECOND) })
    return response.text()
  }
}

function freeLoopbackPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

function toLogFields(meta: LogMetadata | undefined): Record<string, unknown> {
  const { error, ...rest } = meta ?? {}
  return error === undefined ? rest : { ...rest, err: error }
}
