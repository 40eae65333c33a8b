import type { CallOptions, Credentials, Profile, RedirectConnect, RedirectResult } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { createSender } from '../shared/calls.ts'
import { parseCount } from '../shared/counts.ts'
import type { HttpResponse, HttpClient } from '../shared/http.ts'
import { readTokenPair, toBlog, type Blog } from './responses.ts'
import type { Api, UserToken } from './api.ts'
import { toError } from './errors.ts'
import type { Signer, TokenPair } from './oauth1.ts'

interface AccountDeps {
  api: Api
  /** The client for calls that can wait. */
  reading: Api
  http: HttpClient
  /** Base URL of the pages for people and of the three OAuth calls. */
  wwwUrl: string
  sign: Signer
}

/** Logs in on Tumblr's own page by OAuth 1.0a (RFC 5849 section 2) and reads the user's blog. */
export function createAccounts({ api, reading, http, wwwUrl, sign }: AccountDeps) {
  const sendCall = createSender(http, { label: 'Tumblr', toError: toLoginRefusal, isPlatformError: isLoginPageError })

  async function requestToken(
    path: string,
    { oauth, token, signal }: { oauth: Record<string, string>; token?: TokenPair } & CallOptions,
  ) {
    const method = 'POST'
    const url = new URL(`${wwwUrl}/oauth/${path}`)
    const authorization = sign({ method, url, oauth, ...(token && { token }) })
    const headers = { 'content-length': '0', authorization }
    return (await sendCall({ method, url, headers, signal }, readTokenPair)).body
  }

  const begin: RedirectConnect['begin'] = async ({ state, redirectUri }, options) => {
    const callback = new URL(redirectUri)
    callback.searchParams.set('state', state)
    const { token, secret, isConfirmed } = await requestToken('request_token', {
      ...options,
      oauth: { oauth_callback: callback.href },
    })
    // Without this, an attacker could have chosen the callback (RFC 5849 section 2.1).
    if (!isConfirmed) throw new PlatformError('transient', 'Tumblr did not confirm the callback', { certain: true })
    const url = `${wwwUrl}/oauth/authorize?${new URLSearchParams({ oauth_token: token }).toString()}`
    return { url, secrets: { token, secret }, lookup: token }
  }

  const complete: RedirectConnect['complete'] = async ({ query, secrets, choose }, options) => {
    const { oauth_verifier: verifier } = query
    if (!verifier)
      throw new PlatformError('permission', 'Access was denied on Tumblr', { certain: true, connectReason: 'DENIED' })
    const token = { token: secrets['token'] ?? '', secret: secrets['secret'] ?? '' }
    const granted = await requestToken('access_token', { ...options, token, oauth: { oauth_verifier: verifier } })
    const { user } = await api.user({ token: granted, ...options })
    const blogs = listBlogs(user).toSorted(
      (one, other) => Number(other.primary ?? false) - Number(one.primary ?? false),
    )
    const chosen = choose(blogs.map((blog) => ({ accountId: toBlogId(blog), mayPost: true })))
    const blog = blogs.find((one) => toBlogId(one) === chosen)
    if (!blog)
      throw new PlatformError('permission', 'This Tumblr account has no blog', {
        certain: true,
        connectReason: 'NO_PAGE',
      })
    const offered = blogs.map((one) => ({
      accountId: toBlogId(one),
      profile: toProfile(one),
      problem: null,
      secrets: { token: granted.token, secret: granted.secret, blog: JSON.stringify(one) },
    }))
    return { ...toResult(blog, granted), offered }
  }

  const open: RedirectConnect['open'] = async ({ blog = '', token = '', secret = '' }) =>
    toResult(JSON.parse(blog) as Blog, { token, secret })

  const toResult = (blog: Blog, { token, secret }: TokenPair): RedirectResult => ({
    credentials: { accountId: toBlogId(blog), handle: blog.name, accessToken: token, tokenSecret: secret },
    profile: toProfile(blog),
  })

  async function fetchOwnBlog(fromApi: Api, account: Credentials, options: CallOptions): Promise<Blog> {
    const { user } = await fromApi.user({ token: toTokenPair(account), ...options })
    const blog = listBlogs(user).find((one) => toBlogId(one) === account.accountId)
    if (!blog) {
      const message = 'The blog is no longer in this account: connect it again'
      throw new PlatformError('permission', message, { certain: true, needsReconnection: true })
    }
    return blog
  }

  function toProfile({ name, title }: Blog): Profile {
    return { displayName: title?.trim() || name, handle: name, avatar: api.toAvatarUrl(name) }
  }

  return {
    connect: { lookupParameter: 'oauth_token', begin, complete, open } satisfies RedirectConnect,

    profile: async (account: Credentials, options: CallOptions): Promise<Profile> =>
      toProfile(await fetchOwnBlog(reading, account, options)),

    followers: async (account: Credentials, options: CallOptions): Promise<number | null> =>
      parseCount((await fetchOwnBlog(reading, account, options)).followers),
  }
}

const listBlogs = ({ blogs }: { blogs: unknown[] }): Blog[] => blogs.map(toBlog).filter((blog) => blog !== null)

/** Names change and ids do not; the name is the id only where Tumblr reports no id. */
function toBlogId({ uuid, name }: Blog): string {
  return uuid ?? name
}

/** @throws PlatformError `unauthorized` */
export function toTokenPair({ accessToken, tokenSecret, userId }: Credentials): UserToken {
  if (tokenSecret !== undefined) return { token: accessToken, secret: tokenSecret, userId }
  throw new PlatformError('unauthorized', 'The stored Tumblr login is incomplete: connect Tumblr again', {
    certain: true,
  })
}

/** The OAuth calls report errors as a line of text, or as a page that names a parameter. */
function isLoginPageError({ text }: HttpResponse): boolean {
  return /^\s*[<{[]/.test(text) ? /\boauth_/.test(text) : text.trim() !== ''
}

/** The OAuth calls have their own errors; there a refusal concerns the authorization and not an earlier login. */
function toLoginRefusal(response: HttpResponse): PlatformError {
  const { status } = response
  const refusal = toError(response)
  if (refusal.class === 'transient' || (status !== 400 && status !== 401)) return refusal
  return new PlatformError('permission', 'Tumblr does not accept this login', {
    certain: true,
    connectReason: 'LOGIN_REFUSED',
    cause: refusal,
  })
}
