/**
 * `npm run chaos -- [--seeds <n>] [--seed <s>] [--keep]`: one run a seed, a line each; ends with code 1 when an invariant was broken.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runSeed } from './run.ts'
import { startFaultWorld } from './world.ts'

const USAGE = `npm run chaos [-- --seeds <n>] [--seed <s>] [--keep]

  --seeds <n>  how many runs (default: 10)
  --seed <s>   the first seed; the others follow it (default: by the clock)
  --keep       keeps logs and journal of clean runs, too`

process.exitCode = await main(process.argv.slice(2))

async function main(args: string[]): Promise<number> {
  const options = read(args)
  if (typeof options === 'string') {
    console.error(options)
    return 2
  }
  const dir = mkdtempSync(join(tmpdir(), 'postonce-chaos-'))
  const world = await startFaultWorld({ dir })
  let broken = 0
  const stopping = stopRequested()
  try {
    for (let seed = options.seed; seed < options.seed + options.seeds && !stopping.isStopping; seed++) {
      const { violations, posts, requests, faults, seconds } = await runSeed(world, seed)
      const work = `${posts} posts, ${requests} requests`
      console.log(`seed ${seed}: ${verdict(violations)} (${work}, ${seconds} s): ${faults.join(', ')}`)
      for (const sentence of violations) console.log(`  ${sentence}`)
      if (violations.length > 0) broken++
    }
  } finally {
    await world.stop()
  }
  if (broken > 0 || options.keep) console.log(`Logs and the journal of what was done: ${dir}`)
  else rmSync(dir, { recursive: true, force: true })
  return broken > 0 ? 1 : 0
}

function verdict(violations: string[]): string {
  return violations.length === 0 ? 'clean' : `${violations.length} broken`
}

function read(args: string[]): { seed: number; seeds: number; keep: boolean } | string {
  try {
    const { values } = parseArgs({
      args,
      options: { seeds: { type: 'string' }, seed: { type: 'string' }, keep: { type: 'boolean', default: false } },
    })
    const { seeds = 10, seed = Math.floor(Date.now() / 1_000), keep } = values
    const options = { seeds: Number(seeds), seed: Number(seed), keep }
    if (Number.isInteger(options.seeds) && options.seeds > 0 && Number.isInteger(options.seed)) return options
  } catch {
    // What it is used like.
  }
  return USAGE
}

/** The run that is under way comes to its end. */
function stopRequested(): { isStopping: boolean } {
  const state = { isStopping: false }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (state.isStopping = true))
  return state
}
