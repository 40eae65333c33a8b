/**
 * `npm run chaos`: one run per seed, with one line each. The exit code is 1 when an invariant was violated.
 * `--churn` publishes many posts while workers are killed in turn, after as many without kills.
 * `--matrix` tests every platform with every fault of the response to its visible call.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { churn } from './churn.ts'
import { isPublishedOnce, killAfterAllAccepted, loseResponses, type Cell, type MatrixReport } from './matrix.ts'
import { runSeed } from './run.ts'
import { startFaultCluster, type FaultCluster } from './cluster.ts'

const USAGE = `npm run chaos [-- --seeds <n>] [--seed <s>] [--churn <posts>] [--matrix] [--keep]

  --seeds <n>      number of runs (default: 10)
  --seed <s>       the first seed; the others follow it (default: the current time)
  --churn <posts>  instead: posts that are due together, while a worker is killed every three seconds
  --matrix         instead: on every platform, each response fault once, and workers killed after the
                   platform accepted, once per seed
  --keep           also keeps the logs and the journal of clean runs`

/** The sweeper finds the posts that a crash left behind. A short interval shortens the run. */
const ENVIRONMENT = { SWEEP_INTERVAL_MS: '5000' }
const KILL_EVERY_MS = 3_000
/** Reconciliations after earlier kills are still running during later ones. */
const KILLS_PER_BATCH = 5

interface Options {
  seeds: number
  seed: number
  churn: number
  matrix: boolean
  keep: boolean
}

process.exitCode = await main(process.argv.slice(2))

async function main(args: string[]): Promise<number> {
  const options = parseOptions(args)
  if (options === null) {
    console.error(USAGE)
    return 2
  }
  const dir = mkdtempSync(join(tmpdir(), 'postonce-chaos-'))
  const cluster = await startFaultCluster({ dir, env: ENVIRONMENT })
  let failures = 0
  try {
    failures = await runMode(cluster, options)
  } catch (error) {
    failures++
    console.error(error)
  } finally {
    await cluster.stop()
  }
  if (failures > 0 || options.keep) console.log(`Logs and journal: ${dir}`)
  else rmSync(dir, { recursive: true, force: true })
  return failures > 0 ? 1 : 0
}

function runMode(cluster: FaultCluster, options: Options): Promise<number> {
  if (options.matrix) return runMatrix(cluster, options)
  return options.churn > 0 ? runChurn(cluster, options.churn) : runSeeds(cluster, options)
}

/** Returns the number of runs that violated an invariant. */
async function runSeeds(cluster: FaultCluster, { seed: first, seeds }: Options): Promise<number> {
  let failures = 0
  const stop = watchStopSignals()
  for (let seed = first; seed < first + seeds && !stop.isRequested; seed++) {
    const { violations, posts, requests, faults, seconds } = await runSeed(cluster, seed)
    console.log(
      `seed ${seed}: ${formatVerdict(violations)} (${posts} posts, ${requests} requests, ${seconds} s): ${faults.join(', ')}`,
    )
    if (violations.length > 0) failures++
  }
  return failures
}

async function runChurn(cluster: FaultCluster, posts: number): Promise<number> {
  const calm = await churn(cluster, posts, null)
  console.log(`${posts} posts without kills: ${formatVerdict(calm.violations)}, drained in ${calm.drainMs} ms`)
  const churned = await churn(cluster, posts, KILL_EVERY_MS)
  const factor = (churned.drainMs / calm.drainMs).toFixed(1)
  console.log(
    `${posts} posts, ${churned.kills} workers killed: ${formatVerdict(churned.violations)}, drained in ${churned.drainMs} ms, ${factor} times as long`,
  )
  return calm.violations.length + churned.violations.length
}

/** Returns the number of failed cells and violations. */
async function runMatrix(cluster: FaultCluster, { seed: first, seeds }: Options): Promise<number> {
  const cells: Cell[] = []
  let failures = 0
  const addReport = (name: string, report: MatrixReport) => {
    cells.push(...report.cells)
    const failed = report.cells.filter((cell) => !isPublishedOnce(cell)).map((cell) => JSON.stringify(cell))
    failures += report.violations.length + failed.length
    console.log(`${name}: ${formatVerdict([...report.violations, ...failed])}`)
  }
  addReport('lost responses', await loseResponses(cluster))
  const stop = watchStopSignals()
  for (let seed = first; seed < first + seeds && !stop.isRequested; seed += KILLS_PER_BATCH) {
    const kills: { killSeed: number; awaitReport: () => Promise<MatrixReport> }[] = []
    for (let killSeed = seed; killSeed < Math.min(seed + KILLS_PER_BATCH, first + seeds); killSeed++) {
      kills.push({ killSeed, awaitReport: await killAfterAllAccepted(cluster, killSeed) })
    }
    for (const { killSeed, awaitReport } of kills) addReport(`kill of seed ${killSeed}`, await awaitReport())
  }
  console.table(countByFault(cells))
  return failures
}

/** Counts by platform and fault how many posts were published exactly once. */
function countByFault(cells: Cell[]): Record<string, Record<string, string>> {
  const rows: Record<string, Record<string, string>> = {}
  for (const [platform, own] of Map.groupBy(cells, (cell) => cell.platform)) {
    const byFault = Map.groupBy(own, ({ fault }) => fault)
    rows[platform] = Object.fromEntries(
      [...byFault].map(([fault, all]) => [fault, `${all.filter(isPublishedOnce).length} of ${all.length}`]),
    )
  }
  return rows
}

function formatVerdict(violations: string[]): string {
  if (violations.length === 0) return 'clean'
  return [`${violations.length} violations`, ...violations.map((violation) => `  ${violation}`), ''].join('\n')
}

/** Parses the command line. Returns null for unknown or invalid options. */
function parseOptions(args: string[]): Options | null {
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

/** Remembers the first SIGINT or SIGTERM, so that the current run can finish. */
function watchStopSignals(): { isRequested: boolean } {
  const state = { isRequested: false }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (state.isRequested = true))
  return state
}
