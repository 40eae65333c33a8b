import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createChance } from '../../../sandbox/chance.ts'
import { SECOND } from '../../../src/domain/shared/times.ts'
import { quotaDatabase } from '../../support/quota-databases.ts'
import { unique } from '../../support/servers.ts'
import { STRICT_LIMIT, strictQuotaServer } from '../../support/strict-quota-server.ts'

const CALLER = fileURLToPath(new URL('../../support/quota-caller.ts', import.meta.url))
const PROCESSES = 3
const KILLS_PER_PROCESS = 5
const LONGEST_LIFE_MS = 4 * SECOND

let database: Awaited<ReturnType<typeof quotaDatabase>>
let server: Awaited<ReturnType<typeof strictQuotaServer>>
beforeAll(async () => {
  database = await quotaDatabase()
  server = await strictQuotaServer()
})
afterAll(async () => {
  await server?.close()
  await database?.close()
})

it('no window at a server contains more calls than its limit, whichever processes are killed', async () => {
  const key = unique('subject')
  const seed = Date.now() % 100_000
  const chance = createChance(seed)

  /** Runs one process after the other and kills each at a random time after its first call. */
  async function runProcesses(first: number): Promise<void> {
    for (let index = 0; index < KILLS_PER_PROCESS; index++) {
      const child = spawn(process.execPath, [CALLER, database.url, server.url, key, String(first + index)], {
        env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const exited = once(child, 'exit')
      try {
        // A process that gets no token makes no call.
        await Promise.race([once(child.stdout, 'data'), delay(LONGEST_LIFE_MS), exited])
        await Promise.race([delay(chance.between(0, LONGEST_LIFE_MS)), exited])
        expect(child.exitCode).toBe(null)
      } finally {
        child.kill('SIGKILL')
        await exited
      }
    }
  }

  await Promise.all(Array.from({ length: PROCESSES }, (_, index) => runProcesses(seed + index * KILLS_PER_PROCESS)))
  const { calls, refused, mostInWindow } = server.counts
  expect({ seed, refused }).toEqual({ seed, refused: 0 })
  expect(mostInWindow).toBeLessThanOrEqual(STRICT_LIMIT.limit)
  // More than one window was granted.
  expect(calls).toBeGreaterThan(STRICT_LIMIT.limit)
})
