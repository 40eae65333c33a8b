import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { startMastodon, type Mastodon } from '../../../../sandbox/platforms/mastodon.ts'
import { consent } from '../../../../sandbox/platforms/shared/consent.ts'
import { connectSuite } from './connect-suite.ts'

const EXCHANGE = '/oauth/token'
const PROFILE = '/api/v1/accounts/verify_credentials'

let mastodon: Mastodon

const { newUser, follow, connected, platformsOf, simulator, context, signal } = connectSuite({
  platform: 'mastodon',
  async start() {
    mastodon = await startMastodon()
    return {
      controls: [mastodon.control],
      register(callbackUrl) {
        const { clientId, clientSecret } = mastodon.createApp({ name: 'postonce', redirectUris: [callbackUrl] })
        return {
          MASTODON_INSTANCE_URL: mastodon.url,
          MASTODON_CLIENT_ID: clientId,
          MASTODON_CLIENT_SECRET: clientSecret,
        }
      },
      newAccount() {
        const { id, username } = mastodon.createAccount({
          username: `u${randomBytes(6).toString('hex')}`,
          displayName: 'Ann',
        })
        return { login: id, accountId: id, username }
      },
      stop: () => mastodon.stop(),
    }
  },
  page: (callbackUrl) => ({
    address: `${mastodon.url}/oauth/authorize`,
    parameters: {
      response_type: 'code',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      redirect_uri: callbackUrl,
    },
  }),
  fieldsOf: ({ accountId, username }) => ({
    accountId,
    instanceUrl: mastodon.url,
    profile: { displayName: 'Ann', handle: `${username}@${new URL(mastodon.url).host}` },
    health: { status: 'active', needsReconnection: false, expiresAt: null },
  }),
  exchangePath: EXCHANGE,
  lastPath: PROFILE,
  profilePath: () => PROFILE,
  revokedId: ({ accountId }) => accountId,
  refusal: { status: 401, body: { error: 'invalid_client' } },
  rateLimit: { status: 429, body: { error: 'Too many' } },
  pausesExchanges: true,
  failures: [
    [
      'the exchange, granting too little',
      EXCHANGE,
      { status: 200, body: { access_token: 'x', token_type: 'Bearer', scope: 'read:accounts', created_at: 1 } },
      'auth_failed',
    ],
  ],
})

describe('Mastodon alone', () => {
  it('a code is refused with the verifier of another attempt', async () => {
    const user = await newUser()
    const first = await consent(await user.authUrl(), simulator().newAccount().login)
    const second = new URL(await user.authUrl())
    const mixed = new URL(first)
    mixed.searchParams.set('state', second.searchParams.get('state')!)
    expect(await follow(mixed.href)).toBe('?error=mastodon_auth_failed')
    expect(await platformsOf(user.userId)).toEqual([])
  })

  it('connecting another Mastodon account ends the session of the first', async () => {
    const user = await connected()
    const first = await user.credentials()
    expect(await user.connect(simulator().newAccount().login)).toBe('?success=mastodon_connected')
    await expectSessionEnded(first)
  })

  it('disconnecting a Mastodon account revokes its login', async () => {
    const user = await connected()
    const used = await user.credentials()
    await user.disconnect()
    await expectSessionEnded(used)
  })

  async function expectSessionEnded(
    credentials: Awaited<ReturnType<Awaited<ReturnType<typeof connected>>['credentials']>>,
  ) {
    const reading = context().platforms.find('mastodon')!.profile(credentials, { signal: signal() })
    await expect(reading).rejects.toMatchObject({ class: 'unauthorized' })
  }
})
