import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createContext } from '../../src/context.ts'
import { SECOND } from '../../src/domain/shared/times.ts'
import { copySource } from '../../tests/support/copied-source.ts'
import { openTestSession } from '../../tests/support/sessions.ts'
import { LANES, measureRow } from '../bursts.ts'
import { describeCommands, describeCpu, measureCosts, type Costs } from '../costs.ts'
import { figureOfRounds, type Aim, type Figure } from '../figure.ts'
import { putLoad } from '../load.ts'
import { closedLoop, inTurns } from '../loops.ts'
import { MECHANISMS, type Mechanism } from '../mechanisms.ts'
import { INSTANT_PLATFORMS } from '../platforms.ts'
import { startChild } from '../processes.ts'
import { startReceiver, type Receiver } from '../receiver.ts'
import { openOurs, publishAll, type Ours } from '../sides.ts'
import { percentile } from '../stats.ts'
import { createUsers } from '../users.ts'
import type { World } from '../world.ts'

const IN_FLIGHT = 50
const SETTLE_MS = 500
const WARM_UP_POSTS = 100
const SLOW_MS = 50
const SPREAD_MS = 100
/** Enough time to create the posts, and to arm them at leisure. */
const LEAD_MS = 10 * SECOND
const LEAD_MS_PER_POST = 40
const CREATE_SECONDS = 2
/** What a copy needs so that its processes run. */
const FOLDERS = ['bench', 'sandbox', 'tests/support']

export interface MechanismsSize {
  rounds: number
  /** Rounds with bursts, which take longer. */
  burstRounds: number
  /** Immediate posts in a round. */
  posts: number
  /** Posts in a round that are scheduled on three platforms. */
  scheduled: number
  /** Posts of one instant. */
  burst: number
}

type Version = 'with' | 'without'
type Versions<T> = Record<Version, T>
const VERSIONS: Version[] = ['without', 'with']

interface Round {
  value: number
  costs?: Costs
}

/** Measures the service with each mechanism switched off, compared with the complete service. */
export async function measureMechanisms(world: World, size: MechanismsSize): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const mechanism of MECHANISMS) {
    const root = mkdtempSync(join(tmpdir(), 'postonce-bench-without-'))
    try {
      figures.push(await measureWithout(world, mechanism, copySource(root, [mechanism.off], FOLDERS), size))
    } finally {
      rmSync(root, { recursive: true, force: true })
    }
  }
  return figures
}

const MEASURE: Record<Mechanism['on'], Kind> = {
  immediate: { what: 'immediate posts', unit: 'posts/s', isCost: false, open: openImmediate },
  commands: { what: 'immediate posts', unit: 'MongoDB commands a post', isCost: true, open: openCommands },
  scheduled: {
    what: 'posts scheduled on three platforms, processor time',
    unit: 'ms a post',
    isCost: true,
    open: openScheduled,
  },
  burst: { what: 'posts at one instant, p95', unit: 'ms late', isCost: true, isBurst: true, open: openBurst(0) },
  slowBurst: {
    what: `posts at one instant, platform latency ${SLOW_MS} ms, p95`,
    unit: 'ms late',
    isCost: true,
    isBurst: true,
    open: openBurst(SLOW_MS),
  },
  create: { what: 'created posts', unit: 'requests/s', isCost: false, open: openCreate },
}

interface Kind {
  what: string
  unit: string
  /** Whether less is better. */
  isCost: boolean
  isBurst?: boolean
  open: Open
}

/** Starts one version, from the folder of a copy or from this one. */
type Open = (
  world: World,
  size: MechanismsSize,
  root: string | null,
) => Promise<{ measure(): Promise<Round>; stop(): Promise<void> }>

async function measureWithout(
  world: World,
  { on, off: { anchor } }: Mechanism,
  root: string,
  size: MechanismsSize,
): Promise<Figure> {
  const { what, unit, isCost, isBurst = false, open } = MEASURE[on]
  const rounds: Versions<Round[]> = { with: [], without: [] }
  const versions = { with: await open(world, size, null), without: await open(world, size, root) }
  try {
    await inTurns(VERSIONS, isBurst ? size.burstRounds : size.rounds, async (version) => {
      await delay(SETTLE_MS)
      rounds[version].push(await versions[version].measure())
    })
  } finally {
    for (const version of VERSIONS) await versions[version].stop()
  }
  const values = (version: Version) => rounds[version].map(({ value }) => value)
  const costs = (version: Version) => rounds[version].flatMap((round) => round.costs ?? [])
  const described = (version: Version) =>
    costs(version).length === 0
      ? {}
      : { ...describeCpu(version, costs(version)), ...prefixed(version, describeCommands(costs(version))) }
  return figureOfRounds({
    group: 'mechanisms',
    name: `${anchor} (baseline: without), ${what}`,
    unit,
    ours: values('with'),
    baseline: values('without'),
    aim: isCost ? FIVE_PERCENT_LESS : FIVE_PERCENT_MORE,
    details: { ...described('with'), ...described('without') },
  })
}

const FIVE_PERCENT_MORE: Aim = { text: 'gains 5 %', met: ({ ratio }) => ratio >= 1.05 }
const FIVE_PERCENT_LESS: Aim = { text: 'gains 5 %', met: ({ ratio }) => ratio <= 0.95 }

const prefixed = (prefix: string, details: Record<string, number | null>) =>
  Object.fromEntries(Object.entries(details).map(([name, value]) => [`${prefix}, ${name}`, value]))

async function openImmediate(world: World, { posts }: MechanismsSize, root: string | null) {
  const ours = await openOurs(world, { lanes: IN_FLIGHT, root })
  await publishAll(ours, WARM_UP_POSTS, IN_FLIGHT)
  return {
    async measure() {
      const startedAt = performance.now()
      const costs = await measureCosts(world, { worker: ours.worker, context: ours.context, posts }, () =>
        publishAll(ours, posts, IN_FLIGHT),
      )
      return { value: (posts * 1_000) / (performance.now() - startedAt), costs }
    },
    stop: () => stopVerified(ours),
  }
}

async function openCommands(...args: Parameters<Open>) {
  const immediate = await openImmediate(...args)
  return {
    ...immediate,
    async measure(): Promise<Round> {
      const { costs } = await immediate.measure()
      return { value: Object.values(costs.commands).reduce((sum, count) => sum + count), costs }
    },
  }
}

async function openScheduled(world: World, { scheduled }: MechanismsSize, root: string | null) {
  const options = { scheduledOn: INSTANT_PLATFORMS, spreadMs: SPREAD_MS, lanes: IN_FLIGHT, root }
  const ours = await openOurs(world, options)
  const measured = { worker: ours.worker, context: ours.context, posts: scheduled }
  await publishAll(ours, WARM_UP_POSTS, IN_FLIGHT)
  return {
    async measure(): Promise<Round> {
      const costs = await measureCosts(world, measured, async () => {
        const dueAt = Date.now() + LEAD_MS + scheduled * LEAD_MS_PER_POST
        await closedLoop(scheduled, IN_FLIGHT, async (_index, lane) => void (await ours.schedule(lane, dueAt)))
        await delay(Math.max(0, dueAt - Date.now()))
        await ours.verify()
      })
      const { starter: _, ...parts } = costs.cpu
      return { value: Object.values(parts).reduce<number>((sum, ms) => sum + (ms ?? 0), 0), costs }
    },
    stop: () => ours.stop(),
  }
}

function openBurst(latencyMs: number): Open {
  return async (world, { burst }, root) => {
    const receiver: Receiver = await startReceiver({ latencyMs })
    const ours = await openOurs(world, { lanes: LANES, receiver: receiver.url, root })
    await publishAll(ours, WARM_UP_POSTS, LANES)
    return {
      async measure(): Promise<Round> {
        const [measured] = await measureRow(ours, receiver, [{ size: burst, times: 1 }])
        return { value: percentile(measured!.punctuality.late, 0.95) }
      },
      async stop(): Promise<void> {
        await stopVerified(ours)
        await receiver.stop()
      },
    }
  }
}

async function openCreate(world: World, _size: MechanismsSize, root: string | null) {
  const config = await world.config()
  const context = await createContext(config)
  await context.database.createSchema()
  const api = await startChild('api', config, { root, env: { BENCH_WITHOUT_TEMPORAL: 'yes' } })
  const users = await createUsers(context, IN_FLIGHT)
  const body = JSON.stringify({ content: { text: 'Bench' }, selectedPlatforms: INSTANT_PLATFORMS })
  const requests = await Promise.all(
    users.map(async (user) => {
      const { accessToken } = await openTestSession(context, user)
      const headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' }
      return { method: 'POST' as const, path: '/api/posts', headers, body }
    }),
  )
  const load = () => Promise.race([putLoad(String(api.ready), requests, 201, CREATE_SECONDS), api.failed])
  await load()
  return {
    async measure(): Promise<Round> {
      const { answered, seconds } = await load()
      return { value: answered / seconds }
    },
    async stop(): Promise<void> {
      await api.stop()
      await context.close()
    },
  }
}

async function stopVerified(ours: Ours): Promise<void> {
  try {
    await ours.verify()
  } finally {
    await ours.stop()
  }
}
