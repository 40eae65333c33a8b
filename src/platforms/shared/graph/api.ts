import { HttpFailure, type HttpAnswer, type HttpClient, type HttpRequest } from '../http.ts'
import { createGraphErrors, type GraphRule } from './errors.ts'

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

export interface GraphCallOptions {
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
  const base = baseUrl.replace(/\/+$/, '')
  const { refusalOf, lostCall, unreadableAnswer } = createGraphErrors(label, rules)

  async function send<T>(
    call: Pick<HttpRequest, 'method' | 'url' | 'headers' | 'body'>,
    read: (text: string) => T | null,
    { token, signal, timeoutMs }: GraphCallOptions,
  ): Promise<T> {
    const authorization = token === undefined || tokenIn !== 'header' ? {} : { authorization: `Bearer ${token}` }
    const headers = { accept: 'application/json', ...call.headers, ...authorization }
    const answer = await http
      .send({ ...call, headers, signal, ...(timeoutMs !== undefined && { timeoutMs }) })
      .catch(asPlatformError)
    if (!isSuccess(answer)) throw refusalOf(answer)
    const body = read(answer.text)
    if (body === null) throw unreadableAnswer()
    return body
  }

  function asPlatformError(error: unknown): never {
    throw error instanceof HttpFailure ? lostCall(error) : error
  }

  function encode(params: GraphParams, { token }: GraphCallOptions): string {
    const inParameter = tokenIn === 'parameter' ? { access_token: token } : {}
    const given = Object.entries({ ...params, ...inParameter }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    )
    return new URLSearchParams(given).toString()
  }

  return {
    label,
    /** Has a connection ready for a call that is about to come. */
    warm: (): void => http.warm(new URL(base)),

    get<T>(path: string, params: GraphParams, read: (text: string) => T | null, options: GraphCallOptions): Promise<T> {
      const url = new URL(`${base}${path}`)
      url.search = encode(params, options)
      return send({ method: 'GET', url }, read, options)
    },

    post<T>(
      path: string,
      fields: GraphParams,
      read: (text: string) => T | null,
      options: GraphCallOptions,
    ): Promise<T> {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const body = encode(fields, options)
      return send({ method: 'POST', url: new URL(`${base}${path}`), headers, body }, read, options)
    },
  }
}

function isSuccess({ status }: HttpAnswer): boolean {
  return status >= 200 && status < 300
}
