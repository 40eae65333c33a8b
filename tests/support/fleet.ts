import { once } from 'node:events'
import { freePort } from '../../sandbox/servers/process.ts'
import type { Config } from '../../src/config/schema.ts'
import { createProcesses, waitForLogEntry } from './processes.ts'
import { testContext } from './servers.ts'

interface Member {
  address: string
  /** Reads a metric of the process, summed over its labels. */
  readMetric(name: string): Promise<number>
  /** Stops the process with SIGTERM, as a deployment does, and returns its exit code. */
  stop(): Promise<number>
}

/** Starts API processes of one deployment, and a context in the role of the worker. */
export async function startFleet(size: number, overrides: Partial<Config> = {}) {
  const context = await testContext({
    RATE_LIMIT_PER_ADDRESS: 1_000_000,
    SOCKETS_PER_USER: 200,
    ...overrides,
  })
  const processes = createProcesses()

  async function start(): Promise<Member> {
    const [port, metricsPort] = [await freePort(), await freePort()]
    const child = processes.start('src/server.ts', context.config, {
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      LOG_LEVEL: 'info',
    })
    child.stderr!.resume()
    await waitForLogEntry(child, 'api ready')
    return {
      address: `http://127.0.0.1:${port}`,
      async readMetric(name) {
        const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
        const lines = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
        return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
      },
      async stop() {
        child.kill('SIGTERM')
        const [code] = (await once(child, 'exit')) as [number]
        return code
      },
    }
  }

  return {
    context,
    members: await Promise.all(Array.from({ length: size }, start)),
    async close(): Promise<void> {
      processes.killAll()
      await context.close()
    },
  }
}

export type Fleet = Awaited<ReturnType<typeof startFleet>>
