/**
 * `npm run chaos`: one run a seed, a line each; ends with code 1 when an invariant was broken. With `--churn` many posts under
 * workers that are killed in turn, beside as many in calm. With `--matrix` every platform under everything that may happen to the
 * answer of its visible call.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { churn } from './churn.ts'
import { isGood, killAfterAll, loseAnswers, type Cell, type MatrixReport } from './matrix.ts'
import { runSeed } from './run.ts'
import { startFaultWorld, type FaultWorld } from './world.ts'

const USAGE = `npm run chaos [-- --seeds <n>] [--seed <s>] [--churn <posts>] [--matrix] [--keep]

  --seeds <n>      how many runs (default: 10)
  --seed <s>       the first seed; the others follow it (default: by the clock)
  --churn <posts>  instead: posts that are due together, while a worker is killed every three seconds
  --matrix         instead: on every platform, answers lost in every way once, and workers killed after
                   the platform accepted once a seed
  --keep           keeps logs and journal of clean runs, too`

/** The sweeper takes up what crashes left behind; the sooner, the sooner a run is over. */
const ENVIRONMENT = { SWEEP_INTERVAL_MS: '5000' }
const KILL_EVERY_MS = 3_000
/** Reconciliations after earlier kills are still running during later ones. */
const KILLS_BEFORE_REST = 5

interface Options {
  seeds: number
  seed: number
  churn: number
  matrix: boolean
  keep: boolean
}

process.exitCode = await main(process.argv.slice(2))

async function main(args: string[]): Promise<number> {
  const options = read(args)
  if (options === null) {
    console.error(USAGE)
    return 2
  }
  const dir = mkdtempSync(join(tmpdir(), 'postonce-chaos-'))
  const world = await startFaultWorld({ dir, env: ENVIRONMENT })
  let broken = 0
  try {
    broken = await runAsTold(world, options)
  } catch (error) {
    broken++
    console.error(error)
  } finally {
    await world.stop()
  }
  if (broken > 0 || options.keep) console.log(`Logs and the journal of what was done: ${dir}`)
  else rmSync(dir, { recursive: true, force: true })
  return broken > 0 ? 1 : 0
}

function runAsTold(world: FaultWorld, options: Options): Promise<number> {
  if (options.matrix) return runMatrix(world, options)
  return options.churn > 0 ? runChurn(world, options.churn) : runSeeds(world, options)
}

/** Returns how many runs broke an invariant. */
async function runSeeds(world: FaultWorld, { seed: first, seeds }: Options): Promise<number> {
  let broken = 0
  const stopping = stopRequested()
  for (let seed = first; seed < first + seeds && !stopping.isStopping; seed++) {
    const { violations, posts, requests, faults, seconds } = await runSeed(world, seed)
    console.log(
      `seed ${seed}: ${verdict(violations)} (${posts} posts, ${requests} requests, ${seconds} s): ${faults.join(', ')}`,
    )
    if (violations.length > 0) broken++
  }
  return broken
}

async function runChurn(world: FaultWorld, posts: number): Promise<number> {
  const calm = await churn(world, posts, null)
  console.log(`${posts} posts in calm: ${verdict(calm.violations)}, drained in ${calm.drainMs} ms`)
  const churned = await churn(world, posts, KILL_EVERY_MS)
  const factor = (churned.drainMs / calm.drainMs).toFixed(1)
  console.log(
    `${posts} posts, ${churned.kills} workers killed: ${verdict(churned.violations)}, drained in ${churned.drainMs} ms, ${factor} times as long`,
  )
  return calm.violations.length + churned.violations.length
}

/** Returns how many cells and invariants were broken. */
async function runMatrix(world: FaultWorld, { seed: first, seeds }: Options): Promise<number> {
  const cells: Cell[] = []
  let broken = 0
  const take = (what: string, report: MatrixReport) => {
    cells.push(...report.cells)
    const bad = report.cells.filter((cell) => !isGood(cell)).map((cell) => JSON.stringify(cell))
    broken += report.violations.length + bad.length
    console.log(`${what}: ${verdict([...report.violations, ...bad])}`)
  }
  take('answers lost', await loseAnswers(world))
  const stopping = stopRequested()
  for (let seed = first; seed < first + seeds && !stopping.isStopping; seed += KILLS_BEFORE_REST) {
    const outcomes: { of: number; outcome: () => Promise<MatrixReport> }[] = []
    for (let of = seed; of < Math.min(seed + KILLS_BEFORE_REST, first + seeds); of++) {
      outcomes.push({ of, outcome: await killAfterAll(world, of) })
    }
    for (const { of, outcome } of outcomes) take(`kill of seed ${of}`, await outcome())
  }
  console.table(tally(cells))
  return broken
}

/** For each platform and way, how many posts of how many are there once, and say so. */
function tally(cells: Cell[]): Record<string, Record<string, string>> {
  const rows: Record<string, Record<string, string>> = {}
  for (const [platform, own] of Map.groupBy(cells, (cell) => cell.platform)) {
    const ways = Map.groupBy(own, ({ way }) => way)
    rows[platform] = Object.fromEntries(
      [...ways].map(([way, all]) => [way, `${all.filter(isGood).length} of ${all.length}`]),
    )
  }
  return rows
}

function verdict(violations: string[]): string {
  if (violations.length === 0) return 'clean'
  return [`${violations.length} broken`, ...violations.map((sentence) => `  ${sentence}`), ''].join('\n')
}

/** Null when it was called with something else. */
function read(args: string[]): Options | null {
  try {
    const { values } = parseArgs({
      args,
      options: {
        seeds: { type: 'string' },
        seed: { type: 'string' },
        churn: { type: 'string' },
        matrix: { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
      },
    })
    const { seeds = 10, seed = Math.floor(Date.now() / 1_000), churn: posts = 0, matrix, keep } = values
    const options = { seeds: Number(seeds), seed: Number(seed), churn: Number(posts), matrix, keep }
    return [options.seeds, options.seed, options.churn].every((value) => Number.isInteger(value) && value >= 0)
      ? options
      : null
  } catch {
    return null
  }
}

/** The current run finishes first. */
function stopRequested(): { isStopping: boolean } {
  const state = { isStopping: false }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (state.isStopping = true))
  return state
}
