import { trimTrailingSlashes } from '../../domain/shared/text.ts'
import type { MediaSource, PlatformAdapter, RedirectConnect } from '../contract.ts'
import type { CallQuotas } from '../shared/call-quota.ts'
import { createGraphApi } from '../shared/graph/api.ts'
import { createContainerPosts, type ContainerTimes } from '../shared/graph/container-posts.ts'
import { toPublicationQuota } from '../shared/quota-subjects.ts'
import { createPostUrls } from '../shared/graph/post-urls.ts'
import { createGraphQuota } from '../shared/graph/quotas.ts'
import { removePost } from '../shared/graph/remove-post.ts'
import { CALL_CONNECTIONS, createHttpClient } from '../shared/http.ts'
import { createAccounts } from './accounts.ts'
import { threadsDialect, toProfileUrl } from './container-dialect.ts'
import { THREADS_ERRORS } from './errors.ts'
import { createMetrics } from './metrics.ts'

export interface ThreadsOptions extends ContainerTimes {
  /** Base URL of the pages for people, with the login dialog. */
  authorizeUrl: string
  /** Base URL of the API. */
  graphUrl: string
  /** The credentials of this service as an application there; they differ from those of Facebook. */
  appId: string
  appSecret: string
  /** Additional permissions to request; only the search for replies and their quota depend on them. */
  extraScopes?: string[]
  media: MediaSource
  /** Sent as `User-Agent` with every call. */
  userAgent: string
  /** Creates the HTTP clients. The simulation replaces it; absent: real connections. */
  createClient?: typeof createHttpClient
  /** Shares the quotas of calls with other processes. Absent: calls are not limited. */
  quotas?: CallQuotas
}

const VERSION = 'v1.0'
const CONTAINER_CONNECTIONS = 16
const READING_CONNECTIONS = 8
/** The image sizes that Threads accepts (docs/reference/platforms.md). */
const SHAPE = { minWidth: 320, maxWidth: 1_440, minAspect: 1 / 10, maxAspect: 10 }

/** Creates the adapter for Threads, by OAuth and containers. */
export function createThreads({
  authorizeUrl,
  graphUrl,
  appId,
  appSecret,
  extraScopes = [],
  userAgent,
  quotas,
  createClient = createHttpClient,
  ...options
}: ThreadsOptions) {
  const client = createClient({ userAgent, connections: CALL_CONNECTIONS })
  const containerClient = createClient({ userAgent, connections: CONTAINER_CONNECTIONS })
  // A separate client, so that reading counts never delays publishing.
  const reading = createClient({ userAgent, connections: READING_CONNECTIONS })
  const base = trimTrailingSlashes(graphUrl)
  const quota = createGraphQuota({ platform: 'threads', quotas, rules: THREADS_ERRORS, appId, host: 'threads' })
  const graph = { label: 'Threads', rules: THREADS_ERRORS, tokenIn: 'parameter' } as const
  const api = createGraphApi({ ...graph, http: quota.watch(client), baseUrl: `${base}/${VERSION}` })
  const posts = createContainerPosts({
    ...options,
    platform: 'threads',
    api,
    containerApi: createGraphApi({ ...graph, http: quota.watch(containerClient), baseUrl: `${base}/${VERSION}` }),
    dialect: threadsDialect,
    urls: createPostUrls(api, toProfileUrl),
    image: { types: ['image/jpeg', 'image/png'], shape: SHAPE },
  })
  const tokenApi = createGraphApi({ ...graph, http: quota.watch(client), baseUrl: base })
  const { connect, ...accounts } = createAccounts({ api, tokenApi, authorizeUrl, appId, appSecret, extraScopes })
  const metrics = createMetrics(
    createGraphApi({ ...graph, http: quota.throttle(reading), baseUrl: `${base}/${VERSION}` }),
  )

  const adapter: PlatformAdapter = {
    platform: 'threads',
    ...posts,
    ...accounts,
    ...metrics,
    // https://developers.facebook.com/documentation/threads/delete-posts
    remove: (id, account, { signal }) => removePost(api, id, { account, permission: 'threads_delete', signal }),
    publicationQuota: ({ accountId }) => toPublicationQuota('threads', accountId),
  }
  const redirect: RedirectConnect = connect
  return {
    adapter,
    redirect,
    close: async () => void (await Promise.all([client, containerClient, reading].map((client) => client.close()))),
  }
}
