import { SECOND } from '../../domain/shared/times.ts'
import type { MediaSource, PlatformAdapter, PlatformFacts, RedirectConnect } from '../contract.ts'
import { createCallBudget } from '../shared/call-budget.ts'
import { CALL_CONNECTIONS, createHttpClient, MAX_LISTING_BYTES } from '../shared/http.ts'
import type { InFlightTimes } from '../shared/in-flight.ts'
import { createAccounts } from './accounts.ts'
import { createApi } from './api.ts'
import { createApplicationName } from './application-name.ts'
import { createInstanceLimits } from './instance-limits.ts'
import { parseCallWindows, hashToken } from './call-windows.ts'
import { createMedia } from './media.ts'
import { createMetrics } from './metrics.ts'
import { createPosts } from './posts.ts'
import { createSearch } from './search.ts'

export interface MastodonOptions extends InFlightTimes {
  /** The instance on which all accounts live. */
  instanceUrl: string
  /** The credentials of this service as an application there (`POST /api/v1/apps`, once per deployment). */
  clientId: string
  clientSecret: string
  /** Deadline of the visible call, milliseconds. */
  publishTimeoutMs: number
  media: MediaSource
  /** Sent as `User-Agent` with every call. */
  userAgent: string
  facts: PlatformFacts
  /** How long one preparation waits for the server to process an image or video, milliseconds. */
  processingWaitMs?: number
}

const UPLOAD_CONNECTIONS = 8
const READING_CONNECTIONS = 8

/** Creates the adapter for Mastodon, by OAuth on one instance. */
export function createMastodon(options: MastodonOptions) {
  const { instanceUrl, clientId, clientSecret, publishTimeoutMs, media, facts, userAgent } = options
  const { inFlightMs, unansweredInFlightMs, processingWaitMs = 5 * SECOND } = options
  const client = createHttpClient({ userAgent, connections: CALL_CONNECTIONS })
  const uploadClient = createHttpClient({ userAgent, connections: UPLOAD_CONNECTIONS })
  // A separate client, so that reading counts never delays publishing.
  const readingClient = createHttpClient({
    userAgent,
    connections: READING_CONNECTIONS,
    maxResponseBytes: MAX_LISTING_BYTES,
  })
  const budget = createCallBudget({ label: 'Mastodon', parseWindows: parseCallWindows, toBudgetKey: hashToken })
  const api = createApi(client, instanceUrl)
  const reading = createApi(budget.throttle(readingClient), instanceUrl)
  const { connect, assertSameInstance, isAccountPresent, ...accounts } = createAccounts({
    api,
    reading,
    clientId,
    clientSecret,
  })
  const limits = createInstanceLimits(api)
  const application = createApplicationName({ api, clientId, facts })
  const posts = createPosts({
    api,
    media: createMedia({ api, uploads: createApi(uploadClient, instanceUrl), media, processingWaitMs }),
    search: createSearch({
      api,
      application,
      limits,
      times: { inFlightMs, unansweredInFlightMs },
    }),
    application,
    limits,
    assertSameInstance,
    publishTimeoutMs,
  })

  const adapter: PlatformAdapter = {
    platform: 'mastodon',
    ...posts,
    ...accounts,
    metrics: createMetrics({ api: reading, assertSameInstance, isAccountPresent }),
    limits: async (options) => (await limits(options)).rules,
  }
  const redirect: RedirectConnect = connect
  return {
    adapter,
    redirect,
    close: async () => void (await Promise.all([client, uploadClient, readingClient].map((client) => client.close()))),
  }
}
