import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PROJECT_ROOT } from '../../sandbox/options.ts'
import { formatViolations } from '../faults/judge/judge.ts'
import { findViolation, SIMULATED_GUARDS } from './guards.ts'
import { planHistory, runHistory } from './history.ts'
import { loadService, type Source } from './service.ts'
import { shrinkHistory } from './shrink.ts'

/** `npm run simulate` runs more. */
const HISTORIES = 150

const dir = mkdtempSync(join(tmpdir(), 'postonce-simulation-'))
let source: Source
beforeAll(async () => void (source = await loadService(PROJECT_ROOT)))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

it('histories of ten posts keep every invariant of deliveries, whatever is lost, late, killed or frozen', async () => {
  for (let seed = 1; seed <= HISTORIES; seed++) {
    const { violations, trace } = await runHistory(source, planHistory(seed))
    expect(violations, `Seed ${seed}: npm run simulate -- ${seed} 1 shrinks it.\n${trace.join('\n')}`).toEqual([])
  }
})

it('the same seed gives the same history', async () => {
  for (const seed of [3, 7, 11]) {
    const [one, again] = [await runHistory(source, planHistory(seed)), await runHistory(source, planHistory(seed))]
    expect(again.trace).toEqual(one.trace)
    expect(one.trace.length).toBeGreaterThan(20)
  }
})

it('a failing history is shrunk to a few posts that still fail', async () => {
  const guard = SIMULATED_GUARDS.find(({ removed: [replaced] }) => replaced!.anchor === 'unpublished container')!
  const { history, outcome, source: broken } = (await findViolation(guard, { dir, most: 100 }))!
  const shrunk = await shrinkHistory(history, outcome, (smaller) => runHistory(broken, smaller))
  expect(formatViolations(shrunk.outcome.violations)).toContainEqual(expect.stringMatching(/^I1: /))
  expect(shrunk.history.posts.length).toBeLessThan(history.posts.length)
})
