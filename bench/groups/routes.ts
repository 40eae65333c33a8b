import { setTimeout as delay } from 'node:timers/promises'
import { Pool, type Dispatcher } from 'undici'
import { createPost } from '../../src/commands/posts/create-post.ts'
import { createContext } from '../../src/context.ts'
import { DAY } from '../../src/domain/shared/times.ts'
import { openTestSession } from '../../tests/support/sessions.ts'
import { compare, measureRounds, type Figure, type Sample, type Scale } from '../figure.ts'
import { closedLoop } from '../loops.ts'
import { INSTANT_PLATFORMS } from '../platforms.ts'
import { startChild, type Child } from '../processes.ts'
import { createUsers } from '../users.ts'
import type { World } from '../world.ts'

const CONNECTIONS = 20
const STORED_POSTS = 30
/** Temporal finishes some work after its response. */
const SETTLE_MS = 300
const BETWEEN_COUNTS_MS = 500
const SECONDS: Record<Scale, number> = { full: 1.5, quick: 0.7 }

/** A process under load, and the requests that each connection repeats. */
interface Arm {
  api: Child
  requests: Dispatcher.RequestOptions[]
  status: number
  /** Waits for the work that goes on after the responses. */
  idle?: () => Promise<void>
}

const rate = (name: string, least?: number) => ({
  name,
  unit: 'requests/s',
  value: 'rate',
  ...(least !== undefined && { bound: { of: 'ratio', atLeast: least } as const }),
})

/** Measures requests that need no worker, compared with bare Fastify and the raw driver. */
export async function measureRoutes(world: World, scale: Scale): Promise<Figure[]> {
  const config = await world.config()
  const context = await createContext(config)
  await context.database.createSchema()
  const api = await startChild('api', config)
  const withoutTemporal = await startChild('api', config, { BENCH_WITHOUT_TEMPORAL: 'yes' })
  const bare = await startChild('bare-api', config)
  try {
    const scheduledAt = new Date(Date.now() + 30 * DAY).toISOString()
    const input = { content: { text: 'Bench' }, selectedPlatforms: [...INSTANT_PLATFORMS], scheduledAt }
    const clients = await Promise.all(
      (await createUsers(context, CONNECTIONS)).map(async (user) => {
        const { accessToken } = await openTestSession(context, user)
        return { userId: user._id, postId: '', headers: { authorization: `Bearer ${accessToken}` } }
      }),
    )
    await closedLoop(CONNECTIONS * STORED_POSTS, CONNECTIONS, async (_index, lane) => {
      const client = clients[lane]!
      const { data } = await createPost(context, {
        userId: client.userId,
        input,
        metadata: { source: 'api', client: 'api' },
        idempotency: null,
      })
      client.postId = data.postId
    })

    const get = (process: Child, pathOf: (client: { postId: string }) => string): Arm => ({
      api: process,
      status: 200,
      requests: clients.map((client) => ({ method: 'GET', path: pathOf(client), headers: client.headers })),
    })
    const posts = context.database.connection.collection('posts')
    const create = (process: Child, path = '/api/posts'): Arm => ({
      api: process,
      status: 201,
      idle: () => untilSteady(() => posts.countDocuments({ startPending: true })),
      requests: clients.map(({ headers }) => ({
        method: 'POST',
        path,
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(input),
      })),
    })
    const reads: [string, (client: { postId: string }) => string, number][] = [
      ['read a status', ({ postId }) => `/api/posts/${postId}/status`, 0.75],
      ['list posts', () => '/api/posts?limit=20', 0.65],
    ]
    const figures: Figure[] = []
    for (const [name, path, share] of reads) {
      const arms = { ours: get(api, path), bare: get(bare, path) }
      const found = await measureArms(arms, scale, (samples) => [
        compare(rate(`${name}; bare Fastify and driver`, share), samples.ours, samples.bare),
      ])
      figures.push(...found)
    }
    const arms = {
      ours: create(api),
      bare: create(bare),
      transaction: create(bare, '/transaction/api/posts'),
      started: create(bare, '/started/api/posts'),
      withoutTemporal: create(withoutTemporal),
    }
    const created = await measureArms(arms, scale, ({ ours, bare, transaction, started, withoutTemporal: without }) => [
      compare(rate('create a post; bare inserts', 0.5), ours, bare),
      compare(rate('create a post; inserts in a transaction'), ours, transaction),
      compare(rate('create a post; inserts in a transaction and a workflow start', 0.9), ours, started),
      compare(rate('create a post without Temporal; bare inserts'), without, bare),
      compare(rate('create a post without Temporal; inserts in a transaction', 0.9), without, transaction),
    ])
    return [...figures, ...created]
  } finally {
    await bare.stop()
    await withoutTemporal.stop()
    await api.stop()
    await context.close()
  }
}

async function measureArms<Name extends string>(
  arms: Record<Name, Arm>,
  scale: Scale,
  toFigures: (samples: Record<Name, Sample[]>) => Figure[],
): Promise<Figure[]> {
  const entries = Object.entries(arms) as [Name, Arm][]
  const sides = entries.map(([name, arm]) => [name, () => load(arm, SECONDS[scale])] as const)
  // The first load of a process is slower.
  for (const [, warmUp] of sides) await warmUp()
  return measureRounds(Object.fromEntries(sides) as Record<Name, () => Promise<Sample>>, scale, toFigures)
}

/** Repeats the requests for some seconds, each on a connection of its own, and returns how many were answered per second. */
async function load({ api, requests, status, idle }: Arm, seconds: number): Promise<Sample> {
  await delay(SETTLE_MS)
  const pool = new Pool(String(api.ready), { connections: requests.length })
  const startedAt = performance.now()
  let answered = 0
  const repeat = async (request: Dispatcher.RequestOptions) => {
    while (performance.now() < startedAt + seconds * 1_000) {
      const response = await pool.request(request)
      const text = await response.body.text()
      if (response.statusCode !== status) throw new Error(`${request.method} ${request.path}: ${text}`)
      answered += 1
    }
  }
  try {
    await Promise.race([Promise.all(requests.map(repeat)), api.failed])
    return { rate: (answered * 1_000) / (performance.now() - startedAt) }
  } finally {
    await pool.close()
    await idle?.()
  }
}

/** Resolves when the count is 0, or no longer falls: starts that reached their deadline are left to the sweeper, which does not run. */
async function untilSteady(count: () => Promise<number>): Promise<void> {
  let before = Infinity
  for (let left = await count(); left > 0 && left < before; left = await count()) {
    before = left
    await delay(BETWEEN_COUNTS_MS)
  }
}
