import { trimTrailingSlashes } from '../../domain/shared/text.ts'
import { createCalls } from '../shared/calls.ts'
import type { HttpClient, HttpRequest } from '../shared/http.ts'
import { queryOf, type Query } from '../shared/query.ts'
import { isOwnError, refusalOf } from './errors.ts'

interface ApiOptions {
  /** Bearer token. */
  token?: string
  signal: AbortSignal
  timeoutMs?: number
}

type Body = Required<Pick<HttpRequest, 'headers' | 'body'>>

/** Calls to one Mastodon server (https://docs.joinmastodon.org/api/). */
export function createApi(http: HttpClient, baseUrl: string) {
  const base = trimTrailingSlashes(baseUrl)
  const sendCall = createCalls(http, { label: 'Mastodon', refusalOf, isOwnError })

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
    /** Has a connection ready for a call that is about to come. */
    warm: (): void => http.warm(new URL(base)),

    get<T>(path: string, params: Query, read: (text: string) => T | null, options: ApiOptions) {
      const url = new URL(`${base}${path}`)
      url.search = queryOf(params)
      return send({ method: 'GET', url }, read, options)
    },

    post<T>(path: string, { headers, body }: Body, read: (text: string) => T | null, options: ApiOptions) {
      return send({ method: 'POST', url: new URL(`${base}${path}`), headers, body }, read, options)
    },
  }
}

export type Api = ReturnType<typeof createApi>
