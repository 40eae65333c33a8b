import { setTimeout as delay } from 'node:timers/promises'
import { createPost } from '../../src/commands/posts/create-post.ts'
import { createContext } from '../../src/context.ts'
import { DAY } from '../../src/domain/shared/times.ts'
import { figureOfRounds, type Aim, type Figure } from '../figure.ts'
import { closedLoop, inTurns } from '../loops.ts'
import { putLoad, type HttpRequest } from '../load.ts'
import { INSTANT_PLATFORMS } from '../platforms.ts'
import { cpuMs, startChild, type Child } from '../processes.ts'
import { median, rounded } from '../stats.ts'
import { createUsers } from '../users.ts'
import type { World } from '../world.ts'
import { openTestSession } from '../../tests/support/sessions.ts'

const CONNECTIONS = 20
const STORED_POSTS = 30
const WARM_UP_SECONDS = 1.5
/** Temporal finishes some work after its response. */
const SETTLE_MS = 300
const BETWEEN_COUNTS_MS = 500

export interface RoutesSize {
  seconds: number
  rounds: number
  /** The duration of one longer load on the route that creates posts. */
  burstSeconds: number
}

/** A process under load and the requests that each connection repeats. */
interface Arm {
  api: Child
  requests: HttpRequest[]
  status: number
  /** Waits for the work that goes on after the responses. */
  idle?: () => Promise<void>
}

interface Rate {
  perSecond: number
  cpu: Record<'api' | 'mongod' | 'temporal' | 'load', number | null>
}

/** Measures requests that need no worker, compared with bare Fastify and the raw driver. */
export async function measureRoutes(world: World, size: RoutesSize): Promise<Figure[]> {
  const { profiling } = world
  const config = await world.config()
  const context = await createContext(config)
  await context.database.createSchema()
  const api = await startChild('api', config, { profiling })
  const withoutTemporal = await startChild('api', config, { profiling, env: { BENCH_WITHOUT_TEMPORAL: 'yes' } })
  const bare = await startChild('bare-api', config, { profiling })
  try {
    const users = await createUsers(context, CONNECTIONS)
    const scheduledAt = new Date(Date.now() + 30 * DAY).toISOString()
    const input = { content: { text: 'Bench' }, selectedPlatforms: [...INSTANT_PLATFORMS], scheduledAt }
    const clients = await Promise.all(
      users.map(async (user) => {
        const { accessToken } = await openTestSession(context, user)
        return { userId: user._id, postId: '', headers: { authorization: `Bearer ${accessToken}` } }
      }),
    )
    await closedLoop(CONNECTIONS * STORED_POSTS, CONNECTIONS, async (_index, lane) => {
      const client = clients[lane]!
      const { data } = await createPost(context, { userId: client.userId, input, source: 'api', idempotency: null })
      client.postId = data.postId
    })

    const get = (process: Child, pathOf: (client: { postId: string }) => string): Arm => ({
      api: process,
      status: 200,
      requests: clients.map((client) => ({ method: 'GET', path: pathOf(client), headers: client.headers })),
    })
    const posts = context.database.connection.collection('posts')
    const countUnstarted = () => posts.countDocuments({ startPending: true })
    const create = (process: Child, path: string): Arm => ({
      api: process,
      status: 201,
      idle: () => untilSteady(countUnstarted),
      requests: clients.map(({ headers }) => ({
        method: 'POST',
        path,
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(input),
      })),
    })
    const statusPath = ({ postId }: { postId: string }) => `/api/posts/${postId}/status`
    const listPath = () => '/api/posts?limit=20'

    const status = await measure(world, size, 'read status', {
      ours: get(api, statusPath),
      bare: get(bare, statusPath),
    })
    const list = await measure(world, size, 'list posts', { ours: get(api, listPath), bare: get(bare, listPath) })
    const created = await measure(world, size, 'create post', {
      ours: create(api, '/api/posts'),
      bare: create(bare, '/api/posts'),
      transaction: create(bare, '/transaction/api/posts'),
      started: create(bare, '/started/api/posts'),
      withoutTemporal: create(withoutTemporal, '/api/posts'),
    })
    const burst = await measure(
      world,
      { seconds: size.burstSeconds, rounds: 1 },
      `create post for ${size.burstSeconds} s`,
      {
        ours: create(api, '/api/posts'),
        bare: create(bare, '/api/posts'),
        started: create(bare, '/started/api/posts'),
      },
    )
    return [
      compare('read status', status.ours, status.bare, atLeast(0.75)),
      compare('list posts', list.ours, list.bare, atLeast(0.65)),
      compare('create post, against bare inserts', created.ours, created.bare, atLeast(0.5)),
      compare('create post, against inserts in a transaction', created.ours, created.transaction),
      compare('create post, against inserts and a workflow start', created.ours, created.started, {
        text: 'at least 0.9 of the same inserts and the same start',
        met: ({ ratio }) => ratio >= 0.9,
      }),
      compare(`create post for ${size.burstSeconds} s, against bare inserts`, burst.ours, burst.bare, atLeast(0.8)),
      compare(`create post for ${size.burstSeconds} s, against inserts and a start`, burst.ours, burst.started),
      compare('create post without Temporal, against bare inserts', created.withoutTemporal, created.bare),
      compare(
        'create post without Temporal, against inserts in a transaction',
        created.withoutTemporal,
        created.transaction,
      ),
    ]
  } finally {
    await bare.stop()
    await withoutTemporal.stop()
    await api.stop()
    await context.close()
  }
}

const atLeast = (share: number): Aim => ({
  text: `at least ${share} of bare Fastify and driver`,
  met: ({ ratio }) => ratio >= share,
})

async function measure<Key extends string>(
  world: World,
  size: Pick<RoutesSize, 'seconds' | 'rounds'>,
  name: string,
  arms: Record<Key, Arm>,
): Promise<Record<Key, Rate[]>> {
  const keys = Object.keys(arms) as Key[]
  const rates = Object.fromEntries(keys.map((key) => [key, []])) as unknown as Record<Key, Rate[]>
  for (const key of keys) {
    await load(arms[key], WARM_UP_SECONDS)
    await arms[key].idle?.()
  }
  await inTurns(keys, size.rounds, async (key) => {
    await delay(SETTLE_MS)
    rates[key].push(await measureRate(world, arms[key], `routes, ${name}, ${key}`, size.seconds))
    await arms[key].idle?.()
  })
  return rates
}

/** Resolves when the count is 0, or no longer falls: starts that reached their deadline are left to the sweeper, which does not run. */
async function untilSteady(count: () => Promise<number>): Promise<void> {
  let before = Infinity
  for (let left = await count(); left > 0 && left < before; left = await count()) {
    before = left
    await delay(BETWEEN_COUNTS_MS)
  }
}

const load = ({ api, requests, status }: Arm, seconds: number) =>
  Promise.race([putLoad(String(api.ready), requests, status, seconds), api.failed])

async function measureRate(world: World, arm: Arm, label: string, forSeconds: number): Promise<Rate> {
  const now = () => ({
    api: cpuMs(arm.api.pid),
    mongod: cpuMs(world.pids.mongod),
    temporal: cpuMs(world.pids.temporal),
    load: (process.cpuUsage().user + process.cpuUsage().system) / 1_000,
  })
  const work = () => load(arm, forSeconds)
  const before = now()
  const done = await (world.profiling?.measure(label, arm.api, ({ answered }) => answered, work) ?? work())
  const after = now()
  const perRequest = (part: keyof Rate['cpu']) => {
    const [from, to] = [before[part], after[part]]
    return from === null || to === null ? null : (to - from) / done.answered
  }
  return {
    perSecond: done.answered / done.seconds,
    cpu: {
      api: perRequest('api'),
      mongod: perRequest('mongod'),
      temporal: perRequest('temporal'),
      load: perRequest('load'),
    },
  }
}

function compare(name: string, ours: Rate[], bare: Rate[], aim?: Aim): Figure {
  const perSecond = (rates: Rate[]) => rates.map((rate) => rate.perSecond)
  return figureOfRounds({
    group: 'routes',
    name,
    unit: 'requests/s',
    ours: perSecond(ours),
    baseline: perSecond(bare),
    ...(aim ? { aim } : {}),
    details: { connections: CONNECTIONS, ...cpuOf('ours', ours), ...cpuOf('bare', bare) },
  })
}

function cpuOf(side: string, rates: Rate[]): Record<string, number | null> {
  const parts = ['api', 'mongod', 'temporal', 'load'] as const
  return Object.fromEntries(
    parts.map((part) => {
      const known = rates.map(({ cpu }) => cpu[part]).filter((ms) => ms !== null)
      return [`${side} CPU ms a request, ${part}`, known.length === 0 ? null : rounded(median(known))]
    }),
  )
}
