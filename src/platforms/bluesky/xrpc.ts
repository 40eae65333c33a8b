import { trimTrailingSlashes } from '../../domain/shared/text.ts'
import type { Credentials } from '../contract.ts'
import { createSender, toJsonBody } from '../shared/calls.ts'
import type { HttpClient, HttpRequest } from '../shared/http.ts'
import { toQueryString, type Query } from '../shared/query-string.ts'
import { isOwnError, toError } from './errors.ts'

export interface XrpcOptions {
  /** Bearer token. */
  token?: string
  userId?: string | undefined
  signal: AbortSignal
  timeoutMs?: number
}

interface XrpcQuery {
  /** Base URL of the server. */
  service: string
  /** The name of the method. */
  nsid: string
  params: Query
}

interface XrpcProcedure extends Pick<XrpcQuery, 'service' | 'nsid'> {
  params?: Query
  /** `null` sends no body at all: some methods refuse even an empty object. */
  input: Record<string, unknown> | Bytes | null
}

/** A file, complete or as a stream. */
interface Bytes {
  bytes: Uint8Array | AsyncIterable<Uint8Array>
  sizeBytes: number
  mimeType: string
}

/** Creates a client for Bluesky servers (https://atproto.com/specs/xrpc). */
export function createXrpc(http: HttpClient) {
  const sendCall = createSender(http, { label: 'Bluesky', toError, isPlatformError: isOwnError })

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
    /** Opens a connection to this server for a call within the next seconds. */
    warm: (service: string): void => http.warm(new URL(service)),

    query<T>({ service, nsid, params }: XrpcQuery, read: (text: string) => T | null, options: XrpcOptions): Promise<T> {
      const url = toMethodUrl(service, nsid, params)
      return send(options, { method: 'GET', url }, read)
    },

    procedure<T>(
      { service, nsid, params = {}, input }: XrpcProcedure,
      read: (text: string) => T | null,
      options: XrpcOptions,
    ): Promise<T> {
      const url = toMethodUrl(service, nsid, params)
      const content = input === null ? {} : isBytes(input) ? toFileBody(input) : toJsonBody(input)
      return send(options, { method: 'POST', url, ...content }, read)
    },
  }
}

export type Xrpc = ReturnType<typeof createXrpc>

/** Returns the options of a call for an account. */
export function asAccount({ accessToken, userId }: Pick<Credentials, 'accessToken' | 'userId'>) {
  return { token: accessToken, userId }
}

function toMethodUrl(service: string, nsid: string, params: Query): URL {
  const url = new URL(`${trimTrailingSlashes(service)}/xrpc/${nsid}`)
  url.search = toQueryString(params)
  return url
}

/** Builds the body of a file with its length, so that a truncated file is not accepted as complete. */
function toFileBody({ bytes, sizeBytes, mimeType }: Bytes) {
  return { headers: { 'content-type': mimeType, 'content-length': String(sizeBytes) }, body: bytes }
}

function isBytes(input: Record<string, unknown> | Bytes): input is Bytes {
  return 'bytes' in input && 'sizeBytes' in input
}
