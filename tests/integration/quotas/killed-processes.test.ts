import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createChance } from '../../../sandbox/chance.ts'
import { closeServer, listenOnLoopback } from '../../../sandbox/platforms/listen.ts'
import { SECOND } from '../../../src/domain/shared/times.ts'
import { quotaDatabase } from '../../support/quota-databases.ts'
import { unique } from '../../support/servers.ts'

const CALLER = fileURLToPath(new URL('../../support/quota-caller.ts', import.meta.url))
const PROCESSES = 3
const KILLS_PER_PROCESS = 5
const LONGEST_LIFE_MS = 4 * SECOND

const [limit, windowMs] = [40, 3 * SECOND]
/** The calls that arrived in each window. */
const arrived = new Map<number, number>()
const server = createServer((_, response) => {
  const index = Math.floor(Date.now() / windowMs)
  arrived.set(index, (arrived.get(index) ?? 0) + 1)
  response.end()
})
let database: Awaited<ReturnType<typeof quotaDatabase>>
let serverUrl: string
beforeAll(async () => {
  database = await quotaDatabase()
  serverUrl = await listenOnLoopback(server)
})
afterAll(async () => {
  await closeServer(server)
  await database?.close()
})

it('no windows at a server contain more calls than their limits, whichever processes are killed', async () => {
  const key = unique('subject')
  const seed = Date.now() % 100_000
  const chance = createChance(seed)

  /** Runs one process after the other and kills each at a random time after its first call. */
  async function runProcesses(first: number): Promise<void> {
    for (let index = 0; index < KILLS_PER_PROCESS; index++) {
      const child = spawn(
        process.execPath,
        [CALLER, database.url, serverUrl, key, ...[limit, windowMs, first + index].map(String)],
        {
          env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      )
      const exited = once(child, 'exit')
      try {
        // A process whose calls are all refused makes none.
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
  const indexes = [...arrived.keys()].toSorted((one, other) => one - other)
  for (const from of indexes) {
    for (const to of indexes.filter((index) => index >= from)) {
      const calls = indexes.filter((index) => index >= from && index <= to).map((index) => arrived.get(index)!)
      const total = calls.reduce((sum, count) => sum + count, 0)
      // Calls may arrive after the window in which they were counted.
      expect({ seed, from, to, isWithin: total <= (to - from + 2) * limit }).toMatchObject({ isWithin: true })
    }
  }
  const total = [...arrived.values()].reduce((sum, count) => sum + count, 0)
  // More than one window was granted.
  expect(total).toBeGreaterThan(limit)
})
