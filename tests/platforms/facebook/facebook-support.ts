import type { MetaOptions } from '../../../sandbox/platforms/meta.ts'
import type { Credentials, MediaSource, PlatformAdapter } from '../../../src/platforms/contract.ts'
import { createFacebook, type FacebookOptions } from '../../../src/platforms/facebook/adapter.ts'
import { decide, metaWorld, REDIRECT_URI, VERSION, type DeclinedGrants } from '../shared/meta-support.ts'
import { controlOf, withVersion } from '../shared/support.ts'
import { USER_AGENT } from '../../support/user-agent.ts'
import { chooseFirst } from '../shared/choose-first.ts'

export const PUBLISH_TIMEOUT_MS = 1_500

/** The simulated graph and an adapter that is registered with it. */
export async function facebookWorld(
  media: MediaSource,
  server: MetaOptions = {},
  client: Partial<FacebookOptions> = {},
) {
  const world = await metaWorld(server)
  const { meta, app } = world
  const { adapter, redirect, close } = createFacebook({
    dialogUrl: meta.facebook.url,
    graphUrl: meta.facebook.url,
    version: VERSION,
    appId: app.id,
    appSecret: app.secret,
    publishTimeoutMs: PUBLISH_TIMEOUT_MS,
    media,
    userAgent: USER_AGENT,
    ...client,
  })

  /** Connects an account like a user, over the login page. */
  async function connection(personId: string, declined?: DeclinedGrants, decision?: 'allow' | 'deny') {
    const options = { signal: AbortSignal.timeout(20_000) }
    const { url, secrets } = await redirect.begin({ state: 'state-1', redirectUri: REDIRECT_URI }, options)
    const query = Object.fromEntries(new URL(await decide(url, personId, declined, decision)).searchParams)
    return redirect.complete({ query, redirectUri: REDIRECT_URI, choose: chooseFirst, secrets }, options)
  }

  return {
    ...world,
    redirect,
    adapter: adapter as PlatformAdapter & Required<Pick<PlatformAdapter, 'warmUp'>>,
    control: controlOf(meta.facebook),
    connection,
    /** The exchange of a callback, with an invented code. */
    connect: () =>
      redirect.complete(
        { query: { code: 'x' }, redirectUri: REDIRECT_URI, choose: chooseFirst, secrets: {} },
        { signal: AbortSignal.timeout(20_000) },
      ),

    newAccount: async ({ takesDrafts = true, decline = [] as string[] } = {}): Promise<Credentials> =>
      withVersion((await connection(world.newPerson({ takesDrafts }).person.id, { decline })).credentials),

    stopServer: () => world.stop(),
    close,

    async stop() {
      await close()
      await world.stop()
    },
  }
}

export type FacebookWorld = Awaited<ReturnType<typeof facebookWorld>>
