import { trimTrailingSlashes } from '../../domain/shared/text.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { MediaSource, PlatformAdapter, RedirectConnect } from '../contract.ts'
import { toPublicationQuota } from '../shared/quota-subjects.ts'
import { createCallQuota, type CallQuotas } from '../shared/call-quota.ts'
import { CALL_CONNECTIONS, createHttpClient, MAX_LISTING_BYTES } from '../shared/http.ts'
import { createAccounts, toTokenPair } from './accounts.ts'
import { createApi } from './api.ts'
import { createDrafts } from './drafts.ts'
import { createPlanEdit } from './edit.ts'
import { createMetrics } from './metrics.ts'
import { createSigner } from './oauth1.ts'
import { createPosts } from './posts.ts'
import { createTumblrQuota } from './quotas.ts'

export interface TumblrOptions {
  /** The credentials of this service as an application (https://www.tumblr.com/oauth/apps). */
  consumerKey: string
  consumerSecret: string
  /** Base URL of the pages for people and of the three OAuth calls. */
  authorizeUrl: string
  apiUrl: string
  /** Deadline of the visible call, milliseconds. */
  publishTimeoutMs: number
  media: MediaSource
  /** Sent as `User-Agent` with every call. */
  userAgent: string
  /** Creates the HTTP clients. The simulation replaces it; absent: real connections. */
  createClient?: typeof createHttpClient
  /** Shares the quotas of calls with other processes. Absent: calls are not limited. */
  quotas?: CallQuotas
  /** How long one preparation waits for the server to process a video, milliseconds. */
  processingWaitMs?: number
}

const UPLOAD_CONNECTIONS = 8
const READING_CONNECTIONS = 8

/** Creates the adapter for Tumblr: OAuth 1.0a, posts on the account's primary blog. */
export function createTumblr(options: TumblrOptions) {
  const { consumerKey, consumerSecret, apiUrl, publishTimeoutMs, media, userAgent, quotas } = options
  const { processingWaitMs = 5 * SECOND, createClient = createHttpClient } = options
  const wwwUrl = trimTrailingSlashes(options.authorizeUrl)
  const http = createClient({ userAgent, connections: CALL_CONNECTIONS })
  const uploadClient = createClient({ userAgent, connections: UPLOAD_CONNECTIONS })
  const sign = createSigner({ token: consumerKey, secret: consumerSecret })
  // A separate client, so that reading counts never delays publishing.
  const readingClient = createClient({
    userAgent,
    connections: READING_CONNECTIONS,
    maxResponseBytes: MAX_LISTING_BYTES,
  })
  const quota = createCallQuota({ platform: 'tumblr', quotas, ...createTumblrQuota(consumerKey) })
  const api = createApi({ http: quota.watch(http), apiUrl, sign })
  const uploads = createApi({ http: quota.watch(uploadClient), apiUrl, sign })
  const reading = createApi({ http: quota.throttle(readingClient), apiUrl, sign })
  const { connect, ...accounts } = createAccounts({ api, reading, http, wwwUrl, sign })
  const drafts = createDrafts({ api, uploads, media, processingWaitMs })

  const adapter: PlatformAdapter = {
    platform: 'tumblr',
    ...createPosts({ api, drafts, wwwUrl, publishTimeoutMs }),
    planEdit: createPlanEdit({ api, publishTimeoutMs }),
    ...accounts,
    metrics: createMetrics(reading),
    publicationQuota: ({ accountId }) => toPublicationQuota('tumblr', accountId),
    readPublicationQuota: (account, callOptions) =>
      api.readPublicationQuota({ ...callOptions, token: toTokenPair(account) }),
  }
  const redirect: RedirectConnect = connect
  return {
    adapter,
    redirect,
    close: async () => void (await Promise.all([http, uploadClient, readingClient].map((client) => client.close()))),
  }
}
