import { Agent, request, type Dispatcher } from 'undici'
import { SECOND } from '../../domain/shared/times.ts'
import { createConnector } from './connector.ts'

const CONNECT_TIMEOUT_MS = 5 * SECOND
const TOTAL_TIMEOUT_MS = 30 * SECOND
const MAX_RESPONSE_BYTES = 2 * 1_048_576
/** For lists of posts, whose texts may be long. */
export const MAX_LISTING_BYTES = 8 * 1_048_576

export interface HttpClientOptions {
  /** Names this service, its version and a contact address in every request; some servers refuse requests without it. */
  userAgent: string
  /** Connections to one server at a time; further requests wait for one, within their own deadline. */
  connections: number
  maxResponseBytes?: number
}

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  url: URL
  headers?: Record<string, string>
  body?: string | Uint8Array | AsyncIterable<Uint8Array>
  signal: AbortSignal
  /** Of the whole call, waiting for a connection and reading the answer included. */
  timeoutMs?: number
}

export interface HttpResponse {
  status: number
  /** By its lower-case name. */
  header(name: string): string | undefined
  text: string
}

/**
 * There was no answer, or none that could be read to its end. The message says which, as the end of a sentence about the server.
 * `sent` is false only if not a single byte of the request can have reached the server.
 */
export class HttpFailure extends Error {
  readonly sent: boolean
  constructor(message: string, options: { sent: boolean; cause: unknown }) {
    super(message, { cause: options.cause })
    this.name = 'HttpFailure'
    this.sent = options.sent
  }
}

/**
 * Plain HTTP with the limits that every call to a platform keeps (safety.md section 5): one bounded pool for each server, deadlines,
 * a cap on answers, and no redirects: a 3xx is an answer like any other.
 */
export function createHttpClient(options: HttpClientOptions) {
  const connector = createConnector(CONNECT_TIMEOUT_MS)
  const agent = new Agent({
    connections: options.connections,
    connect: connector.connect,
    allowH2: false,
    maxResponseSize: options.maxResponseBytes ?? MAX_RESPONSE_BYTES,
  })

  return {
    /** @throws HttpFailure */
    async send(call: HttpRequest): Promise<HttpResponse> {
      const signal = AbortSignal.any([call.signal, AbortSignal.timeout(call.timeoutMs ?? TOTAL_TIMEOUT_MS)])
      let sent = false
      const onStart = () => {
        // A call that was given up while it waited in line must not go out after all.
        signal.throwIfAborted()
        sent = true
      }
      try {
        signal.throwIfAborted()
        const pending = request(call.url, {
          dispatcher: agent.compose(interceptStart(onStart)),
          method: call.method,
          // A compressed answer could unfold without limit; ours are small.
          headers: { ...call.headers, 'user-agent': options.userAgent, 'accept-encoding': 'identity' },
          body: (call.body as Dispatcher.DispatchOptions['body']) ?? null,
          signal,
        })
        // undici looks at the signal of a waiting request only when its turn comes.
        const answer = await Promise.race([pending, rejectOnAbort(signal, () => !sent)])
        return await readResponse(answer)
      } catch (error) {
        throw new HttpFailure(describeFailure(error, signal), { sent, cause: error })
      }
    },
    /** Has a connection to the server ready for a call within the next seconds. */
    warm: connector.warm,
    async close(): Promise<void> {
      connector.close()
      await agent.destroy()
    },
  }
}

export type HttpClient = ReturnType<typeof createHttpClient>

function rejectOnAbort(signal: AbortSignal, isWanted: () => boolean): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => isWanted() && reject(signal.reason as Error), { once: true })
  })
}

class UnreadableResponse extends Error {}

async function readResponse({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<HttpResponse> {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') {
    body.destroy()
    throw new UnreadableResponse(`unwanted content encoding ${String(encoding)}`)
  }
  const text = await body.text()
  return {
    status: statusCode,
    header: (name) => [headers[name]].flat()[0],
    text,
  }
}

/**
 * Tells when a request goes out on an open connection. Whatever fails before that (a name that does not resolve, a refused
 * connection, a deadline while waiting in line) is a request the server cannot have seen.
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

/** Too long, too long already in its headers, or no HTTP at all. */
function isUnreadable(error: unknown, code: string): boolean {
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' || code === 'UND_ERR_HEADERS_OVERFLOW') return true
  return error instanceof UnreadableResponse || (error as Error).name === 'HTTPParserError'
}

function describeFailure(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) {
    return (signal.reason as Error | undefined)?.name === 'TimeoutError'
      ? 'did not answer in time'
      : 'was not waited for'
  }
  const code = (error as { code?: string }).code ?? ''
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return 'did not answer in time'
  if (isUnreadable(error, code)) return 'sent an answer that cannot be read'
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE') return 'broke off the connection'
  return 'could not be reached'
}
