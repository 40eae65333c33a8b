import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Config } from '../../../src/config/schema.ts'
import type { Context } from '../../../src/context.ts'
import { startWorkers } from '../../../src/worker/create-workers.ts'
import { registerNamespace, testConfig, testContext } from '../../support/servers.ts'

const SCRIPT = fileURLToPath(new URL('../../../src/cli/worker-health.ts', import.meta.url))

async function check(config: Config): Promise<{ code: number; output: string }> {
  const settings = Object.entries(config).map(([name, value]) => [name, String(value)])
  try {
    await promisify(execFile)(process.execPath, [SCRIPT], { env: { ...process.env, ...Object.fromEntries(settings) } })
    return { code: 0, output: '' }
  } catch (error) {
    const { code, stderr } = error as { code: number; stderr: string }
    return { code, output: stderr }
  }
}

describe('the health check of a worker container', () => {
  let context: Context
  let workers: Awaited<ReturnType<typeof startWorkers>>

  beforeAll(async () => {
    context = await testContext({ WORKER_QUEUES: 'maintenance' })
    workers = await startWorkers(context)
  })

  afterAll(async () => {
    await workers.stop()
    await context.close()
  })

  test('the worker health check succeeds while a worker of this host polls its queues', async () => {
    await expect.poll(() => check(context.config), { timeout: 50_000, interval: 500 }).toEqual({ code: 0, output: '' })
  })

  test('the worker health check names a queue that no worker serves', async () => {
    const { code, output } = await check({ ...context.config, WORKER_QUEUES: 'maintenance,publishing' })
    expect(code).toBe(1)
    expect(output.trim()).toBe('No worker of this host polls the task queue publishing')
  })

  test('the worker health check fails without any worker', async () => {
    const config = testConfig()
    await registerNamespace(config)
    expect((await check(config)).code).toBe(1)
  })

  test('the worker health check fails when Temporal is down', async () => {
    expect((await check({ ...context.config, TEMPORAL_ADDRESS: '127.0.0.1:1' })).code).toBe(1)
  })
})
