import type { Account, Platform } from '../../shared/platforms.tsx'
import { client } from '../../session/session.ts'

/** Platforms whose login happens on their own page. Instagram accounts come with Facebook. */
export type LoginPlatform = Exclude<Platform, 'bluesky' | 'instagram'>

/** Opens the login page of a platform. `server` is empty for the default one. @throws ApiError, ConnectionError */
export async function openLogin(platform: LoginPlatform, server = ''): Promise<void> {
  const query = { replace: 'false' } as const
  location.assign(await loginAddress())

  async function loginAddress(): Promise<string> {
    switch (platform) {
      case 'mastodon':
        return (
          await client.request('POST', '/api/platform/mastodon/connect', {
            query,
            body: server === '' ? {} : { instance: server },
          })
        ).authUrl
      case 'tumblr':
        return (await client.request('GET', '/api/platform/tumblr/connect', { query })).authUrl
      case 'threads':
        return (await client.request('GET', '/api/platform/threads/connect', { query })).url
      case 'facebook':
        return (await client.request('GET', '/api/platform/facebook/connect', { query })).url
    }
  }
}

/** The login that renews an account; null for Bluesky, which asks for an app password. */
export function loginOf({ platform }: Account): LoginPlatform | null {
  if (platform === 'bluesky') return null
  return platform === 'instagram' ? 'facebook' : platform
}
