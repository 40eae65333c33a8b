import { SECOND } from '../../domain/shared/times.ts'
import type { DirectConnect, MediaSource, PlatformAdapter } from '../contract.ts'
import { createCallBudget } from '../shared/call-budget.ts'
import { createHttpClient } from '../shared/http.ts'
import { parseCallWindows, toServerOrigin } from './call-windows.ts'
import { createMetrics } from './metrics.ts'
import { createPosts } from './posts.ts'
import { createServiceAddresses } from './service-addresses.ts'
import { createSessions } from './sessions.ts'
import { createVideo } from './video.ts'
import { createXrpc } from './xrpc.ts'

export interface BlueskyOptions {
  /** Where logins start. */
  entryUrl: string
  /** Hosts besides the entry's on which accounts may live; one that begins with a dot stands for every host below it. */
  accountHosts: string[]
  /** Where videos go that are too large for an account's server itself. */
  videoUrl: string
  /** Base of the links to published posts. */
  appUrl: string
  /** Deadline of the one visible call. */
  publishTimeoutMs: number
  media: MediaSource
  /** Names this service in every call. */
  userAgent: string
  /** As large a file as an account's server takes by itself. */
  blobLimitBytes?: number
  /** How long one preparation waits for the video service's work. */
  processingWaitMs?: number
}

const CONNECTIONS = 64
const UPLOAD_CONNECTIONS = 8
const READING_CONNECTIONS = 8
/** What hosted accounts may upload (platforms.md 2b). */
const BLOB_LIMIT_BYTES = 52_428_800

/** Bluesky and other servers of the AT Protocol, by app password. */
export function createBluesky(options: BlueskyOptions) {
  const { entryUrl, accountHosts, videoUrl, appUrl, publishTimeoutMs, media, userAgent } = options
  const { blobLimitBytes = BLOB_LIMIT_BYTES, processingWaitMs = 5 * SECOND } = options
  const client = createHttpClient({ userAgent, connections: CONNECTIONS })
  const uploadClient = createHttpClient({ userAgent, connections: UPLOAD_CONNECTIONS })
  // Apart, so that counting what is out keeps nothing from getting out.
  const readings = createHttpClient({ userAgent, connections: READING_CONNECTIONS })
  const budget = createCallBudget({ label: 'Bluesky', parseWindows: parseCallWindows, toBudgetKey: toServerOrigin })
  const xrpc = createXrpc(client)
  const reading = createXrpc(budget.throttle(readings))
  const services = createServiceAddresses({ entryUrl, accountHosts })
  const { connect, ...sessions } = createSessions({ xrpc, reading, services })
  const uploads = createXrpc(uploadClient)
  const video = createVideo({ xrpc, uploads, services, media, videoUrl, blobLimitBytes, processingWaitMs })
  const posts = createPosts({ xrpc, uploads, services, media, video, appUrl, publishTimeoutMs })

  const metrics = createMetrics({ xrpc: reading, services })

  const adapter: PlatformAdapter = { platform: 'bluesky', ...posts, ...sessions, metrics }
  const direct: DirectConnect = { connect }
  return {
    adapter,
    direct,
    close: async () => void (await Promise.all([client, uploadClient, readings].map((client) => client.close()))),
  }
}
