import { SECOND } from '../../domain/shared/times.ts'
import type { MediaSource, PlatformAdapter, PlatformFacts, RedirectConnect } from '../contract.ts'
import { createCallBudget } from '../shared/call-budget.ts'
import { createHttpClient, MANY_POSTS_BYTES } from '../shared/http.ts'
import type { SettleTimes } from '../shared/settling.ts'
import { createAccounts } from './accounts.ts'
import { createApi } from './api.ts'
import { createApplicationName } from './application-name.ts'
import { createInstanceLimits } from './instance-limits.ts'
import { callWindows, tokenOf } from './limits.ts'
import { createMedia } from './media.ts'
import { createMetrics } from './metrics.ts'
import { createPosts } from './posts.ts'
import { createSearch } from './search.ts'

export interface MastodonOptions extends SettleTimes {
  /** The one instance on which accounts live. */
  instanceUrl: string
  /** Of this service as an application there (`POST /api/v1/apps`, once per deployment). */
  clientId: string
  clientSecret: string
  /** Deadline of the one visible call. */
  publishTimeoutMs: number
  media: MediaSource
  /** Names this service in every call. */
  userAgent: string
  facts: PlatformFacts
  /** How long one preparation waits for the server's work on an image or video. */
  processingWaitMs?: number
}

const CONNECTIONS = 64
const UPLOAD_CONNECTIONS = 8
const READING_CONNECTIONS = 8

/** Mastodon, by OAuth at one instance. */
export function createMastodon(options: MastodonOptions) {
  const { instanceUrl, clientId, clientSecret, publishTimeoutMs, media, facts, userAgent } = options
  const { settleMs, unansweredSettleMs, processingWaitMs = 5 * SECOND } = options
  const calls = createHttpClient({ userAgent, connections: CONNECTIONS })
  const transfers = createHttpClient({ userAgent, connections: UPLOAD_CONNECTIONS })
  // Apart, so that counting what is out keeps nothing from getting out.
  const counting = createHttpClient({ userAgent, connections: READING_CONNECTIONS, maxAnswerBytes: MANY_POSTS_BYTES })
  const budget = createCallBudget({ label: 'Mastodon', windowsIn: callWindows, whoseOf: tokenOf })
  const api = createApi(calls, instanceUrl)
  const reading = createApi(budget.sparing(counting), instanceUrl)
  const { connect, assertAtHome, isThere, ...accounts } = createAccounts({ api, reading, clientId, clientSecret })
  const limits = createInstanceLimits(api)
  const application = createApplicationName({ api, clientId, facts })
  const posts = createPosts({
    api,
    media: createMedia({ api, uploads: createApi(transfers, instanceUrl), media, processingWaitMs }),
    search: createSearch({ api, application, limits, times: { settleMs, unansweredSettleMs } }),
    application,
    limits,
    assertAtHome,
    publishTimeoutMs,
  })

  const adapter: PlatformAdapter = {
    platform: 'mastodon',
    ...posts,
    ...accounts,
    metrics: createMetrics({ api: reading, assertAtHome, isThere }),
    limits: async (options) => (await limits(options)).rules,
  }
  const redirect: RedirectConnect = connect
  return {
    adapter,
    redirect,
    close: async () => void (await Promise.all([calls, transfers, counting].map((client) => client.close()))),
  }
}
