import { trimTrailingSlashes } from '../../domain/shared/text.ts'
import type { MediaSource, PlatformAdapter } from '../contract.ts'
import type { CallQuotas } from '../shared/call-quota.ts'
import { createGraphApi } from '../shared/graph/api.ts'
import { createComments, withComments } from '../shared/graph/comments.ts'
import { createContainerPosts, type ContainerTimes } from '../shared/graph/container-posts.ts'
import { createPostUrls } from '../shared/graph/post-urls.ts'
import { toPublicationQuota } from '../shared/quota-subjects.ts'
import { createGraphQuota } from '../shared/graph/quotas.ts'
import { CALL_CONNECTIONS, createHttpClient } from '../shared/http.ts'
import type { InFlightTimes } from '../shared/in-flight.ts'
import { createAccounts } from './accounts.ts'
import { createCommentDialect } from './comment-dialect.ts'
import { instagramDialect, toProfileUrl } from './container-dialect.ts'
import { INSTAGRAM_ERRORS } from './errors.ts'
import { createMetrics } from './metrics.ts'

export interface InstagramOptions extends ContainerTimes, InFlightTimes {
  graphUrl: string
  /** Version of the Graph API. */
  version: string
  /** The credentials of this service as an application on Facebook, through which accounts are linked. */
  appId: string
  appSecret: string
  media: MediaSource
  /** Sent as `User-Agent` with every call. */
  userAgent: string
  /** Creates the HTTP clients. The simulation replaces it; absent: real connections. */
  createClient?: typeof createHttpClient
  /** Shares the quotas of calls with other processes. Absent: calls are not limited. */
  quotas?: CallQuotas
}

const CONTAINER_CONNECTIONS = 16
const READING_CONNECTIONS = 8
/** The image sizes that Instagram accepts (docs/reference/platforms.md). */
const SHAPE = { minWidth: 320, maxWidth: 1_440, minAspect: 4 / 5, maxAspect: 1.91 }

/** Creates the adapter for Instagram, by containers. Its accounts come with those of Facebook. */
export function createInstagram({
  graphUrl,
  version,
  appId,
  appSecret,
  userAgent,
  quotas,
  createClient = createHttpClient,
  ...options
}: InstagramOptions) {
  const client = createClient({ userAgent, connections: CALL_CONNECTIONS })
  const containerClient = createClient({ userAgent, connections: CONTAINER_CONNECTIONS })
  // A separate client, so that reading counts never delays publishing.
  const reading = createClient({ userAgent, connections: READING_CONNECTIONS })
  const baseUrl = `${trimTrailingSlashes(graphUrl)}/${version}`
  const quota = createGraphQuota({ platform: 'instagram', quotas, rules: INSTAGRAM_ERRORS, appId, host: 'facebook' })
  const graph = { label: 'Instagram', rules: INSTAGRAM_ERRORS, tokenIn: 'header', baseUrl } as const
  const api = createGraphApi({ ...graph, http: quota.watch(client) })
  const urls = createPostUrls(api, toProfileUrl)
  const posts = createContainerPosts({
    ...options,
    platform: 'instagram',
    api,
    containerApi: createGraphApi({ ...graph, http: quota.watch(containerClient) }),
    dialect: instagramDialect,
    urls,
    image: { types: ['image/jpeg'], shape: SHAPE },
  })
  const comments = createComments({
    api,
    dialect: createCommentDialect(urls),
    publishTimeoutMs: options.publishTimeoutMs,
    times: options,
  })
  const accounts = createAccounts({ api, appId, appSecret })
  const metrics = createMetrics(createGraphApi({ ...graph, http: quota.throttle(reading) }))
  const adapter: PlatformAdapter = {
    platform: 'instagram',
    ...posts,
    ...withComments(posts, comments),
    ...accounts,
    ...metrics,
    publicationQuota: ({ accountId }) => toPublicationQuota('instagram', accountId),
  }
  return {
    adapter,
    close: async () => void (await Promise.all([client, containerClient, reading].map((client) => client.close()))),
  }
}
