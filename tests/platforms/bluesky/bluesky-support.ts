import { startBluesky, type BlueskyAccount } from '../../../sandbox/platforms/bluesky.ts'
import type { Credentials, MediaSource, PlatformAdapter } from '../../../src/platforms/contract.ts'
import { createBluesky, type BlueskyOptions } from '../../../src/platforms/bluesky/adapter.ts'
import { USER_AGENT } from '../../support/user-agent.ts'
import { controlOf, newHandle, withVersion } from '../shared/support.ts'

const options = () => ({ signal: AbortSignal.timeout(20_000) })

/** A Bluesky server and clients of it. */
export async function blueskyWorld(media: MediaSource, client: Partial<BlueskyOptions> = {}) {
  const bluesky = await startBluesky()

  /** Creates a client of this server, or of the one at another URL. */
  const createClient = (overrides: Partial<BlueskyOptions> = {}) =>
    createBluesky({
      entryUrl: bluesky.url,
      accountHosts: [],
      videoUrl: bluesky.url,
      appUrl: 'https://bsky.app',
      publishTimeoutMs: 4_000,
      media,
      userAgent: USER_AGENT,
      ...client,
      ...overrides,
    })
  const { adapter, direct, close } = createClient()

  async function logIn({ handle, appPassword }: BlueskyAccount): Promise<Credentials> {
    return withVersion((await direct.connect(handle, appPassword, options())).credentials)
  }
  const owner = await bluesky.createAccount({ handle: newHandle() })

  return {
    bluesky,
    adapter: adapter as Required<PlatformAdapter>,
    direct,
    control: controlOf(bluesky),
    createClient,
    logIn,
    owner,
    connect: () => direct.connect(owner.handle, owner.appPassword, options()),
    newAccount: async (): Promise<Credentials> => logIn(await bluesky.createAccount({ handle: newHandle() })),
    stopServer: () => bluesky.stop(),
    close,

    async stop() {
      await close()
      await bluesky.stop()
    },
  }
}

export type BlueskyWorld = Awaited<ReturnType<typeof blueskyWorld>>
