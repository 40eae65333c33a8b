import { LRUCache } from 'lru-cache'
import { trimTrailingSlashes } from '../../domain/shared/text.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type {
  Credentials,
  MediaSource,
  PlatformAdapter,
  PlatformFacts,
  RedirectConnect,
  ServerApplications,
} from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { createCallQuota, type CallQuotas } from '../shared/call-quota.ts'
import { CALL_CONNECTIONS, createHttpClient, MAX_LISTING_BYTES } from '../shared/http.ts'
import { warmUpImages } from '../shared/image-files.ts'
import type { InFlightTimes } from '../shared/in-flight.ts'
import { createPublicServers, type PublicServersOptions } from '../shared/public-servers.ts'
import { createFixedApplication, createRegisteredApplication, type ApplicationDescription } from './application.ts'
import { createMediaLimiters } from './media.ts'
import { STATUSES_PER_CALL } from './metrics.ts'
import { readNews, toStatusQuota, toSubjects } from './quotas.ts'
import { createServer, type MastodonServer } from './server.ts'

export interface MastodonOptions extends InFlightTimes {
  /** The instance of accounts whose user names none. */
  instanceUrl: string
  /** The credentials of this service as an application there (`POST /api/v1/apps`, once per deployment). */
  clientId: string
  clientSecret: string
  /** Which other servers users may name, and how this service registers there. Absent: none. */
  named?: Omit<PublicServersOptions, 'configured'> & { application: ApplicationDescription }
  /** Required for other servers. */
  applications?: ServerApplications
  /** Deadline of the visible call, milliseconds. */
  publishTimeoutMs: number
  media: MediaSource
  /** Sent as `User-Agent` with every call. */
  userAgent: string
  /** Creates the HTTP clients. The simulation replaces it; absent: real connections. */
  createClient?: typeof createHttpClient
  /** Shares the quotas of calls with other processes. Absent: calls are not limited. */
  quotas?: CallQuotas
  facts: PlatformFacts
  /** How long one preparation waits for the server to process an image or video, milliseconds. */
  processingWaitMs?: number
}

const UPLOAD_CONNECTIONS = 8
const READING_CONNECTIONS = 8
/** Named servers whose state stays in memory. A server that was dropped is read from the stored facts again. */
const MAX_REMEMBERED_SERVERS = 2_000

/** Creates the adapter for Mastodon and servers with its API, by OAuth on the page of each server. */
export function createMastodon(options: MastodonOptions) {
  const { named, applications, publishTimeoutMs, media, facts, userAgent, quotas } = options
  const { createClient = createHttpClient } = options
  const { inFlightMs, unansweredInFlightMs, processingWaitMs = 5 * SECOND } = options
  const configuredUrl = trimTrailingSlashes(options.instanceUrl)
  const publicServers = createPublicServers({ configured: [configuredUrl], ...named })
  const { guard } = publicServers
  const client = createClient({ userAgent, connections: CALL_CONNECTIONS, guard })
  const uploadClient = createClient({ userAgent, connections: UPLOAD_CONNECTIONS, guard })
  // A separate client, so that reading counts never delays publishing.
  const readingClient = createClient({
    userAgent,
    connections: READING_CONNECTIONS,
    maxResponseBytes: MAX_LISTING_BYTES,
    guard,
  })
  const quota = createCallQuota({ platform: 'mastodon', quotas, toSubjects, readNews })
  const deps = {
    clients: {
      calls: quota.watch(client),
      uploads: quota.watch(uploadClient),
      reading: quota.throttle(readingClient),
    },
    media,
    mediaLimiters: createMediaLimiters(),
    facts,
    times: { inFlightMs, unansweredInFlightMs },
    processingWaitMs,
    publishTimeoutMs,
  }
  const configured = createServer(deps, {
    base: configuredUrl,
    createApplication: () => createFixedApplication(options),
    isNamed: false,
  })
  const servers = new LRUCache<string, MastodonServer>({ max: MAX_REMEMBERED_SERVERS })

  /** Returns `null` when accounts of the server are not allowed here, or no longer. */
  function findServer(url: string): MastodonServer | null {
    if (url === configuredUrl) return configured
    if (!named || !applications || !publicServers.isAllowed(url)) return null
    const known = servers.get(url)
    if (known) return known
    const { application: description } = named
    const server = createServer(deps, {
      base: url,
      createApplication: (api) => createRegisteredApplication({ api, applications, description }),
      isNamed: true,
    })
    servers.set(url, server)
    return server
  }

  /**
   * Returns the server of an account. Its token is sent to no other one.
   * @throws PlatformError `unauthorized` when accounts of the server are not allowed here
   */
  function getServer({ serviceUrl = configuredUrl }: Pick<Credentials, 'serviceUrl'>): MastodonServer {
    const server = findServer(serviceUrl)
    if (server) return server
    throw new PlatformError('unauthorized', 'This Mastodon account is on another server', { certain: true })
  }

  /** @throws ServerNotAllowedError */
  async function begin(...[{ server: typed, ...input }, callOptions]: Parameters<RedirectConnect['begin']>) {
    if (typed === undefined) return configured.begin(input, callOptions)
    const url = publicServers.parse(typed)
    await publicServers.assertPublic(url, callOptions)
    const begun = await getServer({ serviceUrl: url }).begin(input, callOptions)
    return { ...begun, secrets: { ...begun.secrets, serviceUrl: url } }
  }

  const adapter: PlatformAdapter = {
    platform: 'mastodon',
    prepare: async (post, account, ...rest) => getServer(account).prepare(post, account, ...rest),
    publish: async (post, account, ...rest) => getServer(account).publish(post, account, ...rest),
    reconcile: async (post, account, ...rest) => getServer(account).reconcile(post, account, ...rest),
    remove: async (id, account, ...rest) => getServer(account).remove(id, account, ...rest),
    planEdit: async (id, post, account, ...rest) => getServer(account).planEdit(id, post, account, ...rest),
    profile: async (account, ...rest) => getServer(account).profile(account, ...rest),
    followers: async (account, ...rest) => getServer(account).followers(account, ...rest),
    revoke: async (account, ...rest) => findServer(account.serviceUrl ?? configuredUrl)?.revoke(account, ...rest),
    metrics: {
      perCall: STATUSES_PER_CALL,
      read: async (ids, account, ...rest) => getServer(account).readMetrics(ids, account, ...rest),
    },
    publicationQuota: ({ accountId, serviceUrl = configuredUrl }) => toStatusQuota(new URL(serviceUrl), accountId),
    limits: async ({ server = configuredUrl, ...callOptions }) =>
      (await (findServer(server) ?? configured).limits(callOptions)).rules,
    warmUp: warmUpImages,
  }
  const redirect: RedirectConnect = {
    begin,
    complete: async (input, ...rest) => getServer(input.secrets).complete(input, ...rest),
  }
  return {
    adapter,
    redirect,
    close: async () => void (await Promise.all([client, uploadClient, readingClient].map((one) => one.close()))),
  }
}
