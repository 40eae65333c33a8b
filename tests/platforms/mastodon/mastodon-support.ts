import { randomBytes } from 'node:crypto'
import { startMastodon, type MastodonOptions } from '../../../sandbox/platforms/mastodon.ts'
import { consent } from '../../../sandbox/platforms/shared/consent.ts'
import type { Credentials, MediaSource, PlatformAdapter } from '../../../src/platforms/contract.ts'
import { createMastodon, type MastodonOptions as AdapterOptions } from '../../../src/platforms/mastodon/adapter.ts'
import { USER_AGENT } from '../../support/user-agent.ts'
import { controlOf, memoryFacts, withVersion } from '../shared/support.ts'
import { chooseFirst } from '../shared/choose-first.ts'

export const REDIRECT_URI = 'https://api.example.test/api/platform/mastodon/callback'
export const PUBLISH_TIMEOUT_MS = 1_500

/** A Mastodon server and an adapter that is registered with it. */
export async function mastodonWorld(
  media: MediaSource,
  server: MastodonOptions = {},
  client: Partial<AdapterOptions> = {},
) {
  const mastodon = await startMastodon({ processingMs: 300, ...server })
  const app = mastodon.createApp({ name: 'postonce', redirectUris: [REDIRECT_URI] })
  const { adapter, redirect, close } = createMastodon({
    instanceUrl: mastodon.url,
    clientId: app.clientId,
    clientSecret: app.clientSecret,
    publishTimeoutMs: PUBLISH_TIMEOUT_MS,
    processingWaitMs: 5_000,
    media,
    userAgent: USER_AGENT,
    facts: memoryFacts(),
    ...client,
  })

  /** Connects an account like a user, over the login page. */
  async function connection(accountId: string, decision: 'allow' | 'deny' = 'allow') {
    const options = { signal: AbortSignal.timeout(20_000) }
    const { url, secrets } = await redirect.begin({ state: 'state-1', redirectUri: REDIRECT_URI }, options)
    const query = Object.fromEntries(new URL(await consent(url, accountId, decision)).searchParams)
    return redirect.complete({ query, redirectUri: REDIRECT_URI, choose: chooseFirst, secrets }, options)
  }

  return {
    mastodon,
    app,
    redirect,
    adapter: adapter as Required<Omit<PlatformAdapter, 'renew'>>,
    control: controlOf(mastodon),
    connection,
    /** The exchange of a callback, with an invented code. */
    connect: () =>
      redirect.complete(
        { query: { code: 'x' }, redirectUri: REDIRECT_URI, choose: chooseFirst, secrets: { verifier: 'v' } },
        { signal: AbortSignal.timeout(20_000) },
      ),

    async newAccount(): Promise<Credentials> {
      const { id } = mastodon.createAccount({ username: `u${randomBytes(6).toString('hex')}` })
      return withVersion((await connection(id)).credentials)
    },

    stopServer: () => mastodon.stop(),
    close,

    async stop() {
      await close()
      await mastodon.stop()
    },
  }
}

export type MastodonWorld = Awaited<ReturnType<typeof mastodonWorld>>

/** Calls the server's API directly, without our service. */
export async function call(
  url: string,
  path: string,
  { method = 'GET', token, body, headers = {} }: CallInit = {},
): Promise<{ status: number; headers: Headers; body: never }> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
    ...(body !== undefined && { body }),
    redirect: 'manual',
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, headers: response.headers, body: (isJson ? JSON.parse(text) : text) as never }
}

interface CallInit {
  method?: string
  token?: string
  body?: string | FormData | URLSearchParams
  headers?: Record<string, string>
}
