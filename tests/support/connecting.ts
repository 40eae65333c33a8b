import type { FastifyInstance } from 'fastify'
import { expect } from 'vitest'
import { consent } from '../../sandbox/platforms/shared/consent.ts'
import type { Context } from '../../src/context.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { signIn } from './api.ts'

/** Returns the query of a settings page URL without the reason, which only tests of reasons check. */
export function readOutcome(location: string): string {
  return new URL(location).search.replace(/&reason=\w+/, '')
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

  async function newUser() {
    const { user, headers } = await signIn(context)
    const userId = user._id
    const call = async (method: 'GET' | 'POST' | 'DELETE', path: string, payload?: object) => {
      const url = `/api/platform${path}`
      const response = await app.inject({ method, url, headers, ...(payload && { payload }) })
      return { status: response.statusCode, body: response.json(), text: response.body }
    }
    const authUrl = async (query = ''): Promise<string> => {
      const { authUrl: address, url } = (await call('GET', `/${platform}/connect${query}`)).body.data
      return address ?? url
    }

    return {
      userId,
      call,
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

  return { follow, newUser }
}
