import { isWebUrl } from '../../domain/shared/links.ts'
import { DAY, SECOND } from '../../domain/shared/times.ts'
import type { CallOptions, AuthorizedAccount, Credentials, Profile, RedirectConnect } from '../contract.ts'
import type { ConnectReason } from '../../domain/accounts/platform-connect.ts'
import { PlatformError } from '../errors.ts'
import { toLoginError } from '../shared/login-error.ts'
import { readIssuedToken } from '../shared/graph/responses.ts'
import type { GraphApi } from '../shared/graph/api.ts'
import { requireVisibleAccount } from '../shared/graph/errors.ts'
import { fetchInstagramProfile } from '../shared/graph/instagram-profile.ts'
import { readOwnPages, readPage, readPermissions, type Page } from './responses.ts'

interface AccountDeps {
  api: GraphApi
  /** URL of the login dialog, with the version. */
  dialogUrl: string
  appId: string
  appSecret: string
  extraScopes: string[]
}

/** The permissions for publishing, reading back and insights on pages and their Instagram accounts. */
const SCOPES = [
  'instagram_basic',
  'instagram_content_publish',
  'instagram_manage_insights',
  'pages_show_list',
  'pages_read_engagement',
  'pages_manage_posts',
  'pages_manage_metadata',
  'public_profile',
  'business_management',
]
/** Without these, posts could not be published or found again. */
const REQUIRED_SCOPES = [
  'pages_show_list',
  'pages_read_engagement',
  'pages_manage_posts',
  'instagram_basic',
  'instagram_content_publish',
]

const PAGE_FIELDS = 'id,name,username,picture.type(large){url}'
/** The usual lifetime of a long-lived token, when the response does not state it. */
const USUAL_LIFE_S = (60 * DAY) / SECOND

/**
 * Logs in on Facebook's own page (https://developers.facebook.com/docs/facebook-login/guides/advanced/manual-flow). The
 * login brings the person's first page and its linked Instagram account.
 *
 * There is no `revoke`: `DELETE /me/permissions` would end everything that the person granted this service, including
 * other pages and an account that has just replaced this one.
 */
export function createAccounts({ api, dialogUrl, appId, appSecret, extraScopes }: AccountDeps) {
  const scopes = [...new Set([...SCOPES, ...extraScopes])]
  const client = { client_id: appId, client_secret: appSecret }

  const begin: RedirectConnect['begin'] = async ({ state, redirectUri }) => {
    const url = new URL(dialogUrl)
    url.search = new URLSearchParams({
      client_id: appId,
      redirect_uri: redirectUri,
      state,
      scope: scopes.join(','),
      response_type: 'code',
    }).toString()
    return { url: url.href, secrets: {} }
  }

  const complete: RedirectConnect['complete'] = async ({ query, redirectUri }, options) => {
    const { code, error } = query
    if (error !== undefined || !code) {
      throw toLoginError('Facebook', query)
    }
    const short = await issueToken({ redirect_uri: redirectUri, code }, options)
    const long = await issueToken({ grant_type: 'fb_exchange_token', fb_exchange_token: short.access_token }, options)
    const token = long.access_token
    await assertAllowed(token, options)
    const page = await fetchFirstPage(token, options)
    const linked = page.instagram_business_account
    const endsAt = new Date(Date.now() + (long.expires_in ?? USUAL_LIFE_S) * SECOND)
    return {
      // A page token that comes from a long-lived token does not expire.
      credentials: { accountId: page.id, handle: toHandle(page), accessToken: page.access_token },
      profile: toProfile(page),
      companions: { instagram: linked ? await fetchInstagramAccount(linked.id, token, endsAt, options) : null },
    }
  }

  /** Sent by POST, so that no URL contains the secret or a token. */
  const issueToken = (fields: Record<string, string>, options: CallOptions) =>
    api.post('/oauth/access_token', { ...client, ...fields }, readIssuedToken, options)

  async function assertAllowed(token: string, options: CallOptions): Promise<void> {
    const { data } = await api.get('/me/permissions', {}, readPermissions, { ...options, token })
    const granted = new Set(data.filter(({ status }) => status === 'granted').map(({ permission }) => permission))
    const missing = REQUIRED_SCOPES.filter((scope) => !granted.has(scope))
    if (missing.length > 0)
      throw toPermissionError(
        `Facebook did not grant all permissions: ${missing.join(', ')} is missing`,
        'MISSING_PERMISSION',
      )
  }

  async function fetchFirstPage(token: string, options: CallOptions) {
    const fields = `${PAGE_FIELDS},access_token,instagram_business_account`
    const { data } = await api.get('/me/accounts', { fields, limit: '100' }, readOwnPages, { ...options, token })
    const [page] = data
    if (page) return page
    throw toPermissionError('This Facebook login has no page to publish on, or none was chosen', 'NO_PAGE')
  }

  async function fetchInstagramAccount(
    accountId: string,
    token: string,
    endsAt: Date,
    options: CallOptions,
  ): Promise<AuthorizedAccount> {
    const profile = await fetchInstagramProfile(api, accountId, { ...options, token })
    return { credentials: { accountId, handle: profile.handle, accessToken: token, endsAt }, profile }
  }

  const connect: RedirectConnect = { begin, complete }
  return {
    connect,

    async profile({ accountId, accessToken }: Credentials, options: CallOptions): Promise<Profile> {
      const path = `/${encodeURIComponent(accountId)}`
      const response = api.get(path, { fields: PAGE_FIELDS }, readPage, { ...options, token: accessToken })
      return toProfile(await requireVisibleAccount(api.label, response))
    },
  }
}

function toPermissionError(message: string, connectReason: ConnectReason): PlatformError {
  return new PlatformError('permission', message, { certain: true, connectReason })
}

/** Pages do not need a user name. */
function toHandle({ id, username }: Page): string {
  return username || id
}

function toProfile(page: Page): Profile {
  const avatar = page.picture?.data?.url
  const handle = toHandle(page)
  return { displayName: page.name.trim() || handle, handle, avatar: isWebUrl(avatar) ? avatar : null }
}
