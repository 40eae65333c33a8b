import { randomBytes } from 'node:crypto'
import sharp from 'sharp'
import type { MetaOptions } from '../../../sandbox/platforms/meta.ts'
import { startThreads, type ThreadsOptions } from '../../../sandbox/platforms/threads.ts'
import { consent } from '../../../sandbox/platforms/shared/consent.ts'
import type { Credentials, MediaSource, PlatformAdapter } from '../../../src/platforms/contract.ts'
import { createInstagram, type InstagramOptions } from '../../../src/platforms/instagram/adapter.ts'
import { createThreads, type ThreadsOptions as AdapterOptions } from '../../../src/platforms/threads/adapter.ts'
import { metaWorld, SCOPES, VERSION } from './meta-support.ts'
import { controlOf, withVersion } from './support.ts'
import { USER_AGENT } from '../../support/user-agent.ts'
import { chooseFirst } from './choose-first.ts'

export const REDIRECT_URI = 'https://api.example.test/api/platform/threads/callback'

export const options = () => ({ signal: AbortSignal.timeout(20_000) })

/** A Threads server and an adapter that is registered with it. */
export async function threadsWorld(
  media: MediaSource,
  server: ThreadsOptions = {},
  client: Partial<AdapterOptions> = {},
) {
  const threads = await startThreads({ processingMs: { image: 50, video: 300 }, ...server })
  const app = threads.createApp({ name: 'postonce', redirectUris: [REDIRECT_URI] })
  const { adapter, redirect, close } = createThreads({
    authorizeUrl: threads.url,
    graphUrl: threads.url,
    appId: app.id,
    appSecret: app.secret,
    publishTimeoutMs: 1_500,
    processingWaitMs: 5_000,
    media,
    userAgent: USER_AGENT,
    ...client,
  })

  /** Connects an account like a user, over the login page. */
  async function connection(accountId: string, decision: 'allow' | 'deny' = 'allow', decline: string[] = []) {
    const { url, secrets } = await redirect.begin({ state: 'state-1', redirectUri: REDIRECT_URI }, options())
    const query = Object.fromEntries(new URL(await consent(url, accountId, decision, decline)).searchParams)
    return redirect.complete({ query, redirectUri: REDIRECT_URI, choose: chooseFirst, secrets }, options())
  }

  return {
    threads,
    app,
    redirect,
    adapter: adapter as Required<Omit<PlatformAdapter, 'revoke' | 'limits'>>,
    control: controlOf(threads),
    connection,
    /** The exchange of a callback, with an invented code. */
    connect: () =>
      redirect.complete(
        { query: { code: 'x' }, redirectUri: REDIRECT_URI, choose: chooseFirst, secrets: {} },
        options(),
      ),
    urlCall: 'fields=permalink',

    async newAccount(decline?: string[]): Promise<Credentials> {
      const { id } = threads.createAccount({ username: `u${randomBytes(6).toString('hex')}`, name: 'A Name' })
      return withVersion((await connection(id, 'allow', decline)).credentials)
    },

    stopServer: () => threads.stop(),
    close,

    async stop() {
      await close()
      await threads.stop()
    },
  }
}

export type ThreadsWorld = Awaited<ReturnType<typeof threadsWorld>>

/** The permission for comments, which logins request only on demand. */
const COMMENT_SCOPE = 'instagram_manage_comments'

/** An Instagram server with connected professional accounts, and an adapter for it. */
export async function instagramWorld(
  media: MediaSource,
  server: MetaOptions = {},
  client: Partial<InstagramOptions> = {},
) {
  const { meta, app, logIn, newPerson, stop } = await metaWorld(server)
  const { adapter, close } = createInstagram({
    graphUrl: meta.instagram.url,
    version: VERSION,
    appId: app.id,
    appSecret: app.secret,
    publishTimeoutMs: 1_500,
    processingWaitMs: 5_000,
    media,
    userAgent: USER_AGENT,
    ...client,
  })

  async function newAccount(decline: string[] = []): Promise<Credentials> {
    const { person, pages } = newPerson()
    const accessToken = await logIn(person.id, { decline }, [...SCOPES, COMMENT_SCOPE])
    const account = { accountId: pages[0]!.instagramId!, handle: '', accessToken }
    const { handle } = await adapter.profile(withVersion(account), options())
    return withVersion({ ...account, handle })
  }

  return {
    meta,
    newPerson,
    instagram: meta.instagram,
    adapter: adapter as Required<Omit<PlatformAdapter, 'revoke' | 'limits'>>,
    control: controlOf(meta.instagram),
    store: meta.instagramStore,
    commentScope: COMMENT_SCOPE,
    newAccountWithout: (scope: string) => newAccount([scope]),
    commentElsewhere: meta.commentElsewhere,
    urlCall: 'fields=permalink',

    newAccount,

    stopServer: stop,
    close,

    async stop() {
      await close()
      await stop()
    },
  }
}

export type InstagramWorld = Awaited<ReturnType<typeof instagramWorld>>

export async function picture(
  width: number,
  height: number,
  { type = 'jpeg', alpha = 1 }: { type?: 'jpeg' | 'png' | 'webp'; alpha?: number } = {},
): Promise<Uint8Array> {
  const background = { r: 200, g: 30, b: 30, alpha }
  const image = sharp({ create: { width, height, channels: alpha === 1 ? 3 : 4, background } })
  return new Uint8Array(await image[type]().toBuffer())
}
