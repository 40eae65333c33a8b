/**
 * `npm run bench` measures costs and lateness of the service on real servers, compared with a baseline in alternating rounds. It prints a
 * table. It needs Linux for the processor times of processes.
 *
 *   npm run bench [-- group ...]      # all groups, or only these
 *   npm run bench -- --quick          # small, to see that the groups work
 *   npm run bench -- --save [...]     # replaces these groups in bench/results/ and updates docs/operations/capacity.md
 *
 * Node's profiler shows where the measured processes spend their time: `node --cpu-prof --cpu-prof-dir=<folder> bench/main.ts <group>`
 * writes a profile of each of their threads. It slows them down.
 */
import { readFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { saveResults } from '../scripts/figures-table.ts'
import type { Figure, Scale } from './figure.ts'
import { measureBursts } from './groups/bursts.ts'
import { measureCapacity } from './groups/capacity.ts'
import { measureCollection } from './groups/collection.ts'
import { measureFairness } from './groups/fairness.ts'
import { measureFootprint } from './groups/footprint.ts'
import { measureRoutes } from './groups/routes.ts'
import { measureStorage } from './groups/storage.ts'
import { measureThroughput } from './groups/throughput.ts'
import { cellsOf, TABLE_HEAD, toTable, type Results } from './report.ts'
import { startWorld, type World } from './world.ts'

const GROUPS: Record<string, (world: World, scale: Scale) => Promise<Figure[]>> = {
  routes: measureRoutes,
  throughput: measureThroughput,
  bursts: measureBursts,
  fairness: measureFairness,
  collection: measureCollection,
  storage: measureStorage,
  footprint: measureFootprint,
  capacity: measureCapacity,
}

const VERSIONS_OF = ['@temporalio/worker', 'fastify', 'mongoose', 'mongodb']

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { quick: { type: 'boolean', default: false }, save: { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const scale = values.quick ? 'quick' : 'full'
  if (values.quick && values.save) throw new Error('Results of --quick decide nothing and are not saved')
  const names = positionals.length > 0 ? positionals : Object.keys(GROUPS)
  const unknown = names.filter((name) => !(name in GROUPS))
  if (unknown.length > 0) {
    throw new Error(`Unknown group: ${unknown.join(', ')}. The groups are ${Object.keys(GROUPS).join(', ')}`)
  }
  const world = await startWorld()
  const interrupt = () => void world.stop().then(() => process.exit(130))
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  const results: Results = {}
  try {
    for (const name of names) {
      const startedAt = Date.now()
      const figures = await GROUPS[name]!(world, scale)
      results[name] = { measuredAt: new Date(startedAt).toISOString(), on: await describeMachine(world), figures }
      console.log(`\n${name}, in ${Math.round((Date.now() - startedAt) / 1_000)} s`)
      console.log(toTable(TABLE_HEAD, figures.map(cellsOf)))
      if (values.save) await saveResults(results)
    }
  } finally {
    await world.stop()
  }
}

async function describeMachine({ temporalVersion, mongodVersion }: World): Promise<string> {
  const lock = JSON.parse(await readFile(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
    packages: Record<string, { version?: string }>
  }
  const packages = VERSIONS_OF.map((name) => `${name} ${lock.packages[`node_modules/${name}`]?.version}`)
  const servers = [`Node ${process.version}`, `MongoDB ${mongodVersion}`, `Temporal ${temporalVersion}`]
  return `${cpus().length} cores of ${cpus()[0]?.model}: ${[...servers, ...packages].join(', ')}`
}

await main()
// Native libraries and connection pools may keep the process alive although everything has stopped.
process.exit()
