import { trimTrailingSlashes } from '../../domain/shared/text.ts'
import type { MediaSource, PlatformAdapter, RedirectConnect } from '../contract.ts'
import { createGraphApi } from '../shared/graph/api.ts'
import { createContainerPosts, type ContainerTimes } from '../shared/graph/container-posts.ts'
import { createHttpClient } from '../shared/http.ts'
import { createAccounts } from './accounts.ts'
import { threadsDialect } from './dialect.ts'
import { THREADS_ERRORS } from './errors.ts'
import { createMetrics } from './metrics.ts'

export interface ThreadsOptions extends ContainerTimes {
  /** Where browsers go, and where calls go. */
  authorizeUrl: string
  graphUrl: string
  /** Of this service as an application there; not those of Facebook. */
  appId: string
  appSecret: string
  media: MediaSource
  /** Names this service in every call. */
  userAgent: string
}

const VERSION = 'v1.0'
const CONNECTIONS = 64
const MAKING_CONNECTIONS = 16
const READING_CONNECTIONS = 8
/** platforms.md 3d. */
const SHAPE = { minWidth: 320, maxWidth: 1_440, minAspect: 1 / 10, maxAspect: 10 }

/** Threads, by OAuth and containers. */
export function createThreads({ authorizeUrl, graphUrl, appId, appSecret, userAgent, ...options }: ThreadsOptions) {
  const calls = createHttpClient({ userAgent, connections: CONNECTIONS })
  const making = createHttpClient({ userAgent, connections: MAKING_CONNECTIONS })
  // Apart, so that counting what is out keeps nothing from getting out.
  const reading = createHttpClient({ userAgent, connections: READING_CONNECTIONS })
  const base = trimTrailingSlashes(graphUrl)
  const graph = { label: 'Threads', rules: THREADS_ERRORS, tokenIn: 'parameter' } as const
  const api = createGraphApi({ ...graph, http: calls, baseUrl: `${base}/${VERSION}` })
  const posts = createContainerPosts({
    ...options,
    platform: 'threads',
    api,
    makingApi: createGraphApi({ ...graph, http: making, baseUrl: `${base}/${VERSION}` }),
    dialect: threadsDialect,
    image: { types: ['image/jpeg', 'image/png'], shape: SHAPE },
  })
  const tokenApi = createGraphApi({ ...graph, http: calls, baseUrl: base })
  const { connect, ...accounts } = createAccounts({ api, tokenApi, authorizeUrl, appId, appSecret })
  const metrics = createMetrics(createGraphApi({ ...graph, http: reading, baseUrl: `${base}/${VERSION}` }))

  const adapter: PlatformAdapter = { platform: 'threads', ...posts, ...accounts, ...metrics }
  const redirect: RedirectConnect = connect
  return {
    adapter,
    redirect,
    close: async () => void (await Promise.all([calls, making, reading].map((client) => client.close()))),
  }
}
