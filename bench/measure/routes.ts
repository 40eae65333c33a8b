import { Pool, type Dispatcher } from 'undici'
import { createPost } from '../../src/commands/create-post.ts'
import { openSession } from '../../src/commands/open-session.ts'
import { createContext } from '../../src/context.ts'
import { DAY } from '../../src/domain/times.ts'
import { closedLoop } from '../clients.ts'
import { figure, type Figure } from '../figure.ts'
import { startChild, type Child } from '../processes.ts'
import { median, rounded } from '../stats.ts'
import { createUsers } from '../users.ts'
import type { World } from '../world.ts'

const CONNECTIONS = 20
const STORED_POSTS = 30

export interface RoutesSize {
  seconds: number
  rounds: number
}

/** Requests that need no worker: what comes between a client and the database, against the least that could. */
export async function measureRoutes(world: World, size: RoutesSize): Promise<Figure[]> {
  const config = await world.config()
  const context = await createContext(config)
  await context.database.createIndexes()
  const api = await startChild('api', config, world)
  const bare = await startChild('bare-api', config, world)
  try {
    const users = await createUsers(context, CONNECTIONS)
    const clients = await Promise.all(
      users.map(async (user) => {
        const { accessToken } = await openSession(context, user, { ipAddress: '127.0.0.1', userAgent: 'bench' })
        return { user, headers: { authorization: `Bearer ${accessToken}` } }
      }),
    )
    const scheduledAt = new Date(Date.now() + 30 * DAY).toISOString()
    const input = { content: { text: 'Bench' }, selectedPlatforms: ['mastodon' as const], scheduledAt }
    const postOf = new Map<string, string>()
    // Creates of one user contend for the user's record, so each user's are made one after the other.
    await closedLoop(users.length, users.length / 4, async (index) => {
      const userId = users[index]?._id ?? ''
      for (let made = 0; made < STORED_POSTS; made++) {
        const { data } = await createPost(context, { userId, input, source: 'api', idempotency: null })
        postOf.set(userId, data.postId)
      }
    })

    const body = JSON.stringify(input)
    const routes: Route[] = [
      {
        name: 'read status',
        aim: 0.75,
        status: 200,
        of: (client) => get(client, `/api/posts/${postOf.get(client.user._id)}/status`),
      },
      { name: 'list posts', aim: 0.65, status: 200, of: (client) => get(client, '/api/posts?limit=20') },
      {
        name: 'create post',
        aim: 0.5,
        status: 201,
        of: (client) => ({
          method: 'POST',
          path: '/api/posts',
          headers: { ...client.headers, 'content-type': 'application/json' },
          body,
        }),
      },
    ]
    const figures: Figure[] = []
    for (const route of routes) figures.push(await compare(world, route, clients, size, { ours: api, bare }))
    return figures
  } finally {
    await bare.stop()
    await api.stop()
    await context.close()
  }
}

interface Client {
  user: { _id: string }
  headers: Record<string, string>
}

interface Route {
  name: string
  aim: number
  status: number
  of(client: Client): Dispatcher.RequestOptions
}

const get = (client: Client, path: string): Dispatcher.RequestOptions => ({
  method: 'GET',
  path,
  headers: client.headers,
})

async function compare(
  world: World,
  route: Route,
  clients: Client[],
  size: RoutesSize,
  apis: { ours: Child; bare: Child },
): Promise<Figure> {
  const bare: number[] = []
  const ours: number[] = []
  const load = (api: Child, seconds: number) => put(String(api.ready), route, clients, seconds)
  const rate = async (side: 'ours' | 'bare') => {
    const api = apis[side]
    const measured = () => load(api, size.seconds)
    const label = `routes, ${route.name}, ${side}`
    const done = await (world.profiling?.measure(label, api, ({ answered }) => answered, measured) ?? measured())
    return done.answered / done.took
  }
  await load(apis.bare, 0.5)
  await load(apis.ours, 0.5)
  for (let round = 0; round < size.rounds; round++) {
    bare.push(await rate('bare'))
    ours.push(await rate('ours'))
  }
  return figure({
    group: 'routes',
    name: route.name,
    unit: 'requests/s',
    ours: median(ours),
    baseline: median(bare),
    aim: { text: `at least ${route.aim} of bare Fastify and driver`, met: ({ ratio }) => ratio >= route.aim },
    details: {
      oursRounds: ours.map(rounded).join(' '),
      bareRounds: bare.map(rounded).join(' '),
      connections: CONNECTIONS,
    },
  })
}

/** A closed loop: each client sends its next request when the last was answered. */
async function put(url: string, route: Route, clients: Client[], seconds: number) {
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 })
  const startedAt = performance.now()
  const end = startedAt + seconds * 1_000
  let answered = 0
  await Promise.all(
    clients.map(async (client) => {
      const request = route.of(client)
      while (performance.now() < end) {
        const { statusCode, body } = await pool.request(request)
        await body.dump()
        if (statusCode !== route.status) throw new Error(`${route.name} answered ${statusCode}`)
        answered += 1
      }
    }),
  )
  const took = (performance.now() - startedAt) / 1_000
  await pool.close()
  return { answered, took }
}
