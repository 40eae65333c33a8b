import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findMongod, startMongod, type Mongod } from '../../sandbox/servers/mongod.ts'
import { judge, sentencesOf } from './judge/judge.ts'
import type { Violation } from './judge/evidence.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { GUARDS, type Guard } from './planted/guards.ts'
import { ALONE, SCENARIOS, type ScenarioName } from './planted/scenarios.ts'
import { openStage, PUBLIC_URL } from './planted/stage.ts'
import { startFaultPlatforms, type FaultPlatforms } from './platforms.ts'
import { copySource, type Replacement } from './source.ts'

/** Removes each guard of the service once. The judge must report the violation, or the guard is useless or not judged. */

const dir = mkdtempSync(join(tmpdir(), 'postonce-planted-'))
let mongod: Mongod
let outside: FaultPlatforms
let copies = 0
const table: { guard: string; scenario: string; reported: string }[] = []

beforeAll(async () => {
  const program = await findMongod()
  const starting = [
    startMongod({ program, logFile: join(dir, 'mongod.log'), dir: join(dir, 'mongodb') }),
    startFaultPlatforms(dir, PUBLIC_URL, { mastodonOfAnotherMaker: true }),
  ] as const
  ;[mongod, outside] = await Promise.all(starting)
})
afterAll(async () => {
  await mongod?.stop()
  await outside?.stop()
  rmSync(dir, { recursive: true, force: true })
  console.table(table)
})

async function play(
  scenario: ScenarioName,
  replacements: Replacement[],
  where: Platform = 'bluesky',
): Promise<Violation[]> {
  const root = copySource(join(dir, `copy-${++copies}`), replacements)
  const platform = outside.platforms.find((candidate) => candidate.platform === where)!
  const stage = await openStage({ root, mongoUrl: mongod.url, outside, platform })
  try {
    await SCENARIOS[scenario](stage)
    return judge(await stage.evidence())
  } finally {
    await stage.close()
  }
}

it('the README lists every guard', () => {
  const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8').replaceAll(/ +/g, ' ')
  for (const { guard, scenario, breaks } of GUARDS) expect(readme).toContain(`| ${guard} | ${scenario} | ${breaks} |`)
})

/** Plays each scenario once with all guards, and once without each guard. */
function all(guards: Guard[]): void {
  const cleanRuns = new Map(
    guards.map(({ scenario, platform = 'bluesky', without = [] }) => [
      `${scenario}${platform}${without.length}`,
      { scenario, platform, without },
    ]),
  )

  it.each([...cleanRuns.values()])(
    'the judge reports nothing on $platform when $scenario',
    async ({ scenario, platform, without }) => {
      expect(sentencesOf(await play(scenario, without, platform))).toEqual([])
    },
  )

  it.each(guards)('without the guard "$guard" the judge reports $breaks', async (planted) => {
    const { guard, removed, scenario, breaks, platform, without = [] } = planted
    const violations = await play(scenario, [...without, ...removed], platform)
    const reported = [...new Set(violations.map(({ invariant }) => invariant))]
    table.push({ guard, scenario, reported: reported.join(', ') })
    expect(reported, sentencesOf(violations).join('\n')).toEqual([breaks])
  })
}

const [alone, together] = [true, false].map((is) => GUARDS.filter(({ scenario }) => ALONE.has(scenario) === is))

describe.concurrent('side by side', () => {
  all(together!)
})
describe('alone', () => {
  all(alone!)
})
