import type { DirectConnect, MediaSource, PlatformAdapter } from '../adapter.ts'
import { createHttpClient } from '../shared/http.ts'
import { createPosts } from './posts.ts'
import { createServiceAddresses } from './service-addresses.ts'
import { createSessions } from './sessions.ts'
import { createXrpc } from './xrpc.ts'

export interface BlueskyOptions {
  /** Where logins start. */
  entryUrl: string
  /** Hosts besides the entry's on which accounts may live; one that begins with a dot stands for every host below it. */
  accountHosts: string[]
  /** Base of the links to published posts. */
  appUrl: string
  /** Deadline of the one visible call. */
  publishTimeoutMs: number
  media: MediaSource
}

const CONNECTIONS = 64
const UPLOAD_CONNECTIONS = 8

/** Bluesky and other servers of the AT Protocol, by app password. */
export function createBluesky(options: BlueskyOptions) {
  const { entryUrl, accountHosts, appUrl, publishTimeoutMs, media } = options
  const calls = createHttpClient({ connections: CONNECTIONS })
  const uploads = createHttpClient({ connections: UPLOAD_CONNECTIONS })
  const xrpc = createXrpc(calls)
  const services = createServiceAddresses({ entryUrl, accountHosts })
  const { connect, ...sessions } = createSessions({ xrpc, services })
  const posts = createPosts({ xrpc, uploads: createXrpc(uploads), services, media, appUrl, publishTimeoutMs })

  const adapter: PlatformAdapter = { platform: 'bluesky', ...posts, ...sessions }
  const direct: DirectConnect = { connect }
  return {
    adapter,
    direct,
    close: async () => void (await Promise.all([calls.close(), uploads.close()])),
  }
}
