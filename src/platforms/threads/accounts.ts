import { Type, type Static } from '@sinclair/typebox'
import { isWebUrl } from '../../domain/shared/links.ts'
import { trimTrailingSlashes } from '../../domain/shared/text.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { CallOptions, AuthorizedAccount, Credentials, Profile, RedirectConnect } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { toLoginError } from '../shared/login-error.ts'
import { responseReader } from '../shared/responses.ts'
import { readIssuedToken, readQuota } from '../shared/graph/responses.ts'
import type { GraphApi } from '../shared/graph/api.ts'

interface AccountDeps {
  /** The client for calls with a version. */
  api: GraphApi
  /** The client for token calls, which have no version. */
  tokenApi: GraphApi
  authorizeUrl: string
  appId: string
  appSecret: string
  extraScopes: string[]
}

/** The permissions for publishing, reading back and insights. */
const SCOPES = ['threads_basic', 'threads_content_publish', 'threads_manage_insights']

/** https://developers.facebook.com/docs/threads/threads-profiles */
const Me = Type.Object({
  id: Type.String({ minLength: 1 }),
  username: Type.String({ minLength: 1 }),
  name: Type.Optional(Type.String()),
  threads_profile_picture_url: Type.Optional(Type.String()),
  threads_biography: Type.Optional(Type.String()),
})
type Me = Static<typeof Me>
const readMe = responseReader(Me)

const PROFILE_FIELDS = 'id,username,name,threads_profile_picture_url,threads_biography'

/**
 * Logs in on the platform's own page (https://developers.facebook.com/docs/threads/get-started), renews tokens and
 * reads the account.
 */
export function createAccounts({ api, tokenApi, authorizeUrl, appId, appSecret, extraScopes }: AccountDeps) {
  const begin: RedirectConnect['begin'] = async ({ state, redirectUri }) => {
    const url = new URL(`${trimTrailingSlashes(authorizeUrl)}/oauth/authorize`)
    url.search = new URLSearchParams({
      client_id: appId,
      redirect_uri: redirectUri,
      scope: [...new Set([...SCOPES, ...extraScopes])].join(','),
      response_type: 'code',
      state,
    }).toString()
    return { url: url.href, secrets: {} }
  }

  const complete: RedirectConnect['complete'] = async ({ query, redirectUri }, options) => {
    const { error } = query
    // The redirect ends with `#_`, which some clients pass on as part of the code.
    const code = query['code']?.replace(/#_$/, '')
    if (error !== undefined || !code) {
      throw toLoginError('Threads', query)
    }
    const short = await tokenApi.post(
      '/oauth/access_token',
      {
        client_id: appId,
        client_secret: appSecret,
        grant_type: 'authorization_code',
        redirect_uri: redirectUri,
        code,
      },
      readIssuedToken,
      options,
    )
    const long = await tokenApi.get(
      '/access_token',
      { grant_type: 'th_exchange_token', client_secret: appSecret },
      readIssuedToken,
      { ...options, token: short.access_token },
    )
    return fetchAccount(long.access_token, toExpiry(long.expires_in), options)
  }

  async function fetchAccount(
    token: string,
    endsAt: Date | undefined,
    options: CallOptions,
  ): Promise<AuthorizedAccount> {
    const me = await fetchOwnAccount(token, options)
    await assertMayPublish(me, token, options)
    return {
      credentials: { accountId: me.id, handle: me.username, accessToken: token, ...(endsAt && { endsAt }) },
      profile: toProfile(me),
    }
  }

  /** The response does not list the granted scopes. Reading the publishing quota fails without the required one. */
  async function assertMayPublish({ id }: Me, token: string, options: CallOptions): Promise<void> {
    const path = `/${encodeURIComponent(id)}/threads_publishing_limit`
    await api.get(path, { fields: 'quota_usage,config' }, readQuota, { ...options, token })
  }

  async function fetchOwnAccount(token: string, options: CallOptions): Promise<Me> {
    return api.get('/me', { fields: PROFILE_FIELDS }, readMe, { ...options, token })
  }

  const connect: RedirectConnect = { begin, complete }
  return {
    connect,

    profile: async (account: Credentials, options: CallOptions): Promise<Profile> =>
      toProfile(await fetchOwnAccount(account.accessToken, options)),

    /** Threads refuses to renew tokens younger than a day; these are returned unchanged. */
    async renew({ version: _, ...account }: Credentials, options: CallOptions): Promise<Omit<Credentials, 'version'>> {
      const call = { ...options, token: account.accessToken }
      try {
        const renewed = await tokenApi.get(
          '/refresh_access_token',
          { grant_type: 'th_refresh_token' },
          readIssuedToken,
          call,
        )
        const endsAt = toExpiry(renewed.expires_in) ?? account.endsAt
        return { ...account, accessToken: renewed.access_token, ...(endsAt && { endsAt }) }
      } catch (error) {
        if (error instanceof PlatformError && error.class === 'validation') return account
        throw error
      }
    },
  }
}

function toExpiry(expiresInSeconds: number | undefined): Date | undefined {
  return expiresInSeconds === undefined ? undefined : new Date(Date.now() + expiresInSeconds * SECOND)
}

function toProfile({ username, name, ...me }: Me): Profile {
  const avatar = me.threads_profile_picture_url
  const description = me.threads_biography?.trim() ?? ''
  return {
    displayName: name?.trim() || username,
    handle: username,
    avatar: isWebUrl(avatar) ? avatar : null,
    ...(description !== '' && { description }),
  }
}
