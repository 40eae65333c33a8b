import { SECOND } from '../../domain/times.ts'
import type { MediaSource, PlatformAdapter, RedirectConnect } from '../adapter.ts'
import { createHttpClient } from '../shared/http.ts'
import { createAccounts } from './accounts.ts'
import { createApi } from './api.ts'
import { createInstanceLimits } from './instance-limits.ts'
import { createMedia } from './media.ts'
import { createMetrics } from './metrics.ts'
import { createPosts } from './posts.ts'
import { createSearch } from './search.ts'

export interface MastodonOptions {
  /** The one instance on which accounts live. */
  instanceUrl: string
  /** Of this service as an application there (`POST /api/v1/apps`, once per deployment). */
  clientId: string
  clientSecret: string
  /** Deadline of the one visible call. */
  publishTimeoutMs: number
  media: MediaSource
  /** How long after a call that was given up its post may still appear. */
  settleMs?: number
  /** How long one preparation waits for the server's work on an image or video. */
  processingWaitMs?: number
}

const CONNECTIONS = 64
const UPLOAD_CONNECTIONS = 8

/** Mastodon, by OAuth at one instance. */
export function createMastodon(options: MastodonOptions) {
  const { instanceUrl, clientId, clientSecret, publishTimeoutMs, media } = options
  const { settleMs = 30 * SECOND, processingWaitMs = 5 * SECOND } = options
  const calls = createHttpClient({ connections: CONNECTIONS })
  const transfers = createHttpClient({ connections: UPLOAD_CONNECTIONS })
  const api = createApi(calls, instanceUrl)
  const { connect, assertAtHome, isThere, ...accounts } = createAccounts({ api, clientId, clientSecret })
  const limits = createInstanceLimits(api)
  const posts = createPosts({
    api,
    media: createMedia({ api, uploads: createApi(transfers, instanceUrl), media, processingWaitMs }),
    search: createSearch({ api, settleMs }),
    limits,
    assertAtHome,
    publishTimeoutMs,
  })

  const adapter: PlatformAdapter = {
    platform: 'mastodon',
    ...posts,
    ...accounts,
    metrics: createMetrics({ api, assertAtHome, isThere }),
    limits: async (options) => (await limits(options)).rules,
  }
  const redirect: RedirectConnect = connect
  return {
    adapter,
    redirect,
    close: async () => void (await Promise.all([calls.close(), transfers.close()])),
  }
}
