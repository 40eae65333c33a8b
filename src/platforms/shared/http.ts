import { Agent, request, type Dispatcher } from 'undici'
import { createJsonScan, MAX_FOREIGN_VALUES } from '../../domain/shared/json-text.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { createConnector } from './connector.ts'
import type { ServerGuard } from './public-servers.ts'

const CONNECT_TIMEOUT_MS = 5 * SECOND
export const TOTAL_TIMEOUT_MS = 30 * SECOND
const MAX_RESPONSE_BYTES = 2 * 1_048_576
/** As many as a worker makes concurrent calls to one server by default, at most. */
export const CALL_CONNECTIONS = 256
/** For lists of posts with long texts. */
export const MAX_LISTING_BYTES = 8 * 1_048_576

export interface HttpClientOptions {
  /** Sent as `User-Agent`: name, version and contact address. Some servers refuse requests without it. */
  userAgent: string
  /** The maximum number of connections per server. Further requests queue within their own deadline. */
  connections: number
  maxResponseBytes?: number
  /**
   * Reads only the first `maxResponseBytes` of a response, and returns its status whatever the rest is. By default a longer, compressed or
   * broken response fails the call. Required for `open`, whose responses have any length.
   */
  readsExcerpts?: boolean
  /** Required for clients that call servers named by users. Absent: every server is called wherever it is. */
  guard?: ServerGuard
}

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  url: URL
  headers?: Record<string, string>
  body?: string | Uint8Array | AsyncIterable<Uint8Array>
  signal: AbortSignal
  /** For the whole call, including the wait for a connection and reading the response. */
  timeoutMs?: number
  /** How long the server may send nothing, milliseconds; without it until the end of the call. */
  silenceMs?: number
  /** The platform's id of the account, in calls that publish a post. It is not sent. */
  publisher?: string
  /** The user whose share of a shared quota the call uses; undefined: that of no user. It is not sent. */
  userId?: string | undefined
}

export interface HttpResponse {
  status: number
  /** Returns a header by its lower-case name. */
  header(name: string): string | undefined
  text: string
}

/** A response whose body is read by whoever opened it, up to a size of their choice. */
export interface OpenResponse extends Omit<HttpResponse, 'text'> {
  /** Throws `HttpFailure`. Leaving the loop over it ends the response. */
  body: AsyncIterable<Uint8Array>
  /** Ends a response whose body is not read. */
  discard(): void
}

/**
 * A call without a complete, readable response. The message completes a sentence about the server.
 * `sent` is false only if no byte of the request can have reached the server. `isUnreadable`: a response came.
 */
export class HttpFailure extends Error {
  readonly sent: boolean
  readonly isUnreadable: boolean
  constructor(message: string, options: { sent: boolean; isUnreadable?: boolean; cause: unknown }) {
    super(message, { cause: options.cause })
    this.name = 'HttpFailure'
    this.sent = options.sent
    this.isUnreadable = options.isUnreadable ?? false
  }
}

/**
 * Creates an HTTP client with the limits for calls to platforms: one bounded connection pool per server, deadlines, a
 * maximum response size, and no redirects. A 3xx is an ordinary response (docs/design/security.md).
 */
export function createHttpClient(options: HttpClientOptions) {
  const maxResponseBytes = options.maxResponseBytes ?? MAX_RESPONSE_BYTES
  const connector = createConnector(CONNECT_TIMEOUT_MS, options.guard)
  const agent = new Agent({
    connections: options.connections,
    connect: connector.connect,
    allowH2: false,
    maxResponseSize: options.readsExcerpts ? -1 : maxResponseBytes,
  })
  const read = options.readsExcerpts ? readExcerpt : readResponse

  async function dispatch<T>(
    call: HttpRequest,
    receive: (response: Dispatcher.ResponseData, toFailure: (error: unknown) => HttpFailure) => Promise<T>,
  ): Promise<T> {
    const signal = AbortSignal.any([call.signal, AbortSignal.timeout(call.timeoutMs ?? TOTAL_TIMEOUT_MS)])
    let sent = false
    const onStart = () => {
      // A call that was aborted in the queue must not be sent.
      signal.throwIfAborted()
      sent = true
    }
    const toFailure = (error: unknown) =>
      new HttpFailure(describeFailure(error, signal), { sent, isUnreadable: isUnreadable(error), cause: error })
    try {
      signal.throwIfAborted()
      const pending = request(call.url, {
        dispatcher: agent.compose(interceptStart(onStart)),
        method: call.method,
        // A compressed response could expand without limit; platform responses are small.
        headers: { ...call.headers, 'user-agent': options.userAgent, 'accept-encoding': 'identity' },
        body: (call.body as Dispatcher.DispatchOptions['body']) ?? null,
        ...(call.silenceMs !== undefined && { headersTimeout: call.silenceMs, bodyTimeout: call.silenceMs }),
        signal,
      })
      // undici checks the signal of a queued request only when its turn comes.
      const response = await Promise.race([pending, rejectOnAbort(signal, () => !sent)])
      return await receive(response, toFailure)
    } catch (error) {
      throw toFailure(error)
    }
  }

  return {
    /** @throws HttpFailure */
    send: (call: HttpRequest): Promise<HttpResponse> => dispatch(call, (response) => read(response, maxResponseBytes)),

    /**
     * Returns a response whose body is read as it arrives, within the deadline of the call.
     * @throws HttpFailure
     */
    open: (call: HttpRequest): Promise<OpenResponse> =>
      dispatch(call, async ({ statusCode, headers, body }, toFailure) => ({
        status: statusCode,
        header: readHeader(headers),
        body: readPieces(body, toFailure),
        discard: () => discard(body),
      })),

    /** Opens a connection to the server for a call within the next seconds. */
    warm: connector.warm,
    async close(): Promise<void> {
      connector.close()
      await agent.destroy()
    },
  }
}

export type HttpClient = ReturnType<typeof createHttpClient>

/** Rejects when the signal aborts, but only while the request is queued: later, undici rejects the request itself. */
function rejectOnAbort(signal: AbortSignal, isQueued: () => boolean): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => isQueued() && reject(signal.reason as Error), { once: true })
  })
}

class UnreadableResponse extends Error {}

async function readResponse(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  maxBytes: number,
): Promise<HttpResponse> {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') {
    discard(body)
    throw new UnreadableResponse(`unwanted content encoding ${String(encoding)}`)
  }
  // undici counts only the bytes that arrive, which may take until the deadline.
  if (Number(headers['content-length']) > maxBytes) {
    discard(body)
    throw new UnreadableResponse('a response that is announced too long')
  }
  const exceeds = createJsonScan(MAX_FOREIGN_VALUES)
  const parts: Buffer[] = []
  for await (const part of body as AsyncIterable<Buffer>) {
    if (exceeds(part)) {
      discard(body)
      throw new UnreadableResponse('JSON with too many values or levels')
    }
    parts.push(part)
  }
  return toHttpResponse(statusCode, headers, new TextDecoder().decode(Buffer.concat(parts)))
}

/** Reads the beginning of a response. A body that breaks or takes until the deadline ends the text, and not the call. */
async function readExcerpt(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  maxBytes: number,
): Promise<HttpResponse> {
  const parts: Buffer[] = []
  let bytes = 0
  try {
    for await (const part of body as AsyncIterable<Buffer>) {
      parts.push(part)
      bytes += part.length
      if (bytes >= maxBytes) break
    }
  } catch {
    discard(body)
  }
  const isReadable = (headers['content-encoding'] ?? 'identity') === 'identity'
  const text = isReadable ? Buffer.concat(parts).subarray(0, maxBytes).toString('utf8') : ''
  return toHttpResponse(statusCode, headers, text)
}

function toHttpResponse(status: number, headers: Dispatcher.ResponseData['headers'], text: string): HttpResponse {
  return { status, header: readHeader(headers), text }
}

function readHeader(headers: Dispatcher.ResponseData['headers']): HttpResponse['header'] {
  return (name) => [headers[name]].flat()[0]
}

async function* readPieces(
  body: Dispatcher.ResponseData['body'],
  toFailure: (error: unknown) => HttpFailure,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of body as AsyncIterable<Uint8Array>) yield piece
  } catch (error) {
    throw toFailure(error)
  } finally {
    discard(body)
  }
}

/** Ends the response. Without a listener, the error that undici emits for it would end the process. */
function discard(body: Dispatcher.ResponseData['body']): void {
  body.on('error', () => undefined).destroy()
}

/**
 * Reports when a request is sent on an open connection. The server cannot have seen a request that fails earlier:
 * unresolved name, refused connection, deadline in the queue.
 */
function interceptStart(onStart: () => void): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart(controller, context) {
        onStart()
        handler.onRequestStart?.(controller, context)
      },
      onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
      onResponseStart: (...args) => handler.onResponseStart?.(...args),
      onResponseData: (...args) => handler.onResponseData?.(...args),
      onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
      onResponseError: (...args) => handler.onResponseError?.(...args),
    })
}

/** Returns whether the response or its headers are too long, or it is not HTTP. */
function isUnreadable(error: unknown): boolean {
  const code = toCode(error)
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' || code === 'UND_ERR_HEADERS_OVERFLOW') return true
  return error instanceof UnreadableResponse || (error as Error).name === 'HTTPParserError'
}

const toCode = (error: unknown): string => (error as { code?: string }).code ?? ''

const SILENCE = ['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']

function describeFailure(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) {
    return (signal.reason as Error | undefined)?.name === 'TimeoutError'
      ? 'did not answer in time'
      : 'did not answer before the attempt ended'
  }
  const code = toCode(error)
  if (SILENCE.includes(code)) return 'did not answer in time'
  if (isUnreadable(error)) return 'sent an unreadable response'
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE') return 'closed the connection'
  return 'could not be reached'
}
