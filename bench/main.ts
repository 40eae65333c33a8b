/**
 * `npm run bench`: what the service costs and how late it is, as ratios to a baseline measured in the same run on real servers.
 * Prints a table and writes everything to bench/results/.
 *
 *   npm run bench [-- --quick] [history lateness throughput routes]
 *   npm run bench -- --profile throughput   # where the measured processes spend their time
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Figure } from './figure.ts'
import { measureHistory } from './measure/history.ts'
import { measureLateness, type LatenessSize } from './measure/lateness.ts'
import { measureRoutes, type RoutesSize } from './measure/routes.ts'
import { measureThroughput, type ThroughputSize } from './measure/throughput.ts'
import { startProfiling } from './profiling.ts'
import { detailsOf, tableOf } from './report.ts'
import { startWorld, type World } from './world.ts'

interface Sizes {
  lateness: LatenessSize
  throughput: ThroughputSize
  routes: RoutesSize
}

const FULL: Sizes = {
  lateness: { lone: 25, bursts: [100, 300] },
  throughput: { posts: 400, warmUp: 100, inFlight: 50, rounds: 2 },
  routes: { seconds: 2, rounds: 3 },
}
const QUICK: Sizes = {
  lateness: { lone: 6, bursts: [100] },
  throughput: { posts: 100, warmUp: 50, inFlight: 50, rounds: 1 },
  routes: { seconds: 1, rounds: 1 },
}

const MEASUREMENTS: Record<string, (world: World, sizes: Sizes) => Promise<Figure[]>> = {
  history: (world) => measureHistory(world),
  routes: (world, sizes) => measureRoutes(world, sizes.routes),
  throughput: (world, sizes) => measureThroughput(world, sizes.throughput),
  lateness: (world, sizes) => measureLateness(world, sizes.lateness),
}

const RESULTS = new URL('results/', import.meta.url)
const VERSIONS_OF = ['@temporalio/worker', 'fastify', 'mongoose', '@atproto/pds']

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { quick: { type: 'boolean', default: false }, profile: { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const unknown = positionals.filter((name) => !(name in MEASUREMENTS))
  if (unknown.length > 0) {
    throw new Error(`No such measurement: ${unknown.join(', ')}. There are: ${Object.keys(MEASUREMENTS).join(', ')}`)
  }
  const startedAt = new Date()
  const folder = join(tmpdir(), `postonce-profiles-${startedAt.getTime()}`)
  const profiling = values.profile ? await startProfiling(folder) : null
  const world = await startWorld(profiling)
  const interrupt = () => void world.stop().then(() => process.exit(130))
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  const figures: Figure[] = []
  try {
    for (const [name, measure] of Object.entries(MEASUREMENTS)) {
      if (positionals.length > 0 && !positionals.includes(name)) continue
      console.log(`Measuring ${name} ...`)
      figures.push(...(await measure(world, values.quick ? QUICK : FULL)))
    }
  } finally {
    await world.stop()
  }
  console.log(`\n${tableOf(figures)}\n\n${detailsOf(figures)}\n`)
  if (profiling) {
    console.log(`${profiling.report()}\n\nThe profiles, for a browser's developer tools, are in ${folder}`)
    return
  }
  if (positionals.length > 0) return
  const file = new URL(values.quick ? 'quick.json' : 'full.json', RESULTS)
  await mkdir(RESULTS, { recursive: true })
  await writeFile(file, `${JSON.stringify({ ...(await circumstances(startedAt)), figures }, null, 2)}\n`)
  console.log(`Everything measured is in ${fileURLToPath(file)}`)
}

async function circumstances(startedAt: Date) {
  const lock = JSON.parse(await readFile(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
    packages: Record<string, { version?: string }>
  }
  return {
    startedAt: startedAt.toISOString(),
    tookSeconds: Math.round((Date.now() - startedAt.getTime()) / 1_000),
    machine: {
      processor: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryGiB: Math.round(totalmem() / 2 ** 30),
    },
    versions: {
      node: process.version,
      ...Object.fromEntries(VERSIONS_OF.map((name) => [name, lock.packages[`node_modules/${name}`]?.version])),
    },
  }
}

await main()
// Native libraries and connection pools of the measured parts may hold the process although everything has stopped.
process.exit()
