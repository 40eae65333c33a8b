/**
 * `npm run bench` measures costs and lateness of the service on real servers, as ratios to a baseline of the same run. It prints a
 * table. A full run of all groups also writes bench/results/ and its charts, and updates docs/operations/capacity.md.
 *
 *   npm run bench [-- --quick] [history routes throughput footprint lateness peaks mechanisms backlog recovery platforms logins analytics
 *                           collection workers storage quotas fairness]
 *   npm run bench -- --profile throughput   # shows where the measured processes spend their time
 *   npm run bench -- --save backlog         # replaces this group in the results
 *   npm run bench -- --charts               # draws the charts again from the results
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { updateFigures } from '../scripts/figures-table.ts'
import { drawChart, type Chart } from './chart.ts'
import type { Figure } from './figure.ts'
import { measureAnalytics, type AnalyticsSize } from './measure/analytics.ts'
import { measureBacklog, type BacklogSize } from './measure/backlog.ts'
import { measureCollection, type CollectionSize } from './measure/collection.ts'
import { measureFairness, type FairnessSize } from './measure/fairness.ts'
import { measureFootprint, type FootprintSize } from './measure/footprint.ts'
import { measureHistory, type HistorySize } from './measure/history.ts'
import { measureLateness, type LatenessSize } from './measure/lateness.ts'
import { measureLogins, type LoginsSize } from './measure/logins.ts'
import { measureMechanisms, type MechanismsSize } from './measure/mechanisms.ts'
import { measurePeaks, type PeaksSize } from './measure/peaks.ts'
import { measurePlatforms, type PlatformsSize } from './measure/platforms.ts'
import { measureQuotas, type QuotasSize } from './measure/quotas.ts'
import { measureRecovery, type RecoverySize } from './measure/recovery.ts'
import { measureRoutes, type RoutesSize } from './measure/routes.ts'
import { measureStorage, type StorageSize } from './measure/storage.ts'
import { measureThroughput, type ThroughputSize } from './measure/throughput.ts'
import { measureWorkers, type WorkersSize } from './measure/workers.ts'
import { startProfiling } from './profiling.ts'
import { detailsOf, tableOf, type Results } from './report.ts'
import { startWorld, type World } from './world.ts'

interface Sizes {
  history: HistorySize
  routes: RoutesSize
  throughput: ThroughputSize
  footprint: FootprintSize
  lateness: LatenessSize
  peaks: PeaksSize
  mechanisms: MechanismsSize
  backlog: BacklogSize
  recovery: RecoverySize
  platforms: PlatformsSize
  logins: LoginsSize
  analytics: AnalyticsSize
  collection: CollectionSize
  workers: WorkersSize
  storage: StorageSize
  quotas: QuotasSize
  fairness: FairnessSize
}

const FULL: Sizes = {
  history: { posts: 30 },
  routes: { seconds: 1.5, rounds: 5, burstSeconds: 10 },
  throughput: { posts: 300, warmUp: 200, inFlight: 50, rounds: 5 },
  footprint: { rounds: 3 },
  lateness: {
    lone: 25,
    rows: [
      [
        { size: 1, times: 15 },
        { size: 3, times: 6 },
        { size: 10, times: 3 },
        { size: 30, times: 2 },
        { size: 100, times: 2 },
      ],
      [{ size: 300, times: 1 }],
      [{ size: 1_000, times: 1 }],
      [{ size: 2_000, times: 1 }],
      [{ size: 300, times: 1 }],
      [{ size: 1_000, times: 1 }],
    ],
  },
  peaks: [
    {
      latencyMs: 0,
      bursts: [{ size: 300 }, { size: 1_000 }, { size: 2_000 }, { size: 5_000 }],
    },
    { latencyMs: 50, bursts: [{ size: 1_000 }, { size: 2_000 }] },
    { latencyMs: 200, bursts: [{ size: 1_000 }, { size: 250, owners: 'one' }] },
    { latencyMs: 50, bursts: [{ size: 2_000 }], workers: 2 },
  ],
  mechanisms: { rounds: 5, burstRounds: 3, posts: 200, scheduled: 100, burst: 600 },
  backlog: { waiting: [100, 500, 1_000, 2_500, 5_000], posts: 200, rounds: 2 },
  recovery: { posts: 5_000, rounds: 2 },
  platforms: { posts: 200, inFlight: 20, burst: 1_000, users: 50, media: 10 },
  logins: { pairs: 200, parallel: 200, rounds: 5 },
  analytics: { users: 1_000, posts: 50, snapshots: 12, readers: 200 },
  collection: {
    // Not more than 300 users of one Mastodon server can connect within five minutes: its calls are limited (ADR "One ledger of call quotas for all processes").
    authors: {
      bluesky: { users: 30, posts: 50 },
      threads: { users: 60, posts: 50 },
      mastodon: { users: 250, posts: 200 },
    },
    rounds: 2,
  },
  workers: { users: 400, posts: 10, rounds: 2 },
  storage: { posts: 2_000 },
  quotas: { rounds: 5, calls: 5_000, lone: 200 },
  fairness: { burst: 5_000, singles: 20 },
}
const QUICK: Sizes = {
  history: { posts: 5 },
  routes: { seconds: 0.7, rounds: 1, burstSeconds: 2 },
  throughput: { posts: 100, warmUp: 50, inFlight: 50, rounds: 1 },
  footprint: { rounds: 1 },
  lateness: {
    lone: 5,
    rows: [
      [
        { size: 1, times: 3 },
        { size: 10, times: 1 },
        { size: 100, times: 1 },
      ],
    ],
  },
  peaks: [{ latencyMs: 50, bursts: [{ size: 50 }, { size: 50, owners: 'one' }] }],
  mechanisms: { rounds: 1, burstRounds: 1, posts: 50, scheduled: 20, burst: 50 },
  backlog: { waiting: [50, 200], posts: 50, rounds: 1 },
  recovery: { posts: 200, rounds: 1 },
  platforms: { posts: 20, inFlight: 10, burst: 60, users: 5, media: 2 },
  logins: { pairs: 30, parallel: 50, rounds: 1 },
  analytics: { users: 40, posts: 50, snapshots: 12, readers: 30 },
  collection: {
    authors: {
      bluesky: { users: 4, posts: 50 },
      threads: { users: 10, posts: 50 },
      mastodon: { users: 40, posts: 50 },
    },
    rounds: 1,
  },
  workers: { users: 20, posts: 50, rounds: 1 },
  storage: { posts: 200 },
  quotas: { rounds: 1, calls: 1_000, lone: 50 },
  fairness: { burst: 200, singles: 5 },
}

interface Found {
  figures: Figure[]
  charts: Chart[]
}

const withoutChart = async (figures: Promise<Figure[]>): Promise<Found> => ({ figures: await figures, charts: [] })

const MEASUREMENTS: Record<keyof Sizes, (world: World, sizes: Sizes) => Promise<Found>> = {
  history: (world, sizes) => withoutChart(measureHistory(world, sizes.history)),
  routes: (world, sizes) => withoutChart(measureRoutes(world, sizes.routes)),
  throughput: (world, sizes) => withoutChart(measureThroughput(world, sizes.throughput)),
  footprint: (world, sizes) => withoutChart(measureFootprint(world, sizes.footprint)),
  lateness: (world, sizes) => measureLateness(world, sizes.lateness),
  peaks: (world, sizes) => measurePeaks(world, sizes.peaks),
  mechanisms: (world, sizes) => withoutChart(measureMechanisms(world, sizes.mechanisms)),
  backlog: (world, sizes) => measureBacklog(world, sizes.backlog),
  recovery: (world, sizes) => withoutChart(measureRecovery(world, sizes.recovery)),
  platforms: (world, sizes) => withoutChart(measurePlatforms(world, sizes.platforms)),
  logins: (world, sizes) => withoutChart(measureLogins(world, sizes.logins)),
  analytics: (world, sizes) => withoutChart(measureAnalytics(world, sizes.analytics)),
  collection: (world, sizes) => withoutChart(measureCollection(world, sizes.collection)),
  workers: (world, sizes) => withoutChart(measureWorkers(world, sizes.workers)),
  storage: (world, sizes) => withoutChart(measureStorage(world, sizes.storage)),
  quotas: (world, sizes) => withoutChart(measureQuotas(world, sizes.quotas)),
  fairness: (world, sizes) => withoutChart(measureFairness(world, sizes.fairness)),
}

const FOLDER = new URL('results/', import.meta.url)
const VERSIONS_OF = ['@temporalio/worker', 'fastify', 'mongoose', 'mongodb', '@atproto/pds']

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      charts: { type: 'boolean', default: false },
      save: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  })
  const name = values.quick ? 'quick' : 'full'
  if (values.charts) return show(name)
  const unknown = positionals.filter((group) => !(group in MEASUREMENTS))
  if (unknown.length > 0) {
    throw new Error(
      `Unknown measurement: ${unknown.join(', ')}. Use one or more of ${Object.keys(MEASUREMENTS).join(', ')}`,
    )
  }
  const startedAt = new Date()
  const profiles = join(tmpdir(), `postonce-profiles-${startedAt.getTime()}`)
  const profiling = values.profile ? await startProfiling(profiles) : null
  const world = await startWorld(profiling)
  const interrupt = () => void world.stop().then(() => process.exit(130))
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  const found: Found = { figures: [], charts: [] }
  try {
    for (const [group, measure] of Object.entries(MEASUREMENTS)) {
      if (positionals.length > 0 && !positionals.includes(group)) continue
      const since = performance.now()
      const { figures, charts } = await measure(world, values.quick ? QUICK : FULL)
      found.figures.push(...figures)
      found.charts.push(...charts)
      console.log(`Measured ${group} in ${Math.round((performance.now() - since) / 1_000)} s`)
    }
  } finally {
    await world.stop()
  }
  console.log(`\n${tableOf(found.figures)}\n\n${detailsOf(found.figures)}\n`)
  if (profiling) {
    console.log(`${profiling.report()}\n\nThe profiles are in ${profiles}. Open them in a browser's developer tools.`)
    return
  }
  if (positionals.length > 0 && !values.save) return
  await mkdir(FOLDER, { recursive: true })
  const measured: Results = { ...(await circumstances(startedAt, world)), ...found }
  const results = positionals.length > 0 ? await mergedInto(name, measured) : measured
  await writeFile(new URL(`${name}.json`, FOLDER), `${JSON.stringify(results, null, 2)}\n`)
  await show(name)
  console.log(`All results are in ${fileURLToPath(new URL(`${name}.json`, FOLDER))}`)
}

/** Replaces the groups of the stored results that were measured again. A baseline always comes from the same run as its figure. */
async function mergedInto(name: string, measured: Results): Promise<Results> {
  const before = JSON.parse(await readFile(new URL(`${name}.json`, FOLDER), 'utf8')) as Results
  const order = Object.keys(MEASUREMENTS)
  const groups = new Set(measured.figures.map(({ group }) => group))
  const figures = [...before.figures.filter(({ group }) => !groups.has(group)), ...measured.figures]
  return {
    ...before,
    figures: figures.toSorted((one, other) => order.indexOf(one.group) - order.indexOf(other.group)),
    charts: [...new Map([...before.charts, ...measured.charts].map((chart) => [chart.id, chart])).values()],
    measuredLater: {
      ...before.measuredLater,
      ...Object.fromEntries([...groups].map((group) => [group, measured.startedAt])),
    },
  }
}

/** Updates docs/operations/capacity.md after a full run; after a short run, only writes the charts. */
async function show(name: string): Promise<void> {
  if (name === 'full') return updateFigures(false)
  const { charts } = JSON.parse(await readFile(new URL(`${name}.json`, FOLDER), 'utf8')) as Results
  for (const chart of charts) await writeFile(new URL(`${name}-${chart.id}.svg`, FOLDER), drawChart(chart))
}

async function circumstances(startedAt: Date, { versions }: World): Promise<Omit<Results, keyof Found>> {
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
      'MongoDB server': versions.mongodb,
      'Temporal server': versions.temporal,
      ...Object.fromEntries(VERSIONS_OF.map((name) => [name, lock.packages[`node_modules/${name}`]?.version ?? ''])),
    },
  }
}

await main()
// Native libraries and connection pools may keep the process alive although everything has stopped.
process.exit()
