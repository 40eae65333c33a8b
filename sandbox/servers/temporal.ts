import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { Connection } from '@temporalio/client'
import { assertVersion, findOrFetch } from './find-or-fetch.ts'
import { freePort, startProcess, type Running } from './process.ts'
import { goInstall, temporalDownload } from './sources.ts'

/** The newest release that `go install` accepts; later ones have a replace directive. */
const VERSION = '1.5.1'

/**
 * The embedded server's default limits are too low for one machine. Up to 1.30 it disables eager activities, priority
 * and fairness.
 */
const DYNAMIC_CONFIG = {
  'frontend.rps': 20_000,
  'frontend.namespaceRPS': 20_000,
  'frontend.enableServerVersionCheck': false,
  'history.rps': 50_000,
  'matching.rps': 50_000,
  'system.enableActivityEagerExecution': true,
  'matching.useNewMatcher': true,
  'matching.enableFairness': true,
}

export interface Temporal extends Running {
  /** host:port of the frontend. */
  address: string
  /** URL of the web interface, if it was requested. */
  ui: string | null
}

export function findTemporal(): Promise<string> {
  return findOrFetch({
    title: 'Temporal',
    program: 'temporal',
    version: VERSION,
    variable: 'POSTONCE_TEMPORAL',
    // Builds by `go install` report 0.0.0-DEV; the version of the embedded server matters.
    probe: (path) => assertVersion(path, /Server v?(\d+)\.(\d+)/, [1, 29]),
    sources: [
      temporalDownload(`cli/v${VERSION}`, '&format=tar.gz', 'temporal'),
      goInstall('github.com/temporalio/cli/cmd/temporal', VERSION, 'about 4 minutes'),
    ],
    advice: 'install the Temporal CLI (https://docs.temporal.io/cli) or Go 1.25 or newer.',
  })
}

export interface TemporalOptions {
  program: string
  logFile: string
  /** The file of the workflows; by default they are in memory. */
  file?: string
  port?: number
  signal?: AbortSignal
  /** Port of the web interface; by default there is none. */
  uiPort?: number
  /** Namespaces that are created in addition to `default`. */
  namespaces?: string[]
  /** Server settings that override ours. */
  dynamicConfig?: Record<string, unknown>
}

export async function startTemporal(options: TemporalOptions): Promise<Temporal> {
  const port = options.port ?? (await freePort())
  const address = `127.0.0.1:${port}`
  if (options.file !== undefined) mkdirSync(dirname(options.file), { recursive: true })
  const running = await startProcess({
    title: 'Temporal',
    command: options.program,
    args: [
      ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--log-level', 'error'],
      ...(options.uiPort === undefined ? ['--headless'] : ['--ui-port', String(options.uiPort)]),
      ...(options.file === undefined ? [] : ['--db-filename', options.file]),
      ...(options.file === undefined
        ? []
        : ['--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=normal']),
      ...(options.namespaces ?? []).flatMap((name) => ['--namespace', name]),
      ...Object.entries({ ...DYNAMIC_CONFIG, ...options.dynamicConfig }).flatMap(([key, value]) => [
        '--dynamic-config-value',
        `${key}=${JSON.stringify(value)}`,
      ]),
    ],
    logFile: options.logFile,
    signal: options.signal,
    ready: () => answers(address, ['default', ...(options.namespaces ?? [])]),
  })
  return { ...running, address, ui: options.uiPort === undefined ? null : `http://127.0.0.1:${options.uiPort}` }
}

async function answers(address: string, namespaces: string[]): Promise<boolean> {
  const connection = await Connection.connect({ address, connectTimeout: 1_000 })
  try {
    await Promise.all(namespaces.map((namespace) => connection.workflowService.describeNamespace({ namespace })))
    return true
  } finally {
    await connection.close()
  }
}
