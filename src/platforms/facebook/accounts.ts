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
import { mapInGroups } from '../shared/map-in-groups.ts'
import { readIssuedToken, type IssuedToken } from '../shared/graph/responses.ts'
import type { GraphApi } from '../shared/graph/api.ts'
import { isUnspecified, requireVisibleAccount } from '../shared/graph/errors.ts'
import { fetchInstagramProfile } from '../shared/graph/instagram-profile.ts'
import { UNKNOWN_SERVICE } from './errors.ts'
import {
  readList,
  readPage,
  readPermissions,
  toBusiness,
  toListedPage,
  type ListedPage,
  type Page,
} from './responses.ts'

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
const REQUIRED_SCOPES = ['pages_show_list', 'pages_read_engagement', 'pages_manage_posts']

type OwnPage = ListedPage & { access_token: string }

/** Lists of 100 entries each. */
const MAX_LISTS = 5
const MAX_BUSINESSES = 50
const CONCURRENT_BUSINESSES = 10
const PAGE_FIELDS = 'id,name,username,picture.type(large){url}'
const LISTED_FIELDS = `${PAGE_FIELDS},access_token,instagram_business_account`
const INSTAGRAM_NOT_GRANTED = 'Instagram did not grant all permissions: connect it again and allow all of them'
const INSTAGRAM_NOT_SHOWN =
  'Instagram does not show this account: check that it is a professional account and linked to the page, then connect it again'
/** The usual lifetime of a long-lived token, when the response does not state it. */
const USUAL_LIFE_S = (60 * DAY) / SECOND

/** A login of a person, for the pages that it offers. */
interface Login {
  token: string
  endsAt: Date
  /** The granted permissions. */
  scopes: string[]
}

type TokenCall = CallOptions & { token: string }

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
    const scopes = await fetchScopes(token, options)
    const pages = await fetchPages(token, options)
    const usable = pages.filter(hasToken)
    const chosen = choose(usable.map((page) => ({ accountId: page.id, mayPost: findProblem(page) === null })))
    const page = usable.find(({ id }) => id === chosen)
    if (!page) throw toPermissionError('This Facebook login has no page to publish on, or none was chosen', 'NO_PAGE')
    const endsAt = new Date(Date.now() + (long.expires_in ?? USUAL_LIFE_S) * SECOND)
    const login = { token, endsAt, scopes }
    const offered = pages.map((one) => ({
      accountId: one.id,
      profile: toProfile(one),
      problem: findProblem(one),
      secrets: { page: JSON.stringify(one), login: JSON.stringify(login) },
    }))
    return { ...(await toResult(page, login, options)), offered }
  }

  const open: RedirectConnect['open'] = async ({ page = '', login = '' }, options) => {
    const { endsAt, ...rest } = JSON.parse(login) as Omit<Login, 'endsAt'> & { endsAt: string }
    return toResult(JSON.parse(page) as OwnPage, { ...rest, endsAt: new Date(endsAt) }, options)
  }

  async function toResult(page: OwnPage, login: Login, options: CallOptions): Promise<RedirectResult> {
    const linked = page.instagram_business_account
    // Without this permission the login does not say which account is linked.
    const showsLinked = login.scopes.includes('instagram_basic')
    return {
      // A page token that comes from a long-lived token does not expire.
      credentials: { accountId: page.id, handle: toHandle(page), accessToken: page.access_token },
      profile: toProfile(page),
      problem: findProblem(page),
      companions: showsLinked
        ? { instagram: linked ? await fetchInstagramAccount(linked.id, login, options) : null }
        : {},
    }
  }

  /** Sent by POST, so that no URL contains the secret or a token. */
  const requestToken = (fields: Record<string, string>, options: CallOptions) =>
    api.post('/oauth/access_token', { ...client, ...fields }, readIssuedToken, options)

  /** A wrong secret has the code of a temporary problem. Then Facebook refuses the service without a login as well. */
  async function issueToken(fields: Record<string, string>, options: CallOptions): Promise<IssuedToken> {
    try {
      return await requestToken(fields, options)
    } catch (error) {
      if (!isUnspecified(error)) throw error
      const isRefused = await requestToken({ grant_type: 'client_credentials' }, options).then(
        () => false,
        isUnspecified,
      )
      if (!isRefused) throw error
      throw new PlatformError('permission', UNKNOWN_SERVICE, {
        certain: true,
        connectReason: 'LOGIN_REFUSED',
        cause: error,
      })
    }
  }

  /** @throws PlatformError when a page could not be used */
  async function fetchScopes(token: string, options: CallOptions): Promise<string[]> {
    const { data } = await api.get('/me/permissions', {}, readPermissions, { ...options, token })
    const granted = data.filter(({ status }) => status === 'granted').map(({ permission }) => permission)
    const missing = REQUIRED_SCOPES.filter((scope) => !granted.includes(scope))
    if (missing.length > 0)
      throw toPermissionError(
        `Facebook did not grant all permissions: ${missing.join(', ')} is missing`,
        'MISSING_PERMISSION',
      )
    return granted
  }

  /**
   * Returns the pages of a person, those with a token first, else in Facebook's order, which may change. Pages that belong to a business
   * portfolio come after those on which the person has a role, and are missing there.
   */
  async function fetchPages(token: string, options: CallOptions): Promise<ListedPage[]> {
    const call = { ...options, token }
    const own = await fetchAll('/me/accounts', `${LISTED_FIELDS},tasks`, toListedPage, call)
    const pages = new Map<string, ListedPage>()
    for (const page of [...own, ...(await fetchPortfolioPages(call))]) {
      if (!pages.get(page.id)?.access_token) pages.set(page.id, page)
    }
    return [...pages.values()].toSorted((one, other) => Number(hasToken(other)) - Number(hasToken(one)))
  }

  /** Portfolios are read as far as the login may; what fails never hides other pages. */
  async function fetchPortfolioPages(call: TokenCall): Promise<ListedPage[]> {
    const list = <T>(...request: Parameters<typeof fetchAll<T>>) =>
      fetchAll(...request).catch((error: unknown) => {
        if (error instanceof PlatformError && error.class !== 'unauthorized') return []
        throw error
      })
    const businesses = await list('/me/businesses', 'id', toBusiness, call)
    const lists = await mapInGroups(businesses.slice(0, MAX_BUSINESSES), CONCURRENT_BUSINESSES, async ({ id }) => {
      const edges = ['owned_pages', 'client_pages'].map((edge) => `/${encodeURIComponent(id)}/${edge}`)
      return Promise.all(edges.map((path) => list(path, LISTED_FIELDS, toListedPage, call)))
    })
    return lists.flat(2)
  }

  async function fetchAll<T>(
    path: string,
    fields: string,
    toEntry: (value: unknown) => T | null,
    call: TokenCall,
  ): Promise<T[]> {
    const entries: T[] = []
    let after: string | undefined
    for (let listed = 0; listed < MAX_LISTS; listed++) {
      const { data, paging } = await api.get(path, { fields, limit: '100', after }, readList, call)
      entries.push(...data.map(toEntry).filter((entry) => entry !== null))
      after = paging?.next && paging.cursors?.after
      if (after === undefined) break
    }
    return entries
  }

  /** An account whose profile cannot be read is connected all the same, because the page says that it is linked. */
  async function fetchInstagramAccount(
    accountId: string,
    { token, endsAt, scopes }: Login,
    options: CallOptions,
  ): Promise<AuthorizedAccount> {
    const credentials = { accountId, accessToken: token, endsAt }
    const problem = scopes.includes('instagram_content_publish') ? null : INSTAGRAM_NOT_GRANTED
    try {
      const profile = await fetchInstagramProfile(api, accountId, { ...options, token })
      return { credentials: { ...credentials, handle: profile.handle }, profile, problem }
    } catch (error) {
      if (!(error instanceof PlatformError) || error.class === 'unauthorized') throw error
      const profile = { displayName: accountId, handle: accountId, avatar: null }
      const isRefused = ['not_found', 'permission', 'validation'].includes(error.class)
      const unreadable = isRefused ? INSTAGRAM_NOT_SHOWN : null
      return { credentials: { ...credentials, handle: accountId }, profile, problem: problem ?? unreadable }
    }
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

/** Returns why nothing can be published on the page (https://developers.facebook.com/docs/pages-api/overview#tasks); null when it can. */
function findProblem({ access_token: token, tasks }: ListedPage): string | null {
  if (token === undefined)
    return 'Facebook gives no access to this page: ask its owner for a role on it, then connect it again'
  const mayPost = tasks === undefined || tasks.includes('CREATE_CONTENT') || tasks.includes('MANAGE')
  return mayPost
    ? null
    : 'Your role on this page does not allow posts: ask its owner for another role, then connect it again'
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
  return { displayName: page.name?.trim() || handle, handle, avatar: isWebUrl(avatar) ? avatar : null }
}
