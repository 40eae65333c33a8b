import { trimTrailingSlashes } from '../../domain/shared/text.ts'
import type { PublicationReport } from '../../domain/quotas/publications.ts'
import { SECOND } from '../../domain/shared/times.ts'
import type { Credentials } from '../contract.ts'
import { PlatformError } from '../errors.ts'
import { createSender, toFormBody } from '../shared/calls.ts'
import type { HttpClient, HttpRequest } from '../shared/http.ts'
import { readLimits, readUser } from './responses.ts'
import { isRefusedAs } from '../shared/refusals.ts'
import { isOwnError, toError, toDailyLimitError } from './errors.ts'
import type { Signer, TokenPair } from './oauth1.ts'

interface ApiDeps {
  http: HttpClient
  apiUrl: string
  sign: Signer
}

/** A token, with the user here that it belongs to. */
export interface UserToken extends TokenPair {
  userId?: string | undefined
}

interface ApiOptions {
  token: UserToken
  signal: AbortSignal
  timeoutMs?: number
}

interface Call {
  method: HttpRequest['method']
  path: string
  params?: Record<string, string>
  /** Fields of a form, which are part of the signature. */
  fields?: Record<string, string>
  /** JSON or multipart, which is not part of the signature. */
  body?: Required<Pick<HttpRequest, 'headers' | 'body'>>
}

type Reader<T> = (text: string) => T | null

/** Creates a client for https://www.tumblr.com/docs/en/api/v2 that signs each call. */
export function createApi({ http, apiUrl, sign }: ApiDeps) {
  const base = trimTrailingSlashes(apiUrl)
  const sendCall = createSender(http, { label: 'Tumblr', toError, isPlatformError: isOwnError })

  async function send<T>(
    { method, path, params, fields, body }: Call,
    read: Reader<T>,
    options: ApiOptions,
  ): Promise<T> {
    const { token, ...limits } = options
    const url = new URL(`${base}/v2${path}`)
    if (params) url.search = new URLSearchParams(params).toString()
    const authorization = sign({ method, url, token, ...(fields && { fields }) })
    const headers = { accept: 'application/json', authorization }
    const content = fields ? toFormBody(fields) : body
    const call = {
      method,
      url,
      userId: token.userId,
      ...limits,
      ...content,
      headers: { ...content?.headers, ...headers },
    }
    return (await sendCall(call, read)).body
  }

  /** Sends a call. Two kinds of refusals need a second call that finds their reason. */
  async function sendAndExplain<T>(call: Call, read: Reader<T>, options: ApiOptions): Promise<T> {
    try {
      return await send(call, read, options)
    } catch (error) {
      if (isRefusedAs(error, 'login') && call.path !== USER_INFO) throw await recheckLogin(error, options)
      if (isRefusedAs(error, 'day-limit')) throw toDailyLimitError(error, await fetchDailyResetMs(options))
      throw error
    }
  }

  /** Reads the user after a 401, because a single 401 does not mean that the login has ended. */
  async function recheckLogin(refusal: PlatformError, options: ApiOptions): Promise<PlatformError> {
    try {
      await send({ method: 'GET', path: USER_INFO }, readUser, options)
    } catch (error) {
      if (isRefusedAs(error, 'login')) return refusal
    }
    return new PlatformError('transient', 'Tumblr refused a signature although the login is valid', {
      certain: true,
      cause: refusal,
    })
  }

  /** Reads what the account may still do today, by the platform's names. */
  async function fetchDailyLimits(options: ApiOptions) {
    const { user } = await send({ method: 'GET', path: '/user/limits' }, readLimits, options)
    return Object.entries(user).map(([name, { limit, remaining, reset_at }]) => {
      return { name, limit, remaining, resetsInMs: Math.max(SECOND, reset_at * SECOND - Date.now()) }
    })
  }

  async function fetchDailyResetMs(options: ApiOptions): Promise<number | undefined> {
    const limits = await fetchDailyLimits(options).catch(() => [])
    const spent = limits.filter(({ remaining }) => remaining <= 0)
    return spent.length === 0 ? undefined : Math.max(...spent.map(({ resetsInMs }) => resetsInMs))
  }

  return {
    send: sendAndExplain,
    /** Returns the limit of the account's posts today. */
    async readPublicationQuota(options: ApiOptions): Promise<PublicationReport[]> {
      const posts = (await fetchDailyLimits(options)).find(({ name }) => name === 'posts')
      if (posts?.limit === undefined) return []
      const { limit, remaining, resetsInMs } = posts
      return [{ span: 'day', limit, remaining: Math.max(0, remaining), resetsInMs }]
    },
    user: (options: ApiOptions) => sendAndExplain({ method: 'GET', path: USER_INFO }, readUser, options),
    /** Opens a connection for a call within the next seconds. */
    warm: (): void => http.warm(new URL(base)),
    /** Returns the URL of a blog's public avatar (https://www.tumblr.com/docs/en/api/v2#avatar--retrieve-a-blog-avatar). */
    toAvatarUrl: (blog: string): string => `${base}/v2/blog/${blog}.tumblr.com/avatar/512`,
  }
}

export type Api = ReturnType<typeof createApi>

const USER_INFO = '/user/info'

export function toBlogPath({ accountId }: Pick<Credentials, 'accountId'>, rest: string): string {
  return `/blog/${encodeURIComponent(accountId)}/${rest}`
}
