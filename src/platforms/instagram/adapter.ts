import { trimTrailingSlashes } from '../../domain/shared/text.ts'
import type { MediaSource, PlatformAdapter } from '../contract.ts'
import { createGraphApi } from '../shared/graph/api.ts'
import { createContainerPosts, type ContainerTimes } from '../shared/graph/container-posts.ts'
import { createHttpClient } from '../shared/http.ts'
import { createAccounts } from './accounts.ts'
import { instagramDialect } from './dialect.ts'
import { INSTAGRAM_ERRORS } from './errors.ts'
import { createMetrics } from './metrics.ts'

export interface InstagramOptions extends ContainerTimes {
  graphUrl: string
  /** Of the Graph API. */
  version: string
  /** Of this service as an application on Facebook, through which accounts are linked. */
  appId: string
  appSecret: string
  media: MediaSource
  /** Names this service in every call. */
  userAgent: string
}

const CONNECTIONS = 64
const MAKING_CONNECTIONS = 16
const READING_CONNECTIONS = 8
/** platforms.md 4d. */
const SHAPE = { minWidth: 320, maxWidth: 1_440, minAspect: 4 / 5, maxAspect: 1.91 }

/** Instagram, by containers; its accounts come with those of Facebook. */
export function createInstagram({ graphUrl, version, appId, appSecret, userAgent, ...options }: InstagramOptions) {
  const calls = createHttpClient({ userAgent, connections: CONNECTIONS })
  const making = createHttpClient({ userAgent, connections: MAKING_CONNECTIONS })
  // Apart, so that counting what is out keeps nothing from getting out.
  const reading = createHttpClient({ userAgent, connections: READING_CONNECTIONS })
  const baseUrl = `${trimTrailingSlashes(graphUrl)}/${version}`
  const graph = { label: 'Instagram', rules: INSTAGRAM_ERRORS, tokenIn: 'header', baseUrl } as const
  const api = createGraphApi({ ...graph, http: calls })
  const posts = createContainerPosts({
    ...options,
    platform: 'instagram',
    api,
    makingApi: createGraphApi({ ...graph, http: making }),
    dialect: instagramDialect,
    image: { types: ['image/jpeg'], shape: SHAPE },
  })
  const accounts = createAccounts({ api, appId, appSecret })
  const metrics = createMetrics(createGraphApi({ ...graph, http: reading }))
  const adapter: PlatformAdapter = { platform: 'instagram', ...posts, ...accounts, ...metrics }
  return {
    adapter,
    close: async () => void (await Promise.all([calls, making, reading].map((client) => client.close()))),
  }
}
