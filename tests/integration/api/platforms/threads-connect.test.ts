import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { consent } from '../../../../sandbox/platforms/shared/consent.ts'
import { startThreads, type Threads } from '../../../../sandbox/platforms/threads.ts'
import { DAY } from '../../../../src/domain/shared/times.ts'
import { connectSuite } from './connect-suite.ts'

const PROFILE = '/v1.0/me'

const refusal = (code: number) => ({
  status: 400,
  body: { error: { message: 'Refused', type: 'OAuthException', code } },
})

let threads: Threads

const { newUser, follow, connected, platformsOf, simulator, control } = connectSuite({
  platform: 'threads',
  async start() {
    threads = await startThreads()
    return {
      controls: [threads.control],
      register(callbackUrl) {
        const { id, secret } = threads.createApp({ name: 'postonce', redirectUris: [callbackUrl] })
        return {
          THREADS_APP_ID: id,
          THREADS_APP_SECRET: secret,
          THREADS_AUTHORIZE_URL: threads.url,
          THREADS_GRAPH_URL: threads.url,
        }
      },
      newAccount() {
        const { id, username } = threads.createAccount({ username: `t${randomBytes(6).toString('hex')}`, name: 'Ann' })
        return { login: id, accountId: id, username }
      },
      stop: () => threads.stop(),
    }
  },
  page: (callbackUrl) => ({
    address: `${threads.url}/oauth/authorize`,
    parameters: { response_type: 'code', redirect_uri: callbackUrl },
  }),
  fieldsOf: ({ username }) => ({ profile: { displayName: 'Ann', handle: username } }),
  exchangePath: '/oauth/access_token',
  lastPath: 'threads_publishing_limit',
  profilePath: () => PROFILE,
  revokedId: ({ accountId }) => accountId,
  refusal: refusal(101),
  rateLimit: refusal(4),
  pausesExchanges: true,
  failures: [
    ['the short-lived token', '/oauth/access_token', { status: 500 }, 'connect_failed'],
    ['the long-lived token', 'th_exchange_token', { status: 500 }, 'connect_failed'],
    ['the profile', PROFILE, { status: 500 }, 'connect_failed'],
  ],
})

describe('Threads alone', () => {
  it('a Threads account is connected for sixty days', async () => {
    const { data } = (await (await connected()).find()).body
    expect((Date.parse(data.threads.health.expiresAt) - Date.now()) / DAY).toBeCloseTo(60, 0)
  })

  it('nothing is stored without the permission to publish on Threads', async () => {
    const user = await newUser()
    const url = await user.authUrl()
    const callback = await consent(url, simulator().newAccount().login, 'allow', ['threads_content_publish'])
    expect(await follow(callback)).toBe('?error=threads_auth_failed')
    expect(await platformsOf(user.userId)).toEqual([])
  })

  it('a refresh updates the profile and keeps the token', async () => {
    const user = await connected()
    const { accessToken } = await user.credentials()
    const { accountId: id, username } = user.account
    const name = { id, username, name: 'Ann the Second' }
    await control().fault({ path: PROFILE, times: 1, action: { status: 200, body: name } })
    const { status, body } = await user.refresh()
    expect(status).toBe(200)
    expect(body.data.profile.displayName).toBe('Ann the Second')
    expect((await user.credentials()).accessToken).toBe(accessToken)
  })
})
