import { afterAll, beforeAll, expect, it } from 'vitest'
import { readConfig } from '../../src/config/schema.ts'
import { apiWorld, signIn, type ApiWorld } from '../support/api.ts'
import { startOAuthPlatform } from '../support/oauth-platform.ts'

/**
 * An attacker starts to connect their own account as an API client and makes the victim's browser open the callback: as a link, as
 * an image or by a script. The victim's posts would then be published on the attacker's account.
 */
let platform: Awaited<ReturnType<typeof startOAuthPlatform>>
let world: ApiWorld

beforeAll(async () => {
  platform = await startOAuthPlatform()
  world = await apiWorld({ CONNECT_COOKIE: 'browsers' }, { platforms: platform.registry })
})
afterAll(async () => {
  await world?.close()
  await platform?.stop()
})

const connected = async (userId: string) => (await world.context.accounts.connectedPlatforms(userId)).size

async function startAttempt() {
  const { user, headers } = await signIn(world.context)
  const response = await world.app.inject({ url: '/api/platform/mastodon/connect', headers })
  const { code, state } = platform.consent(response.json().data.authUrl as string)
  const query = new URLSearchParams({ code, state }).toString()
  const open = (signs: Record<string, string>) =>
    world.app.inject({ url: `/api/platform/mastodon/callback?${query}`, headers: signs })
  return { userId: user._id, open }
}

it.each<[string, Record<string, string>]>([
  ['a link', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }],
  ['an image', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }],
  ['a script of another site', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'empty' }],
  ['a fetch with an Origin header', { origin: 'https://evil.example' }],
  ['a form of an old browser', { origin: 'null' }],
  ['an image of an old browser', { referer: 'https://evil.example/page' }],
  ['a stylesheet', { 'sec-fetch-dest': 'style' }],
])("%s in the victim's browser cannot finish an attempt that an API client started", async (_way, signs) => {
  const { userId, open } = await startAttempt()
  const response = await open(signs)
  expect(response.headers.location).toContain('?error=mastodon_state_invalid&reason=ATTEMPT_INVALID')
  expect(await connected(userId)).toBe(0)
  // The attempt is not used up: the client itself can continue.
  expect((await open({})).headers.location).toContain('?success=mastodon_connected')
  expect(await connected(userId)).toBe(1)
})

it('production requires the binding cookie of every client by default', () => {
  const secrets = {
    S3_SECRET_ACCESS_KEY: 'secret',
    JWT_SECRET: 'j'.repeat(32),
    REFRESH_TOKEN_SECRET: 'r'.repeat(32),
    OAUTH_STATE_SECRET: 'o'.repeat(32),
    TOKEN_ENCRYPTION_KEYS: `k:${Buffer.alloc(32).toString('base64')}`,
    TRUSTED_PROXIES: 'none',
  }
  expect(readConfig(secrets)).toMatchObject({ NODE_ENV: 'production', CONNECT_COOKIE: 'always' })
})
