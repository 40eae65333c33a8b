import { HttpFailure, type HttpAnswer, type HttpClient, type HttpRequest } from '../shared/http.ts'
import { lostCall, refusalOf, unreadableAnswer } from './errors.ts'

interface ApiOptions {
  /** Bearer token. */
  token?: string
  signal: AbortSignal
  timeoutMs?: number
}

interface Body {
  headers: Record<string, string>
  body: NonNullable<HttpRequest['body']>
}

/** Calls to one Mastodon server (https://docs.joinmastodon.org/api/). Everything that goes wrong comes out as a `PlatformError`. */
export function createApi(http: HttpClient, baseUrl: string) {
  const base = baseUrl.replace(/\/+$/, '')

  async function send<T>(
    call: Pick<HttpRequest, 'method' | 'url' | 'headers' | 'body'>,
    read: (text: string) => T | null,
    { token, signal, timeoutMs }: ApiOptions,
  ): Promise<{ status: number; body: T }> {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const headers = { accept: 'application/json', ...call.headers, ...authorization }
    const answer = await http
      .send({ ...call, headers, signal, ...(timeoutMs !== undefined && { timeoutMs }) })
      .catch(asPlatformError)
    if (!isSuccess(answer)) throw refusalOf(answer)
    const body = read(answer.text)
    if (body === null) throw unreadableAnswer()
    return { status: answer.status, body }
  }

  return {
    base,
    /** Has a connection ready for a call that is about to come. */
    warm: (): void => http.warm(new URL(base)),

    get<T>(path: string, params: Record<string, string>, read: (text: string) => T | null, options: ApiOptions) {
      const url = new URL(`${base}${path}`)
      url.search = new URLSearchParams(params).toString()
      return send({ method: 'GET', url }, read, options)
    },

    post<T>(path: string, { headers, body }: Body, read: (text: string) => T | null, options: ApiOptions) {
      return send({ method: 'POST', url: new URL(`${base}${path}`), headers, body }, read, options)
    },
  }
}

export type Api = ReturnType<typeof createApi>

export function form(fields: Record<string, string>): Body {
  const body = new URLSearchParams(fields).toString()
  return { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body }
}

export function json(value: object, headers: Record<string, string> = {}): Body {
  return { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) }
}

/** For calls that answer with nothing of use. */
export const ignoreAnswer = (): true => true

function isSuccess({ status }: HttpAnswer): boolean {
  return status >= 200 && status < 300
}

function asPlatformError(error: unknown): never {
  throw error instanceof HttpFailure ? lostCall(error) : error
}
