import { randomBytes } from 'node:crypto'
import { consent } from '../../../sandbox/platforms/shared/consent.ts'
import { startTumblr, type TumblrOptions } from '../../../sandbox/platforms/tumblr.ts'
import type { Credentials, MediaSource, PlatformAdapter } from '../../../src/platforms/contract.ts'
import { createTumblr, type TumblrOptions as AdapterOptions } from '../../../src/platforms/tumblr/adapter.ts'
import { createSigner } from '../../../src/platforms/tumblr/oauth1.ts'
import { controlOf, withVersion } from '../shared/support.ts'
import { USER_AGENT } from '../../support/user-agent.ts'
import { chooseFirst } from '../shared/choose-first.ts'

export const REDIRECT_URI = 'https://api.example.test/api/platform/tumblr/callback'
export const PUBLISH_TIMEOUT_MS = 1_500

/** A Tumblr server and an adapter that is registered with it. */
export async function tumblrWorld(
  media: MediaSource,
  server: TumblrOptions = {},
  client: Partial<AdapterOptions> = {},
) {
  const tumblr = await startTumblr({ processingMs: 300, ...server })
  const app = tumblr.createApp({ name: 'postonce', callbackUrl: REDIRECT_URI })
  const { adapter, redirect, close } = createTumblr({
    consumerKey: app.consumerKey,
    consumerSecret: app.consumerSecret,
    authorizeUrl: tumblr.url,
    apiUrl: tumblr.url,
    publishTimeoutMs: PUBLISH_TIMEOUT_MS,
    processingWaitMs: 5_000,
    media,
    userAgent: USER_AGENT,
    ...client,
  })

  /** Connects an account like a user, over the login page. */
  async function connection(loginId: string, decision: 'allow' | 'deny' = 'allow') {
    const options = { signal: AbortSignal.timeout(20_000) }
    const { url, secrets } = await redirect.begin({ state: 'state-1', redirectUri: REDIRECT_URI }, options)
    const query = Object.fromEntries(new URL(await consent(url, loginId, decision)).searchParams)
    return redirect.complete({ query, redirectUri: REDIRECT_URI, choose: chooseFirst, secrets }, options)
  }

  return {
    tumblr,
    app,
    redirect,
    adapter: adapter as Required<Omit<PlatformAdapter, 'renew' | 'revoke' | 'limits'>>,
    control: controlOf(tumblr),
    connection,
    /** The exchange of a callback, with an invented token. */
    connect: () =>
      redirect.complete(
        {
          query: { oauth_verifier: 'x' },
          redirectUri: REDIRECT_URI,
          choose: chooseFirst,
          secrets: { token: 't', secret: 's' },
        },
        { signal: AbortSignal.timeout(20_000) },
      ),
    sign: createSigner({ token: app.consumerKey, secret: app.consumerSecret }),

    async newAccount(): Promise<Credentials> {
      const { loginId } = tumblr.createAccount({ name: `u${randomBytes(6).toString('hex')}` })
      return withVersion((await connection(loginId)).credentials)
    },

    stopServer: () => tumblr.stop(),
    close,

    async stop() {
      await close()
      await tumblr.stop()
    },
  }
}

export type TumblrWorld = Awaited<ReturnType<typeof tumblrWorld>>
