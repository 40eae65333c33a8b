import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isGood, killAfterAll, loseAnswers, type MatrixReport } from './matrix.ts'
import { startFaultWorld, type FaultWorld } from './world.ts'

/** Every platform, and everything that may happen to the answer of the call that makes a post visible. */

const dir = mkdtempSync(join(tmpdir(), 'postonce-matrix-'))
let world: FaultWorld
beforeAll(async () => void (world = await startFaultWorld({ dir })))
afterAll(async () => {
  await world?.stop()
  rmSync(dir, { recursive: true, force: true })
})

function expectAllGood({ cells, violations }: MatrixReport): void {
  expect(violations).toEqual([])
  expect(cells.filter((cell) => !isGood(cell))).toEqual([])
}

it('a worker killed after every platform accepted: one record on each, and its post says which', async () => {
  const outcome = await killAfterAll(world, 1)
  const report = await outcome()
  expectAllGood(report)
  expect(report.cells).toHaveLength(world.platforms.length)
})

it('an answer that is lost, on every platform in every way: one record each, and its post says which', async () => {
  const report = await loseAnswers(world)
  expectAllGood(report)
  console.table(report.cells)
})
