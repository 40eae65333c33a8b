import { trimTrailingSlashes } from '../../../domain/shared/text.ts'
import { createCalls, form } from '../calls.ts'
import type { HttpClient, HttpRequest } from '../http.ts'
import { createGraphErrors, isOwnError, type GraphRule } from './errors.ts'

export interface GraphApiOptions {
  http: HttpClient
  /** With the version in it, where calls carry one. */
  baseUrl: string
  /** The platform's name for people. */
  label: string
  rules: readonly GraphRule[]
  /** Where a host takes the token in a header, no address holds it. */
  tokenIn: 'header' | 'parameter'
}

interface CallOptions {
  token?: string
  signal: AbortSignal
  timeoutMs?: number
}

/** Undefined ones are left out. */
export type GraphParams = Record<string, string | undefined>

/**
 * Calls to a host of Meta's Graph API (https://developers.facebook.com/docs/graph-api/overview). Everything that goes wrong comes
 * out as a `PlatformError`.
 */
export function createGraphApi({ http, baseUrl, label, rules, tokenIn }: GraphApiOptions) {
  const base = trimTrailingSlashes(baseUrl)
  const call = createCalls(http, { label, refusalOf: createGraphErrors(label, rules), isOwnError })

  async function send<T>(
    request: Pick<HttpRequest, 'method' | 'url' | 'headers' | 'body'>,
    read: (text: string) => T | null,
    { token, ...options }: CallOptions,
  ): Promise<T> {
    const authorization = token === undefined || tokenIn !== 'header' ? {} : { authorization: `Bearer ${token}` }
    const headers = { accept: 'application/json', ...request.headers, ...authorization }
    return (await call({ ...request, ...options, headers }, read)).body
  }

  function given(params: GraphParams, { token }: CallOptions): Record<string, string> {
    const inParameter = tokenIn === 'parameter' ? { access_token: token } : {}
    const all = Object.entries({ ...params, ...inParameter })
    return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined))
  }

  return {
    label,
    /** Has a connection ready for a call that is about to come. */
    warm: (): void => http.warm(new URL(base)),

    get<T>(path: string, params: GraphParams, read: (text: string) => T | null, options: CallOptions): Promise<T> {
      const url = new URL(`${base}${path}`)
      url.search = new URLSearchParams(given(params, options)).toString()
      return send({ method: 'GET', url }, read, options)
    },

    post<T>(path: string, fields: GraphParams, read: (text: string) => T | null, options: CallOptions): Promise<T> {
      return send({ method: 'POST', url: new URL(`${base}${path}`), ...form(given(fields, options)) }, read, options)
    },
  }
}

export type GraphApi = ReturnType<typeof createGraphApi>
