import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { formatViolations } from '../faults/judge/judge.ts'
import { findViolation, SIMULATED_GUARDS } from './guards.ts'

/** Removes each guard of deliveries once. A history must show it: otherwise the guard is useless or the simulation blind. */

const MOST_HISTORIES = 1_500

const dir = mkdtempSync(join(tmpdir(), 'postonce-guards-'))
const table: object[] = []
afterAll(() => {
  rmSync(dir, { recursive: true, force: true })
  console.table(table)
})

it.each(SIMULATED_GUARDS)('without the guard "$guard" a history violates $violates', async (planted) => {
  const found = await findViolation(planted, { dir, most: MOST_HISTORIES })
  expect(found).not.toBeNull()
  const { outcome, histories, cpuSeconds } = found!
  table.push({ guard: planted.guard, histories, cpuSeconds: Number(cpuSeconds.toFixed(1)) })
  expect(formatViolations(outcome.violations)).toContainEqual(expect.stringMatching(`^${planted.violates}: `))
})
