import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Connection } from '@temporalio/client'
import { msToTs } from '@temporalio/common/lib/time.js'
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker'
import { findMongod, startMongod } from '../sandbox/servers/mongod.ts'
import { findTemporal, startTemporal } from '../sandbox/servers/temporal.ts'
import { readConfig } from '../src/config/schema.ts'
import { DAY } from '../src/domain/shared/times.ts'
import { bundleWorkflows } from '../src/worker/bundle.ts'

/** Starts real servers for one run. Their data is in memory or in a folder that `stop` deletes. */
export async function startWorld() {
  const dir = mkdtempSync(join(tmpdir(), 'postonce-bench-'))
  const stops: (() => Promise<unknown>)[] = [async () => rmSync(dir, { recursive: true, force: true })]
  const stop = async () => {
    for (const end of stops.splice(0).toReversed()) await end()
  }
  const keep = async <T extends { stop(): Promise<unknown> }>(starting: Promise<T>): Promise<T> => {
    stops.push(async () => (await starting.catch(() => null))?.stop())
    return starting
  }
  try {
    const [mongodProgram, temporalProgram] = [await findMongod(), await findTemporal()]
    const [mongod, temporal] = await Promise.all([
      keep(startMongod({ program: mongodProgram, logFile: join(dir, 'mongod.log') })),
      keep(startTemporal({ program: temporalProgram, logFile: join(dir, 'temporal.log') })),
    ])
    const connection = await Connection.connect({ address: temporal.address })
    stops.push(() => connection.close())
    const settings = {
      NODE_ENV: 'test',
      LOG_LEVEL: 'silent',
      HOST: '127.0.0.1',
      TEMPORAL_ADDRESS: temporal.address,
      // No server, because no measured post has media.
      S3_ENDPOINT: 'http://127.0.0.1:1',
      S3_SECRET_ACCESS_KEY: 'unused',
      JWT_SECRET: randomBytes(32).toString('hex'),
      REFRESH_TOKEN_SECRET: randomBytes(32).toString('hex'),
      OAUTH_STATE_SECRET: randomBytes(32).toString('hex'),
      TOKEN_ENCRYPTION_KEYS: `bench:${randomBytes(32).toString('base64')}`,
      RATE_LIMIT_PER_ADDRESS: '100000000',
      RATE_LIMIT_PER_USER: '100000000',
    }
    const bundles = new Map<string, Promise<string>>()

    const bundle = (name: string, build: () => Promise<{ code: string }>): Promise<string> => {
      const file = join(dir, `workflow-bundle-${bundles.size}.js`)
      const known = bundles.get(name) ?? build().then(({ code }) => writeFile(file, code).then(() => file))
      bundles.set(name, known)
      return known
    }

    return {
      pids: { mongod: mongod.pid, temporal: temporal.pid },
      mongodVersion: execFileSync(mongodProgram, ['--version'])
        .toString()
        .match(/v(\d[\d.]*)/)?.[1],
      temporalVersion: (await connection.workflowService.getSystemInfo({})).serverVersion ?? 'unknown',

      /** Returns the file with the workflow bundle. It is built once, so that no worker builds it at its start. */
      bundle: () => bundle('service', bundleWorkflows),

      /** Returns the file with the bundle of the bare workflows. */
      bareBundle: () =>
        bundle('bare', () =>
          bundleWorkflowCode({
            workflowsPath: fileURLToPath(new URL('workflows/bare.ts', import.meta.url)),
            logger: new DefaultLogger('WARN'),
          }),
        ),

      /** Returns a configuration with an unused database and a new Temporal namespace. */
      async config(overrides: Record<string, string> = {}) {
        const name = `bench-${randomBytes(4).toString('hex')}`
        const day = msToTs(DAY)
        await connection.workflowService.registerNamespace({ namespace: name, workflowExecutionRetentionPeriod: day })
        const database = new URL(mongod.url)
        database.pathname = `/${name}`
        return readConfig({ ...settings, MONGODB_URL: database.href, TEMPORAL_NAMESPACE: name, ...overrides })
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

export type World = Awaited<ReturnType<typeof startWorld>>
