import { isWebUrl } from '../../domain/shared/links.ts'
import { DAY, SECOND } from '../../domain/shared/times.ts'
import type {
  CallOptions,
  AuthorizedAccount,
  Credentials,
  Profile,
  RedirectConnect,
  RedirectResult,
} from '../contract.ts'
import type { ConnectReason } from '../../domain/accounts/platform-connect.ts'
import { PlatformError } from '../errors.ts'
import { toLoginError } from '../shared/login-error.ts'
import { readIssuedToken } from '../shared/graph/responses.ts'
import type { GraphApi } from '../shared/graph/api.ts'
import { requireVisibleAccount } from '../shared/graph/errors.ts'
import { fetchInstagramProfile } from '../shared/graph/instagram-profile.ts'
import { readOwnPages, readPage, readPermissions, type ListedPage, type Page } from './responses.ts'

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

type OwnPage = ListedPage & { access_token: string }

/** Listings of 100 pages each. */
const MAX_LISTINGS = 5
const PAGE_FIELDS = 'id,name,username,picture.type(large){url}'
/** The usual lifetime of a long-lived token, when the response does not state it. */
const USUAL_LIFE_S = (60 * DAY) / SECOND

/**
 * Logs in on Facebook's own page (https://developers.facebook.com/docs/facebook-login/guides/advanced/manual-flow). The
 * login brings one of the person's pages and its linked Instagram account, and offers the other pages.
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

  const complete: RedirectConnect['complete'] = async ({ query, redirectUri, choose }, options) => {
    const { code, error } = query
    if (error !== undefined || !code) {
      throw toLoginError('Facebook', query)
    }
    const short = await issueToken({ redirect_uri: redirectUri, code }, options)
    const long = await issueToken({ grant_type: 'fb_exchange_token', fb_exchange_token: short.access_token }, options)
    const token = long.access_token
    await assertAllowed(token, options)
    const pages = await fetchPages(token, options)
    const chosen = choose(pages.map((page) => ({ accountId: page.id, mayPost: mayPost(page) })))
    const page = pages.find(({ id }) => id === chosen)
    if (!page) throw toPermissionError('This Facebook login has no page to publish on, or none was chosen', 'NO_PAGE')
    const endsAt = new Date(Date.now() + (long.expires_in ?? USUAL_LIFE_S) * SECOND)
    const offered = pages.filter(mayPost).map((one) => ({
      accountId: one.id,
      profile: toProfile(one),
      secrets: { page: JSON.stringify(one), token, endsAt: endsAt.toISOString() },
    }))
    return { ...(await toResult(page, token, endsAt, options)), offered }
  }

  const open: RedirectConnect['open'] = async ({ page = '', token = '', endsAt = '' }, options) =>
    toResult(JSON.parse(page) as OwnPage, token, new Date(endsAt), options)

  async function toResult(page: OwnPage, token: string, endsAt: Date, options: CallOptions): Promise<RedirectResult> {
    const linked = page.instagram_business_account
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

  /** Returns the pages of a person that have a token, in Facebook's order, which may change. */
  async function fetchPages(token: string, options: CallOptions): Promise<OwnPage[]> {
    const fields = `${PAGE_FIELDS},access_token,tasks,instagram_business_account`
    const pages: OwnPage[] = []
    let after: string | undefined
    for (let listed = 0; listed < MAX_LISTINGS; listed++) {
      const params = { fields, limit: '100', after }
      const { data, paging } = await api.get('/me/accounts', params, readOwnPages, { ...options, token })
      pages.push(...data.filter(hasToken))
      after = paging?.next && paging.cursors?.after
      if (after === undefined) break
    }
    return pages
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

  const connect: RedirectConnect = { begin, complete, open }
  return {
    connect,

    async profile({ accountId, accessToken }: Credentials, options: CallOptions): Promise<Profile> {
      const path = `/${encodeURIComponent(accountId)}`
      const response = api.get(path, { fields: PAGE_FIELDS }, readPage, { ...options, token: accessToken })
      return toProfile(await requireVisibleAccount(api.label, response))
    },
  }
}

/** A page is listed without a token when the person may only see it. */
function hasToken(page: ListedPage): page is OwnPage {
  return page.access_token !== undefined
}

/** https://developers.facebook.com/docs/pages-api/overview#tasks */
function mayPost({ tasks }: OwnPage): boolean {
  return tasks === undefined || tasks.includes('CREATE_CONTENT') || tasks.includes('MANAGE')
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
