import type { FastifyInstance } from 'fastify'
import { expect } from 'vitest'
import { consent } from '../../sandbox/platforms/shared/consent.ts'
import type { Context } from '../../src/context.ts'
import type { Platform } from '../../src/domain/platforms.ts'
import { signIn } from './api.ts'

/** Users who connect an account on the page of a platform, through the routes of `app`. */
export function connecting(platform: Platform, context: Context, app: FastifyInstance) {
  /** Follows the redirect to the callback, and answers what the settings page is told. */
  async function follow(location: string): Promise<string> {
    const { pathname, search } = new URL(location)
    const response = await app.inject({ url: `${pathname}${search}` })
    expect(response.statusCode).toBe(302)
    return new URL(String(response.headers.location)).search
  }

  async function someone() {
    const who = await signIn(context)
    const userId = who.user._id
    const call = async (method: 'GET' | 'DELETE', path: string) => {
      const response = await app.inject({ method, url: `/api/platform${path}`, headers: who.headers })
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
      stored: () => context.accounts.findConnected(userId, platform),
      find: () => call('GET', '/find'),
      refresh: () => call('GET', `/${platform}/refresh`),
      disconnect: () => call('DELETE', `/${platform}/disconnect`),
      /** Goes to the page and presses a button there. */
      connect: async (accountId: string, decision?: 'allow' | 'deny') =>
        follow(await consent(await authUrl(), accountId, decision)),
    }
  }

  return { follow, someone }
}
