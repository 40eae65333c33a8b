import { SECOND } from '../../domain/shared/times.ts'
import type { DirectConnect, MediaSource, PageSource, PlatformAdapter } from '../contract.ts'
import { createCallQuota, type CallQuotas } from '../shared/call-quota.ts'
import { CALL_CONNECTIONS, createHttpClient } from '../shared/http.ts'
import type { ResolveName } from '../shared/public-lookup.ts'
import { createPublicServers } from '../shared/public-servers.ts'
import { createCards } from './cards.ts'
import { createIdentities } from './identities.ts'
import { createImages } from './images.ts'
import { createMetrics } from './metrics.ts'
import { createPosts } from './posts.ts'
import { publicationQuota, readNews, toSubject } from './quotas.ts'
import { createServiceAddresses } from './service-addresses.ts'
import { createSessions } from './sessions.ts'
import { createVideo } from './video.ts'
import { createXrpc } from './xrpc.ts'

export interface BlueskyOptions {
  /** The server for logins. */
  entryUrl: string
  /** Other servers of accounts, by host name. A leading dot allows every subdomain. Empty: every public server. */
  accountHosts: string[]
  /** Origins on private networks where accounts may be all the same. */
  allowedPrivate?: string[]
  /** The directory of `did:plc`; absent: all logins start at the entry. */
  directoryUrl?: string
  resolve?: ResolveName
  /** The service for videos that are too large for an account's own server. */
  videoUrl: string
  /** Base URL of the links to published posts. */
  appUrl: string
  /** Deadline of the visible call, milliseconds. */
  publishTimeoutMs: number
  media: MediaSource
  /** Reads the pages of links. Absent: no cards are made from them. */
  pages?: PageSource
  /** Sent as `User-Agent` with every call. */
  userAgent: string
  /** Creates the HTTP clients. The simulation replaces it; absent: real connections. */
  createClient?: typeof createHttpClient
  /** Shares the quotas of calls with other processes. Absent: calls are not limited. */
  quotas?: CallQuotas
  /** The largest file that an account's own server accepts, bytes. */
  blobLimitBytes?: number
  /** How long one preparation waits for the video service, milliseconds. */
  processingWaitMs?: number
}

const UPLOAD_CONNECTIONS = 8
const READING_CONNECTIONS = 8
/** The upload limit of hosted accounts. */
const BLOB_LIMIT_BYTES = 52_428_800

/** Creates the adapter for Bluesky and other AT Protocol servers, by app password. */
export function createBluesky(options: BlueskyOptions) {
  const { entryUrl, accountHosts, videoUrl, appUrl, publishTimeoutMs, media, userAgent } = options
  const { createClient = createHttpClient } = options
  const { allowedPrivate, directoryUrl, resolve, quotas } = options
  const { blobLimitBytes = BLOB_LIMIT_BYTES, processingWaitMs = 5 * SECOND } = options
  const publicServers = createPublicServers({
    configured: [entryUrl],
    services: [videoUrl, ...(directoryUrl === undefined ? [] : [directoryUrl])],
    only: accountHosts,
    ...(allowedPrivate && { allowedPrivate }),
    ...(resolve && { resolve }),
  })
  const { guard } = publicServers
  const client = createClient({ userAgent, connections: CALL_CONNECTIONS, guard })
  const uploadClient = createClient({ userAgent, connections: UPLOAD_CONNECTIONS, guard })
  // A separate client, so that reading counts never delays publishing.
  const readingClient = createClient({ userAgent, connections: READING_CONNECTIONS, guard })
  const quota = createCallQuota({ platform: 'bluesky', quotas, toSubjects: (call) => [toSubject(call)], readNews })
  const xrpc = createXrpc(quota.watch(client))
  const reading = createXrpc(quota.throttle(readingClient))
  const services = createServiceAddresses({ entryUrl, publicServers })
  const identities = createIdentities({ http: client, xrpc, services, publicServers, directoryUrl })
  const { connect, ...sessions } = createSessions({ xrpc, reading, services, identities })
  const uploads = createXrpc(quota.watch(uploadClient))
  const video = createVideo({ xrpc, uploads, services, media, videoUrl, blobLimitBytes, processingWaitMs })
  const images = createImages({ uploads, services, media })
  const cards = createCards({ pages: options.pages, images })
  const posts = createPosts({ xrpc, services, images, video, cards, appUrl, publishTimeoutMs })

  const metrics = createMetrics({ xrpc: reading, services })

  const adapter: PlatformAdapter = { platform: 'bluesky', ...posts, ...sessions, metrics, publicationQuota }
  const direct: DirectConnect = { connect }
  return {
    adapter,
    direct,
    close: async () => void (await Promise.all([client, uploadClient, readingClient].map((client) => client.close()))),
  }
}
