import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PROJECT_ROOT } from '../../sandbox/options.ts'
import { findMongod, startMongod, type Mongod } from '../../sandbox/servers/mongod.ts'
import { formatViolations, judge } from './judge/judge.ts'
import type { Violation } from './judge/evidence.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { GUARDS, type Guard } from './planted/guards.ts'
import { EXCLUSIVE_SCENARIOS, SCENARIOS, type ScenarioName } from './planted/scenarios.ts'
import { PUBLIC_URL, startInProcessCluster } from './planted/in-process-cluster.ts'
import { startFaultPlatforms, type FaultPlatforms } from './platforms.ts'
import { copySource, type Replacement } from '../support/copied-source.ts'

/** Removes each guard of the service once. The judge must report the violation: otherwise the guard is useless or untested. */

const dir = mkdtempSync(join(tmpdir(), 'postonce-planted-'))
let mongod: Mongod
let sandbox: FaultPlatforms
let copies = 0
const table: { guard: string; scenario: string; reported: string }[] = []

beforeAll(async () => {
  const program = await findMongod()
  const starting = [
    startMongod({ program, logFile: join(dir, 'mongod.log'), dir: join(dir, 'mongodb') }),
    startFaultPlatforms(dir, PUBLIC_URL, { mastodonOfAnotherMaker: true }),
  ] as const
  ;[mongod, sandbox] = await Promise.all(starting)
})
afterAll(async () => {
  await mongod?.stop()
  await sandbox?.stop()
  rmSync(dir, { recursive: true, force: true })
  console.table(table)
})

/** Runs a scenario on the source, or on a copy with the replacements, and judges it. */
async function runScenario(
  scenario: ScenarioName,
  replacements: Replacement[],
  platformName: Platform = 'bluesky',
): Promise<Violation[]> {
  const root = replacements.length === 0 ? PROJECT_ROOT : copySource(join(dir, `copy-${++copies}`), replacements)
  const platform = sandbox.platforms.find((candidate) => candidate.platform === platformName)!
  const cluster = await startInProcessCluster({ root, mongoUrl: mongod.url, sandbox, platform })
  try {
    await SCENARIOS[scenario](cluster)
    return judge(await cluster.gatherEvidence())
  } finally {
    await cluster.close()
  }
}

/** Runs each scenario once with all guards, and once without each guard. */
function testGuards(guards: Guard[]): void {
  const cleanRuns = new Map(
    guards.map(({ scenario, platform = 'bluesky', alsoRemoved = [] }) => [
      `${scenario}${platform}${alsoRemoved.length}`,
      { scenario, platform, alsoRemoved },
    ]),
  )

  it.each([...cleanRuns.values()])(
    'the judge reports nothing on $platform when $scenario',
    async ({ scenario, platform, alsoRemoved }) => {
      expect(formatViolations(await runScenario(scenario, alsoRemoved, platform))).toEqual([])
    },
  )

  it.each(guards)('without the guard "$guard" the judge reports $violates', async (planted) => {
    const { guard, removed, scenario, violates, platform, alsoRemoved = [] } = planted
    const violations = await runScenario(scenario, [...alsoRemoved, ...removed], platform)
    const reported = [...new Set(violations.map(({ invariant }) => invariant))]
    table.push({ guard, scenario, reported: reported.join(', ') })
    expect(reported, formatViolations(violations).join('\n')).toEqual([violates].flat())
  })
}

const [exclusive, concurrent] = [true, false].map((isExclusive) =>
  GUARDS.filter(({ scenario }) => EXCLUSIVE_SCENARIOS.has(scenario) === isExclusive),
)

describe.concurrent('guards tested concurrently', () => {
  testGuards(concurrent!)
})
describe('guards tested one after the other', () => {
  testGuards(exclusive!)
})
