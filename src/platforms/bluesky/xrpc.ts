import { createCalls } from '../shared/calls.ts'
import type { HttpClient, HttpRequest } from '../shared/http.ts'
import { refusalOf } from './errors.ts'

export interface XrpcOptions {
  /** Bearer token. */
  token?: string
  signal: AbortSignal
  timeoutMs?: number
}

interface Bytes {
  bytes: Uint8Array
  mimeType: string
}

/** Calls to Bluesky servers (https://atproto.com/specs/xrpc). */
export function createXrpc(http: HttpClient) {
  const sendCall = createCalls(http, { label: 'Bluesky', refusalOf })

  async function send<T>(
    { token, ...options }: XrpcOptions,
    call: Pick<HttpRequest, 'method' | 'url' | 'headers' | 'body'>,
    read: (text: string) => T | null,
  ): Promise<T> {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const headers = { accept: 'application/json', ...call.headers, ...authorization }
    return (await sendCall({ ...call, ...options, headers }, read)).body
  }

  return {
    /** Has a connection to this server ready for a call that is about to come. */
    warm: (service: string): void => http.warm(new URL(service)),

    query<T>(
      service: string,
      nsid: string,
      params: Record<string, string>,
      read: (text: string) => T | null,
      options: XrpcOptions,
    ): Promise<T> {
      const url = methodUrl(service, nsid)
      url.search = new URLSearchParams(params).toString()
      return send(options, { method: 'GET', url }, read)
    },

    /** `input` null sends no body at all: some methods refuse even an empty object. */
    procedure<T>(
      service: string,
      nsid: string,
      input: Record<string, unknown> | Bytes | null,
      read: (text: string) => T | null,
      options: XrpcOptions,
    ): Promise<T> {
      const url = methodUrl(service, nsid)
      if (input === null) return send(options, { method: 'POST', url }, read)
      const [type, body] = isBytes(input) ? [input.mimeType, input.bytes] : ['application/json', JSON.stringify(input)]
      return send(options, { method: 'POST', url, headers: { 'content-type': type }, body }, read)
    },
  }
}

export type Xrpc = ReturnType<typeof createXrpc>

function methodUrl(service: string, nsid: string): URL {
  return new URL(`${service.replace(/\/+$/, '')}/xrpc/${nsid}`)
}

function isBytes(input: Record<string, unknown> | Bytes): input is Bytes {
  return input['bytes'] instanceof Uint8Array
}
