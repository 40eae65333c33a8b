import { trimTrailingSlashes } from '../../domain/shared/text.ts'
import { createCalls, json } from '../shared/calls.ts'
import type { HttpClient, HttpRequest } from '../shared/http.ts'
import { queryOf, type Query } from '../shared/query.ts'
import { isOwnError, refusalOf } from './errors.ts'

export interface XrpcOptions {
  /** Bearer token. */
  token?: string
  signal: AbortSignal
  timeoutMs?: number
}

interface ProcedureOptions extends XrpcOptions {
  params?: Query
}

/** A file, whole or as it is read. */
interface Bytes {
  bytes: Uint8Array | AsyncIterable<Uint8Array>
  sizeBytes: number
  mimeType: string
}

/** Calls to Bluesky servers (https://atproto.com/specs/xrpc). */
export function createXrpc(http: HttpClient) {
  const sendCall = createCalls(http, { label: 'Bluesky', refusalOf, isOwnError })

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
      params: Query,
      read: (text: string) => T | null,
      options: XrpcOptions,
    ): Promise<T> {
      const url = methodUrl(service, nsid, params)
      return send(options, { method: 'GET', url }, read)
    },

    /** `input` null sends no body at all: some methods refuse even an empty object. */
    procedure<T>(
      service: string,
      nsid: string,
      input: Record<string, unknown> | Bytes | null,
      read: (text: string) => T | null,
      { params = {}, ...options }: ProcedureOptions,
    ): Promise<T> {
      const url = methodUrl(service, nsid, params)
      const content = input === null ? {} : isBytes(input) ? file(input) : json(input)
      return send(options, { method: 'POST', url, ...content }, read)
    },
  }
}

export type Xrpc = ReturnType<typeof createXrpc>

function methodUrl(service: string, nsid: string, params: Query): URL {
  const url = new URL(`${trimTrailingSlashes(service)}/xrpc/${nsid}`)
  url.search = queryOf(params)
  return url
}

/** The length is told, because a file cut short must not count as the whole. */
function file({ bytes, sizeBytes, mimeType }: Bytes) {
  return { headers: { 'content-type': mimeType, 'content-length': String(sizeBytes) }, body: bytes }
}

function isBytes(input: Record<string, unknown> | Bytes): input is Bytes {
  return 'bytes' in input && 'sizeBytes' in input
}
