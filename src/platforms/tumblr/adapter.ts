import { trimTrailingSlashes } from '../../domain/shared/text.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { MediaSource, PlatformAdapter, RedirectConnect } from '../contract.ts'
import { createCallBudget } from '../shared/call-budget.ts'
import { createHttpClient, MANY_POSTS_BYTES } from '../shared/http.ts'
import { createAccounts } from './accounts.ts'
import { createApi } from './api.ts'
import { createDrafts } from './drafts.ts'
import { callWindows } from './limits.ts'
import { createMetrics } from './metrics.ts'
import { createSigner } from './oauth1.ts'
import { createPosts } from './posts.ts'

export interface TumblrOptions {
  /** Of this service as an application (https://www.tumblr.com/oauth/apps). */
  consumerKey: string
  consumerSecret: string
  /** Where the pages for people are, and the three calls of OAuth. */
  authorizeUrl: string
  apiUrl: string
  /** Deadline of the one visible call. */
  publishTimeoutMs: number
  media: MediaSource
  /** Names this service in every call. */
  userAgent: string
  /** How long one preparation waits for the server's work on a video. */
  processingWaitMs?: number
}

const CONNECTIONS = 64
const UPLOAD_CONNECTIONS = 8
const READING_CONNECTIONS = 8

/** Tumblr, by OAuth 1.0a, on the primary blog of the account. */
export function createTumblr(options: TumblrOptions) {
  const { consumerKey, consumerSecret, apiUrl, publishTimeoutMs, media, userAgent } = options
  const { processingWaitMs = 5 * SECOND } = options
  const wwwUrl = trimTrailingSlashes(options.authorizeUrl)
  const http = createHttpClient({ userAgent, connections: CONNECTIONS })
  const transfers = createHttpClient({ userAgent, connections: UPLOAD_CONNECTIONS })
  const sign = createSigner({ token: consumerKey, secret: consumerSecret })
  // Apart, so that counting what is out keeps nothing from getting out.
  const counting = createHttpClient({ userAgent, connections: READING_CONNECTIONS, maxAnswerBytes: MANY_POSTS_BYTES })
  const budget = createCallBudget({ label: 'Tumblr', windowsIn: callWindows })
  const api = createApi({ http: budget.watch(http), apiUrl, sign })
  const uploads = createApi({ http: budget.watch(transfers), apiUrl, sign })
  const reading = createApi({ http: budget.sparing(counting), apiUrl, sign })
  const { connect, ...accounts } = createAccounts({ api, reading, http, wwwUrl, sign })
  const drafts = createDrafts({ api, uploads, media, processingWaitMs })

  const adapter: PlatformAdapter = {
    platform: 'tumblr',
    ...createPosts({ api, drafts, wwwUrl, publishTimeoutMs }),
    ...accounts,
    metrics: createMetrics(reading),
  }
  const redirect: RedirectConnect = connect
  return {
    adapter,
    redirect,
    close: async () => void (await Promise.all([http, transfers, counting].map((client) => client.close()))),
  }
}
