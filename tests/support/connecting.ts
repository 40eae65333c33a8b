import type { FastifyInstance } from 'fastify'
import { expect, it } from 'vitest'
import { consent } from '../../sandbox/platforms/shared/consent.ts'
import type { Context } from '../../src/context.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { signIn } from './api.ts'
import type { Control } from './platform-control.ts'

/** Returns the query of a settings page URL without the reason, which only tests of reasons check. */
export function readOutcome(location: string): string {
  return new URL(location).search.replace(/&reason=\w+$/, '')
}

/** Creates users who connect an account on the page of a platform, through the routes of `app`. */
export function connecting(platform: Platform, context: Context, app: FastifyInstance) {
  /** Follows the redirect to the callback, and returns the query of the settings page. */
  async function follow(location: string): Promise<string> {
    const { pathname, search } = new URL(location)
    const response = await app.inject({ url: `${pathname}${search}` })
    expect(response.statusCode).toBe(302)
    return readOutcome(String(response.headers.location))
  }

  async function someone() {
    const { user, headers } = await signIn(context)
    const userId = user._id
    const call = async (method: 'GET' | 'DELETE', path: string) => {
      const response = await app.inject({ method, url: `/api/platform${path}`, headers })
      return { status: response.statusCode, body: response.json(), text: response.body }
    }
    const authUrl = async (): Promise<string> => {
      const { authUrl: address, url } = (await call('GET', `/${platform}/connect`)).body.data
      return address ?? url
    }

    return {
      userId,
      authUrl,
      begin: () => call('GET', `/${platform}/connect`),
      stored: () => context.accounts.findDefault(userId, platform),
      find: () => call('GET', '/find'),
      refresh: () => call('GET', `/${platform}/refresh`),
      disconnect: () => call('DELETE', `/${platform}/disconnect`),
      /** Opens the platform's page, allows or denies there, and returns the query of the settings page. */
      connect: async (accountId: string, decision?: 'allow' | 'deny') =>
        follow(await consent(await authUrl(), accountId, decision)),
    }
  }

  return { follow, someone }
}

interface Connections {
  platform: Platform
  /** Creates a user with a connected account. */
  connected(): Promise<
    Awaited<ReturnType<ReturnType<typeof connecting>['someone']>> & { login: string; accountId: string }
  >
  someone: ReturnType<typeof connecting>['someone']
  control(): Control
  /** A part of the path of the call that reads the profile. */
  profilePath: string
}

/** Tests the connections of a platform that users connect on its own page. */
export function testConnections({ platform, connected, someone, control, profilePath }: Connections): void {
  const [success, failure] = [`?success=${platform}_connected`, `?error=${platform}_connect_failed`]

  it("connecting another user's account fails and does not affect the owner's connection", async () => {
    const [owner, other] = [await connected(), await someone()]
    expect(await other.connect(owner.login)).toBe(failure)
    expect(await other.stored()).toBeNull()
    expect(await owner.refresh()).toMatchObject({ status: 200 })
  })

  it('a connection with a revoked login requires a reconnect and works again afterwards', async () => {
    const user = await connected()
    await control().revoke(user.accountId)
    expect(await user.refresh()).toMatchObject({ status: 409, body: { code: 'RECONNECT_REQUIRED' } })
    const { health } = (await user.find()).body.data[platform]
    expect(health).toMatchObject({ status: 'expired', needsReconnection: true })
    expect(await user.connect(user.login)).toBe(success)
    expect(await user.refresh()).toMatchObject({ status: 200, body: { data: { health: { status: 'active' } } } })
  })

  it('a connection keeps its profile while the platform is unavailable', async () => {
    const user = await connected()
    const before = (await user.find()).body.data[platform].profile
    await control().fault({ path: profilePath, action: { status: 503, body: {} } })
    expect(await user.refresh()).toMatchObject({ status: 502, body: { code: 'PLATFORM_UNAVAILABLE' } })
    const after = (await user.find()).body.data[platform]
    expect(after).toMatchObject({ profile: before, health: { status: 'active' } })
  })
}
