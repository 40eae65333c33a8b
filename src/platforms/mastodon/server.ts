import type {
  Credentials,
  MediaSource,
  OutgoingPost,
  PlatformFacts,
  PlatformAdapter,
  PostMetrics,
  RedirectConnect,
} from '../contract.ts'
import type { HttpClient } from '../shared/http.ts'
import type { InFlightTimes } from '../shared/in-flight.ts'
import { createAccounts, type ApplicationSource } from './accounts.ts'
import { createApi, type Api } from './api.ts'
import { createApplicationName } from './application-name.ts'
import { createPlanEdit } from './edit.ts'
import { createInstanceLimits } from './instance-limits.ts'
import { createMedia, type MediaLimiters } from './media.ts'
import { createMetrics } from './metrics.ts'
import { createPosts } from './posts.ts'
import { createSearch } from './search.ts'

/** What all servers share. */
export interface ServerDeps {
  clients: Record<'calls' | 'uploads' | 'reading', HttpClient>
  media: MediaSource
  mediaLimiters: MediaLimiters
  facts: PlatformFacts
  times: InFlightTimes
  processingWaitMs: number
  publishTimeoutMs: number
}

interface ServerOptions {
  base: string
  createApplication(api: Api): ApplicationSource
  /** True when a user named the server: its limits are stored, and its ids are made unique across servers. */
  isNamed: boolean
}

/** Creates the adapter's part for one server. It remembers the server's limits, and the name of this service there. */
export function createServer(deps: ServerDeps, { base, createApplication, isNamed }: ServerOptions) {
  const { clients, facts, times, media, mediaLimiters, processingWaitMs, publishTimeoutMs } = deps
  const api = createApi(clients.calls, base)
  const reading = createApi(clients.reading, base)
  const uploads = createApi(clients.uploads, base)
  const application = createApplication(api)
  const { begin, complete, isAccountPresent, ...accounts } = createAccounts({ api, reading, application })
  const limits = createInstanceLimits(api, isNamed ? facts : null)
  const findClientId = async () => (await application.find())?.clientId ?? 'none'
  const applicationName = createApplicationName({ api, findClientId, facts })
  const posts = createPosts({
    api,
    media: createMedia({ api, uploads, media, processingWaitMs, limiters: mediaLimiters }),
    search: createSearch({ api, application: applicationName, limits, times }),
    application: applicationName,
    limits,
    publishTimeoutMs,
  })
  const metrics = createMetrics({ api: reading, isAccountPresent })
  const planEdit = createPlanEdit({ api, publishTimeoutMs })
  const server: MastodonServer = { ...posts, planEdit, ...accounts, begin, complete, limits, readMetrics: metrics.read }
  return isNamed ? withGlobalIds(server, new URL(api.base).host) : server
}

/** The adapter's methods for accounts of one server. */
export interface MastodonServer
  extends
    RedirectConnect,
    Pick<PlatformAdapter, 'prepare' | 'publish' | 'reconcile' | 'profile'>,
    Required<Pick<PlatformAdapter, 'followers' | 'revoke' | 'remove' | 'planEdit'>> {
  limits: ReturnType<typeof createInstanceLimits>
  readMetrics: PostMetrics['read']
}

/**
 * Ids of accounts and statuses are unique on their server only. Outside this file those of named servers end in
 * `@<host>`, so that no server can claim an id of another one.
 */
function withGlobalIds(server: MastodonServer, host: string): MastodonServer {
  const toGlobal = (id: string) => `${id}@${host}`
  const toLocal = (id: string) => (id.endsWith(`@${host}`) ? id.slice(0, -host.length - 1) : id)
  const localize = (account: Credentials) => ({ ...account, accountId: toLocal(account.accountId) })
  const localizePost = ({ replyTo, ...post }: OutgoingPost): OutgoingPost => ({
    ...post,
    ...(replyTo && { replyTo: { rootId: toLocal(replyTo.rootId), parentId: toLocal(replyTo.parentId) } }),
  })

  return {
    ...server,
    async complete(...args) {
      const { credentials, ...result } = await server.complete(...args)
      return { ...result, credentials: { ...credentials, accountId: toGlobal(credentials.accountId) } }
    },
    prepare: (post, account, ...rest) => server.prepare(localizePost(post), localize(account), ...rest),
    remove: (id, account, ...rest) => server.remove(toLocal(id), localize(account), ...rest),
    planEdit: (id, post, account, ...rest) => server.planEdit(toLocal(id), post, localize(account), ...rest),
    async publish(post, account, ...rest) {
      const published = await server.publish(localizePost(post), localize(account), ...rest)
      return { ...published, platformPostId: toGlobal(published.platformPostId) }
    },
    async reconcile(post, account, delivery, options) {
      const isTaken = (id: string) => options.isTaken(toGlobal(id))
      const found = await server.reconcile(localizePost(post), localize(account), delivery, { ...options, isTaken })
      return typeof found === 'string' ? found : { ...found, platformPostId: toGlobal(found.platformPostId) }
    },
    async readMetrics(ids, account, options) {
      const counts = await server.readMetrics(ids.map(toLocal), localize(account), options)
      return new Map([...counts].map(([id, found]) => [toGlobal(id), found]))
    },
  }
}
