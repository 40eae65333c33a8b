import { trimTrailingSlashes } from '../../domain/shared/text.ts'
import { createSender, ignoreBody } from '../shared/calls.ts'
import type { HttpClient, HttpRequest } from '../shared/http.ts'
import { toQueryString, type Query } from '../shared/query-string.ts'
import { isRefusedWith } from '../shared/refusals.ts'
import { isOwnError, toBlockedLoginError, toError } from './errors.ts'

interface ApiOptions {
  /** Bearer token. */
  token?: string
  signal: AbortSignal
  timeoutMs?: number
  publisher?: string
}

type Call = Pick<HttpRequest, 'method' | 'url' | 'headers' | 'body'>
type Body = Required<Pick<HttpRequest, 'headers' | 'body'>>

/** The account of a token. A login that may not read it may do nothing. */
export const OWN_ACCOUNT = '/api/v1/accounts/verify_credentials'

/** Creates a client for one Mastodon server (https://docs.joinmastodon.org/api/). */
export function createApi(http: HttpClient, baseUrl: string) {
  const base = trimTrailingSlashes(baseUrl)
  const sendCall = createSender(http, { label: 'Mastodon', toError, isPlatformError: isOwnError })

  function sendOnce<T>(call: Call, read: (text: string) => T | null, { token, ...options }: ApiOptions) {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const headers = { accept: 'application/json', ...call.headers, ...authorization }
    return sendCall({ ...call, ...options, headers }, read)
  }

  /** Sends a call. After a refusal it reads the account, which shows whether the server refuses one act or the whole login. */
  async function send<T>(call: Call, read: (text: string) => T | null, options: ApiOptions) {
    try {
      return await sendOnce(call, read, options)
    } catch (error) {
      if (!isRefusedWith(error, 403) || options.token === undefined) throw error
      const { token, signal } = options
      const account: Call = { method: 'GET', url: new URL(`${base}${OWN_ACCOUNT}`) }
      const isBlocked =
        call.url.pathname === account.url.pathname ||
        (await sendOnce(account, ignoreBody, { token, signal }).then(
          () => false,
          (reason: unknown) => isRefusedWith(reason, 403),
        ))
      throw isBlocked ? toBlockedLoginError(error) : error
    }
  }

  return {
    base,
    /** Opens a connection for a call within the next seconds. */
    warm: (): void => http.warm(new URL(base)),

    get<T>(path: string, params: Query, read: (text: string) => T | null, options: ApiOptions) {
      const url = new URL(`${base}${path}`)
      url.search = toQueryString(params)
      return send({ method: 'GET', url }, read, options)
    },

    post<T>(path: string, { headers, body }: Body, read: (text: string) => T | null, options: ApiOptions) {
      return send({ method: 'POST', url: new URL(`${base}${path}`), headers, body }, read, options)
    },

    put<T>(path: string, { headers, body }: Body, read: (text: string) => T | null, options: ApiOptions) {
      return send({ method: 'PUT', url: new URL(`${base}${path}`), headers, body }, read, options)
    },

    delete<T>(path: string, read: (text: string) => T | null, options: ApiOptions) {
      return send({ method: 'DELETE', url: new URL(`${base}${path}`) }, read, options)
    },
  }
}

export type Api = ReturnType<typeof createApi>
