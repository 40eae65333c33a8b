import { POSTING_RULES } from '../../domain/posts/posting-rules.ts'
import { trimTrailingSlashes } from '../../domain/shared/text.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import type { MediaSource, PlatformAdapter, RedirectConnect } from '../contract.ts'
import { createGraphApi } from '../shared/graph/api.ts'
import { createHttpClient } from '../shared/http.ts'
import { createPulledMedia } from '../shared/pulled-media.ts'
import type { SettleTimes } from '../shared/settling.ts'
import { createAccounts } from './accounts.ts'
import { FACEBOOK_ERRORS } from './errors.ts'
import { createFiles, isVideo } from './files.ts'
import { createMetrics } from './metrics.ts'
import { createPosts } from './posts.ts'
import { createSearch } from './search.ts'

export interface FacebookOptions extends SettleTimes {
  /** Where browsers go, and where calls go. */
  dialogUrl: string
  graphUrl: string
  /** Of the Graph API. */
  version: string
  /** Of this service as an application there. */
  appId: string
  appSecret: string
  /** Permissions to ask for besides those that are always asked for; nothing depends on their being given. */
  extraScopes?: string[]
  /** Deadline of the one visible call. */
  publishTimeoutMs: number
  /**
   * The same for videos: Facebook fetches them within it, and gives itself five minutes for that
   * (https://developers.facebook.com/docs/graph-api/video-uploads).
   */
  videoTimeoutMs?: number
  media: MediaSource
  /** Names this service in every call. */
  userAgent: string
  /** How long after its call a video may still appear. */
  videoSettleMs?: number
}

const CONNECTIONS = 64
const UPLOAD_CONNECTIONS = 16
const READING_CONNECTIONS = 8

/** Facebook Pages, by OAuth; the login brings the Instagram account of the page as well. */
export function createFacebook(options: FacebookOptions) {
  const { version, appId, appSecret, extraScopes = [], userAgent } = options
  const { publishTimeoutMs, videoTimeoutMs = 5 * MINUTE } = options
  const { settleMs, unansweredSettleMs, videoSettleMs = 10 * MINUTE } = options
  const calls = createHttpClient({ userAgent, connections: CONNECTIONS })
  const uploads = createHttpClient({ userAgent, connections: UPLOAD_CONNECTIONS })
  // Apart, so that counting what is out keeps nothing from getting out.
  const reading = createHttpClient({ userAgent, connections: READING_CONNECTIONS })
  const webUrl = trimTrailingSlashes(options.dialogUrl)
  const baseUrl = `${trimTrailingSlashes(options.graphUrl)}/${version}`
  const graph = { label: 'Facebook', rules: FACEBOOK_ERRORS, tokenIn: 'header', baseUrl } as const
  const api = createGraphApi({ ...graph, http: calls })
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
  const posts = createPosts({
    api,
    files: createFiles({ api: createGraphApi({ ...graph, http: uploads }), media }),
    search: createSearch({ api, times: { settleMs, unansweredSettleMs, videoSettleMs } }),
    webUrl,
    publishTimeoutMs: (post) => (isVideo(post) ? videoTimeoutMs : publishTimeoutMs),
  })
  const metrics = createMetrics(createGraphApi({ ...graph, http: reading }))

  const adapter: PlatformAdapter = { platform: 'facebook', ...posts, ...accounts, ...metrics }
  const redirect: RedirectConnect = connect
  return {
    adapter,
    redirect,
    close: async () => void (await Promise.all([calls, uploads, reading].map((client) => client.close()))),
  }
}
