import { trimTrailingSlashes } from '../../domain/shared/text.ts'
import { createSender } from '../shared/calls.ts'
import type { HttpClient, HttpRequest } from '../shared/http.ts'
import { toQueryString, type Query } from '../shared/query-string.ts'
import { isOwnError, toError } from './errors.ts'

interface ApiOptions {
  /** Bearer token. */
  token?: string
  signal: AbortSignal
  timeoutMs?: number
  publisher?: string
}

type Body = Required<Pick<HttpRequest, 'headers' | 'body'>>

/** Creates a client for one Mastodon server (https://docs.joinmastodon.org/api/). */
export function createApi(http: HttpClient, baseUrl: string) {
  const base = trimTrailingSlashes(baseUrl)
  const sendCall = createSender(http, { label: 'Mastodon', toError, isPlatformError: isOwnError })

  function send<T>(
    call: Pick<HttpRequest, 'method' | 'url' | 'headers' | 'body'>,
    read: (text: string) => T | null,
    { token, ...options }: ApiOptions,
  ) {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const headers = { accept: 'application/json', ...call.headers, ...authorization }
    return sendCall({ ...call, ...options, headers }, read)
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
  }
}

export type Api = ReturnType<typeof createApi>
