import { trimTrailingSlashes } from '../../../domain/shared/text.ts'
import { createSender, toFormBody } from '../calls.ts'
import type { HttpClient, HttpRequest } from '../http.ts'
import { createErrorClassifier, isGraphError, isRefusedAs, NO_SUCH_OBJECT, type GraphRule } from './errors.ts'
import { readSuccess } from './responses.ts'

export interface GraphApiOptions {
  http: HttpClient
  /** Includes the version, if calls carry one. */
  baseUrl: string
  /** The platform's name for people. */
  label: string
  rules: readonly GraphRule[]
  /** `header` where the host supports it, so that no URL contains the token. */
  tokenIn: 'header' | 'parameter'
}

interface CallOptions {
  token?: string
  signal: AbortSignal
  timeoutMs?: number
}

/** Parameters of a call. Undefined values are left out. */
export type GraphParams = Record<string, string | undefined>

/**
 * Creates a client for a host of Meta's Graph API (https://developers.facebook.com/docs/graph-api/overview). All
 * failures become a `PlatformError`.
 */
export function createGraphApi({ http, baseUrl, label, rules, tokenIn }: GraphApiOptions) {
  const base = trimTrailingSlashes(baseUrl)
  const call = createSender(http, {
    label,
    toError: createErrorClassifier(label, rules),
    isPlatformError: isGraphError,
  })

  async function send<T>(
    request: Pick<HttpRequest, 'method' | 'url' | 'headers' | 'body'>,
    read: (text: string) => T | null,
    { token, ...options }: CallOptions,
  ): Promise<T> {
    const authorization = token === undefined || tokenIn !== 'header' ? {} : { authorization: `Bearer ${token}` }
    const headers = { accept: 'application/json', ...request.headers, ...authorization }
    return (await call({ ...request, ...options, headers }, read)).body
  }

  function toParams(params: GraphParams, { token }: CallOptions): Record<string, string> {
    const inParameter = tokenIn === 'parameter' ? { access_token: token } : {}
    const all = Object.entries({ ...params, ...inParameter })
    return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined))
  }

  return {
    label,
    /** Opens a connection for a call within the next seconds. */
    warm: (): void => http.warm(new URL(base)),

    get<T>(path: string, params: GraphParams, read: (text: string) => T | null, options: CallOptions): Promise<T> {
      const url = new URL(`${base}${path}`)
      url.search = new URLSearchParams(toParams(params, options)).toString()
      return send({ method: 'GET', url }, read, options)
    },

    /** Returns whether the object was there, as far as the platform says. */
    async remove(path: string, options: CallOptions): Promise<boolean> {
      const url = new URL(`${base}${path}`)
      url.search = new URLSearchParams(toParams({}, options)).toString()
      try {
        await send({ method: 'DELETE', url }, readSuccess, options)
        return true
      } catch (error) {
        if (isRefusedAs(error, NO_SUCH_OBJECT)) return false
        throw error
      }
    },

    post<T>(path: string, fields: GraphParams, read: (text: string) => T | null, options: CallOptions): Promise<T> {
      return send(
        { method: 'POST', url: new URL(`${base}${path}`), ...toFormBody(toParams(fields, options)) },
        read,
        options,
      )
    },
  }
}

export type GraphApi = ReturnType<typeof createGraphApi>
