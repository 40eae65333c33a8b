import { ApiError, ConnectionError, readApiError } from './errors.ts'
import type { Method } from './operations.ts'
import { acceptsIdempotencyKey, chooseRetryWait, isRepeatable, type Failure } from './retries.ts'
import { refreshSession, type Session } from './sessions.ts'
import { assertServiceUrl } from './service-url.ts'
import { sleep } from './sleep.ts'

const DEFAULT_TRY_TIMEOUT_MS = 60_000
const DEFAULT_MAX_RETRIES = 3

export interface TransportOptions {
  /** Address of the service, such as `https://postonce.example.com`. */
  url: string
  /** A key of `POST /api/keys`. Either this or `session`. */
  apiKey?: string | undefined
  /** The tokens of `logIn`. The client refreshes them when the access token ends. */
  session?: Session | undefined
  /** Called with the new tokens after each refresh, for example to store them. */
  onSessionChange?: ((session: Session) => void | Promise<void>) | undefined
  /** Names the program in `metadata.client` of the posts that it writes; default `sdk`. */
  client?: 'console' | 'cli' | 'mcp' | 'sdk' | undefined
  /** Retries of a request after the first try; default 3. */
  maxRetries?: number | undefined
  /** How long one try of a request waits for its response; default 60,000. A retry waits as long again. */
  tryTimeoutMs?: number | undefined
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch | undefined
}

export interface TransportRequest {
  method: Method
  /** The path of the document, with its parameters in braces. */
  path: string
  pathParameters?: Record<string, string> | undefined
  query?: Record<string, unknown> | undefined
  /** Sent as JSON. */
  body?: unknown
  /** Sent as it is, instead of `body`. */
  rawBody?: { content: Blob | string; contentType: string } | undefined
  headers?: Record<string, string> | undefined
  idempotencyKey?: string | undefined
  ifMatch?: string | undefined
  signal?: AbortSignal | undefined
}

/** Sends requests with authorization, retries and a timeout. */
export interface Transport {
  /**
   * Sends a request, and returns what `read` makes of a successful or 304 response. Reading is part of a try: a body that breaks off or
   * takes too long counts as a lost response.
   * @throws ApiError for other statuses; ConnectionError when no whole response arrived
   */
  send<T>(request: TransportRequest, read: (response: Response) => T | Promise<T>): Promise<T>
  /** Sends a request, and returns the JSON of its response. */
  sendForJson<T>(request: TransportRequest): Promise<T>
}

export function createTransport(options: TransportOptions): Transport {
  const { url, client = 'sdk', maxRetries = DEFAULT_MAX_RETRIES, tryTimeoutMs = DEFAULT_TRY_TIMEOUT_MS } = options
  assertServiceUrl(url)
  const fetchOnce = options.fetch ?? ((...args: Parameters<typeof fetch>) => fetch(...args))
  const authorization = createAuthorization(options, fetchOnce)

  async function tryOnce<T>(
    request: TransportRequest,
    headers: Record<string, string>,
    read: Read<T>,
  ): Promise<Try<T>> {
    const timeout = new AbortController()
    const timer = setTimeout(() => timeout.abort(), tryTimeoutMs)
    const signal = request.signal ? AbortSignal.any([request.signal, timeout.signal]) : timeout.signal
    const body = request.rawBody?.content ?? (request.body === undefined ? undefined : JSON.stringify(request.body))
    try {
      const response = await fetchOnce(buildUrl(url, request), {
        method: request.method,
        headers: { ...headers, authorization: `Bearer ${authorization.token()}` },
        ...(body === undefined ? {} : { body }),
        signal,
      })
      if (response.ok || response.status === 304) return { value: await read(response) }
      return { error: await readApiError(response) }
    } catch (error) {
      request.signal?.throwIfAborted()
      const reason = timeout.signal.aborted ? `did not respond within ${tryTimeoutMs} ms` : 'cannot be reached'
      return { error: new ConnectionError(`${url} ${reason}.`, { cause: error }) }
    } finally {
      clearTimeout(timer)
    }
  }

  /** Repeats the request once with a new access token when the old one has ended. */
  async function tryAuthorized<T>(request: TransportRequest, headers: Record<string, string>, read: Read<T>) {
    const token = authorization.token()
    const outcome = await tryOnce(request, headers, read)
    const isRefused = 'error' in outcome && outcome.error instanceof ApiError && outcome.error.status === 401
    if (!isRefused || !(await authorization.refresh(token))) return outcome
    return tryOnce(request, headers, read)
  }

  async function send<T>(request: TransportRequest, read: Read<T>): Promise<T> {
    const headers = { 'x-postonce-client': client, ...buildHeaders(request) }
    const repeatable = isRepeatable(request.method, request.path)
    for (let failures = 1; ; failures++) {
      const outcome = await tryAuthorized(request, headers, read)
      if ('value' in outcome) return outcome.value
      const { error } = outcome
      const wait = failures > maxRetries ? null : chooseRetryWait(toFailure(error), repeatable, failures, Math.random())
      if (wait === null) throw error
      await sleep(wait, request.signal)
    }
  }

  return {
    send,
    sendForJson: <T>(request: TransportRequest) => send(request, async (response) => (await response.json()) as T),
  }
}

type Read<T> = (response: Response) => T | Promise<T>
type Try<T> = { value: T } | { error: ApiError | ConnectionError }

function toFailure(error: ApiError | ConnectionError): Failure {
  return error instanceof ApiError
    ? { status: error.status, retryAfterSeconds: error.retryAfterSeconds }
    : { status: null, retryAfterSeconds: null }
}

/** The current token, and its renewal. Concurrent requests share one refresh. */
function createAuthorization(options: TransportOptions, fetchOnce: typeof fetch) {
  const { url, apiKey, onSessionChange } = options
  let { session } = options
  if ((apiKey === undefined) === (session === undefined)) throw new TypeError('Pass either apiKey or session.')
  let refreshing: Promise<void> | null = null

  async function refresh(ended: Session): Promise<void> {
    session = await refreshSession(url, ended, fetchOnce)
    await onSessionChange?.(session)
  }

  return {
    token: (): string => session?.accessToken ?? apiKey ?? '',

    /** Returns false when the token cannot be renewed. */
    async refresh(used: string): Promise<boolean> {
      if (session === undefined) return false
      if (session.accessToken === used) {
        refreshing ??= refresh(session).finally(() => (refreshing = null))
        await refreshing
      }
      return true
    },
  }
}

function buildHeaders({
  method,
  path,
  body,
  rawBody,
  headers,
  idempotencyKey,
  ifMatch,
}: TransportRequest): Record<string, string> {
  const contentType = rawBody?.contentType ?? (body === undefined ? undefined : 'application/json')
  return {
    accept: 'application/json',
    ...(contentType === undefined ? {} : { 'content-type': contentType }),
    // The same key in every try, so that the service acts once.
    ...(acceptsIdempotencyKey(method, path) ? { 'idempotency-key': idempotencyKey ?? crypto.randomUUID() } : {}),
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    ...headers,
  }
}

function buildUrl(base: string, { path, pathParameters = {}, query = {} }: TransportRequest): URL {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(pathParameters[name] ?? ''))
  const url = new URL(filled, base)
  for (const [name, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined && item !== null) url.searchParams.append(name, String(item))
    }
  }
  return url
}
