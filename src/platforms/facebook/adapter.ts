import { POSTING_RULES } from '../../domain/posts/posting-rules.ts'
import { trimTrailingSlashes } from '../../domain/shared/text.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import type { MediaSource, PlatformAdapter, RedirectConnect } from '../contract.ts'
import type { CallQuotas } from '../shared/call-quota.ts'
import { createGraphApi } from '../shared/graph/api.ts'
import { createComments, withComments } from '../shared/graph/comments.ts'
import { createGraphQuota } from '../shared/graph/quotas.ts'
import { removePost } from '../shared/graph/remove-post.ts'
import { CALL_CONNECTIONS, createHttpClient } from '../shared/http.ts'
import { createPulledMedia } from '../shared/pulled-media.ts'
import type { InFlightTimes } from '../shared/in-flight.ts'
import { createAccounts } from './accounts.ts'
import { createCommentDialect } from './comment-dialect.ts'
import { FACEBOOK_ERRORS } from './errors.ts'
import { createDirectPosts } from './direct-posts.ts'
import { createDrafts } from './drafts.ts'
import { createPlanEdit } from './edit.ts'
import { createFiles, isVideo } from './files.ts'
import { createMetrics } from './metrics.ts'
import { createPosts } from './posts.ts'
import { createSearch } from './search.ts'

export interface FacebookOptions extends InFlightTimes {
  /** Base URL of the pages for people, with the login dialog. */
  dialogUrl: string
  /** Base URL of the API. */
  graphUrl: string
  /** Version of the Graph API. */
  version: string
  /** The credentials of this service as an application there. */
  appId: string
  appSecret: string
  /** Additional permissions to request; nothing depends on them. */
  extraScopes?: string[]
  /** Deadline of the visible call, milliseconds. */
  publishTimeoutMs: number
  /**
   * Deadline of a call during which Facebook fetches a video, milliseconds. It allows itself five minutes
   * (https://developers.facebook.com/docs/graph-api/video-uploads).
   */
  videoTimeoutMs?: number
  /** How long one preparation waits for Facebook to process a video, milliseconds. */
  processingWaitMs?: number
  media: MediaSource
  /** Sent as `User-Agent` with every call. */
  userAgent: string
  /** Creates the HTTP clients. The simulation replaces it; absent: real connections. */
  createClient?: typeof createHttpClient
  /** Shares the quotas of calls with other processes. Absent: calls are not limited. */
  quotas?: CallQuotas
  /** How long after its call a video may still appear that was published directly, milliseconds. */
  videoInFlightMs?: number
}

const UPLOAD_CONNECTIONS = 16
const READING_CONNECTIONS = 8

/** Creates the adapter for Facebook Pages, by OAuth. The login also brings the page's Instagram account. */
export function createFacebook(options: FacebookOptions) {
  const { version, appId, appSecret, extraScopes = [], userAgent, quotas } = options
  const { createClient = createHttpClient } = options
  const { publishTimeoutMs, videoTimeoutMs = 5 * MINUTE, processingWaitMs = 2 * MINUTE } = options
  const { inFlightMs, unansweredInFlightMs, videoInFlightMs = 10 * MINUTE } = options
  const calls = createClient({ userAgent, connections: CALL_CONNECTIONS })
  const uploads = createClient({ userAgent, connections: UPLOAD_CONNECTIONS })
  // A separate client, so that reading counts never delays publishing.
  const reading = createClient({ userAgent, connections: READING_CONNECTIONS })
  const webUrl = trimTrailingSlashes(options.dialogUrl)
  const baseUrl = `${trimTrailingSlashes(options.graphUrl)}/${version}`
  const quota = createGraphQuota({ platform: 'facebook', quotas, rules: FACEBOOK_ERRORS, appId, host: 'facebook' })
  const graph = { label: 'Facebook', rules: FACEBOOK_ERRORS, tokenIn: 'header', baseUrl } as const
  const api = createGraphApi({ ...graph, http: quota.watch(calls) })
  const media = createPulledMedia({
    media: options.media,
    image: { types: ['image/jpeg', 'image/png'], maxBytes: POSTING_RULES.facebook.media.image.maxBytes },
  })
  const { connect, ...accounts } = createAccounts({
    api,
    dialogUrl: `${webUrl}/${version}/dialog/oauth`,
    appId,
    appSecret,
    extraScopes,
  })
  const uploadApi = createGraphApi({ ...graph, http: quota.watch(uploads) })
  const files = createFiles({ api: uploadApi, media })
  const posts = createPosts({
    drafts: createDrafts({ api, uploads: uploadApi, files, videoTimeoutMs, processingWaitMs }),
    direct: createDirectPosts({ api }),
    search: createSearch({ api, times: { inFlightMs, unansweredInFlightMs, videoInFlightMs } }),
    webUrl,
    publishTimeoutMs: (post) => (isVideo(post) ? videoTimeoutMs : publishTimeoutMs),
  })
  const comments = createComments({
    api,
    dialect: createCommentDialect(webUrl),
    publishTimeoutMs,
    times: { inFlightMs, unansweredInFlightMs },
  })
  const metrics = createMetrics(createGraphApi({ ...graph, http: quota.throttle(reading) }))

  const adapter: PlatformAdapter = {
    platform: 'facebook',
    ...posts,
    ...withComments(posts, comments),
    ...accounts,
    ...metrics,
    remove: (id, account, { signal }) => removePost(api, id, { account, permission: 'pages_manage_posts', signal }),
    planEdit: createPlanEdit({ api, publishTimeoutMs }),
    warmUp: media.warmUp,
  }
  const redirect: RedirectConnect = connect
  return {
    adapter,
    redirect,
    close: async () => void (await Promise.all([calls, uploads, reading].map((client) => client.close()))),
  }
}
