import { generateKeyPairSync } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { createProviderCaptions } from '../../src/integrations/captions/captions.ts'
import { createIdentityProvider } from '../../src/integrations/openid/openid.ts'
import { createPages, type Pages } from '../../src/integrations/pages/pages.ts'
import { createPayments } from '../../src/integrations/payments/payments.ts'
import { createPush } from '../../src/integrations/push/push.ts'
import { createServiceAccount } from '../../src/integrations/push/service-account.ts'
import { createWebhookSender } from '../../src/integrations/webhooks/webhook-sender.ts'
import { createBluesky } from '../../src/platforms/bluesky/adapter.ts'
import type { MediaSource } from '../../src/platforms/contract.ts'
import { createMastodon } from '../../src/platforms/mastodon/adapter.ts'
import { createHttpClient, MAX_LISTING_BYTES } from '../../src/platforms/shared/http.ts'
import { responseReader } from '../../src/platforms/shared/responses.ts'
import { USER_AGENT } from './user-agent.ts'

/** Reads a response of the server at a URL, as the service does. */
type Read = (url: string) => Promise<unknown>

const TIMEOUT_MS = 20_000
const signal = () => AbortSignal.timeout(TIMEOUT_MS)
const NO_MEDIA = {} as MediaSource

let privateKey: string | undefined
const getPrivateKey = () =>
  (privateKey ??= generateKeyPairSync('rsa', { modulusLength: 2_048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString())

async function readWith(options: Partial<Parameters<typeof createHttpClient>[0]>, url: string): Promise<unknown> {
  const client = createHttpClient({ userAgent: USER_AGENT, connections: 1, ...options })
  try {
    const { text } = await client.send({ method: 'GET', url: new URL(url), signal: signal() })
    return responseReader(Type.Unknown())(text)
  } finally {
    await client.close()
  }
}

async function readPages(read: (pages: Pages) => Promise<unknown>): Promise<unknown> {
  const http = createHttpClient({ userAgent: USER_AGENT, connections: 1, readsExcerpts: true })
  const pages = createPages({ http, isAllowedOrigin: () => true })
  try {
    return await read(pages)
  } finally {
    await pages.close()
  }
}

const pushMessage = {
  ...{ title: 'x', body: 'x', data: { link: 'x' }, collapseKey: 'x', expiresAt: new Date(Date.now() + 60_000) },
} as unknown as Parameters<ReturnType<typeof createPush>['send']>[1]

/**
 * Everything that reads what another server sends, by the source file that opens the connection. The suite of bombs feeds each the hostile
 * corpus, and a tooling test fails for a file that is missing here.
 */
export const FOREIGN_READS: Record<string, Record<string, Read>> = {
  'src/platforms/shared/http.ts': {
    'a response of a platform': (url) => readWith({}, url),
    'a list of posts of a platform': (url) => readWith({ maxResponseBytes: MAX_LISTING_BYTES }, url),
    async 'a Mastodon server that a user names'(url) {
      const mastodon = createMastodon({
        ...{ instanceUrl: url, clientId: 'id', clientSecret: 'secret', publishTimeoutMs: TIMEOUT_MS, media: NO_MEDIA },
        facts: { find: async () => null, save: async () => {} },
        userAgent: USER_AGENT,
      })
      const account = { accountId: '1', handle: 'ann', serviceUrl: url, accessToken: 'token', version: 1 }
      try {
        await mastodon.adapter.profile(account, { signal: signal() })
      } finally {
        await mastodon.close()
      }
    },
    async 'a Bluesky server that a user names'(url) {
      const bluesky = createBluesky({
        ...{
          entryUrl: url,
          accountHosts: [],
          videoUrl: url,
          appUrl: url,
          publishTimeoutMs: TIMEOUT_MS,
          media: NO_MEDIA,
        },
        userAgent: USER_AGENT,
      })
      try {
        await bluesky.direct.connect('ann.example.com', 'x', { signal: signal() })
      } finally {
        await bluesky.close()
      }
    },
    'a page that a text links to': (url) =>
      readPages((pages) => pages.describe(url, { userId: 'x', signal: signal() })),
    'the image of a page': (url) => readPages((pages) => pages.readImage(url, { userId: 'x', signal: signal() })),
    'an image by its address': (url) =>
      readPages((pages) =>
        pages.fetchMedia(url, { userId: 'x', signal: signal(), kind: 'image', timeoutMs: 30_000 }, ({ bytes }) =>
          Array.fromAsync(bytes),
        ),
      ),
    async 'a receiver of webhooks'(url) {
      const http = createHttpClient({
        ...{ userAgent: USER_AGENT, connections: 1, maxResponseBytes: 1_024, readsExcerpts: true },
      })
      const sender = createWebhookSender({ http, isAllowedOrigin: () => true, timeoutMs: TIMEOUT_MS })
      try {
        await sender.send({ url, id: 'x', body: '{}', secrets: [], sentAt: new Date() }, signal())
      } finally {
        await sender.close()
      }
    },
  },
  'src/integrations/captions/captions.ts': {
    'the caption provider': (url) =>
      createProviderCaptions({ url, apiKey: 'x', model: 'x', userAgent: USER_AGENT, timeoutMs: TIMEOUT_MS }).generate(
        { prompt: 'x', pictures: [], rules: null } as never,
        { signal: signal() },
      ),
  },
  'src/integrations/openid/openid.ts': {
    'the documents of the OpenID provider': (url) =>
      createIdentityProvider({
        ...{ issuerUrl: url, clientId: 'x', clientSecret: 'x', userAgent: USER_AGENT, timeoutMs: TIMEOUT_MS },
      }).begin({ redirectUri: 'https://example.com', state: 'x', nonce: 'x', verifier: 'x' }),
  },
  'src/integrations/payments/client.ts': {
    'the payment processor': (url) =>
      createPayments({
        ...{ secretKey: 'sk_test_x', url, userAgent: USER_AGENT, priceId: 'x', webhookSecrets: [] },
        timeoutMs: TIMEOUT_MS,
      }).readCheckout('x'),
  },
  'src/integrations/push/service-account.ts': {
    'the tokens for push messages': (url) =>
      createServiceAccount({
        ...{ clientEmail: 'x@example.com', privateKey: getPrivateKey(), tokenUrl: url, userAgent: USER_AGENT },
        timeoutMs: TIMEOUT_MS,
      }).getAccessToken(),
  },
  'src/integrations/push/push-agent.ts': {
    async 'the service for push messages'(url) {
      const push = createPush({
        ...{ projectId: 'x', clientEmail: 'x@example.com', privateKey: getPrivateKey(), url, userAgent: USER_AGENT },
        tokenUrl: `${url}/token`,
        timeoutMs: TIMEOUT_MS,
      })
      try {
        await push.send('token', pushMessage, new Date())
      } finally {
        await push.close()
      }
    },
  },
}
