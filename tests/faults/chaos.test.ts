import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runSeed } from './run.ts'
import { startFaultWorld, type FaultWorld } from './world.ts'

/** `npm run chaos` has more of them. */
const SEED = 12

const dir = mkdtempSync(join(tmpdir(), 'postonce-faults-'))
let world: FaultWorld
let isClean = false
beforeAll(async () => void (world = await startFaultWorld({ dir })))
afterAll(async () => {
  await world?.stop()
  if (isClean) rmSync(dir, { recursive: true, force: true })
})

it(`keeps every invariant under the faults of seed ${SEED}`, async () => {
  const { violations } = await runSeed(world, SEED, { users: 3, posts: 25, faults: 6, lengthMs: 10_000 })
  expect(violations, `the journal is ${world.journal.file}`).toEqual([])
  isClean = true
})
