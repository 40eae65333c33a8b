import { maskEchoes } from '../../domain/posts/platform-reason.ts'
import { PlatformError } from '../errors.ts'
import { toForeignResponseError } from './foreign-response.ts'
import { HttpFailure, type HttpResponse, type HttpClient, type HttpRequest } from './http.ts'
import { isLoginRedirect } from './login-redirect.ts'

/** The differences between platform APIs. */
interface ErrorDialect {
  /** The platform's name in sentences for people. */
  label: string
  /** Converts a response other than 2xx. */
  toError(response: HttpResponse): PlatformError
  /**
   * Returns whether an error response has the platform's own error body, unlike a proxy's page or another server's JSON.
   */
  isPlatformError(response: HttpResponse): boolean
}

interface Body {
  headers: Record<string, string>
  body: NonNullable<HttpRequest['body']>
}

/**
 * Creates a function that sends a request and validates the response by a schema. All failures become a
 * `PlatformError`.
 */
export function createSender(http: HttpClient, { label, toError, isPlatformError }: ErrorDialect) {
  return async function send<T>(
    call: HttpRequest,
    read: (text: string) => T | null,
  ): Promise<{ status: number; body: T }> {
    const response = await http.send(call).catch((error: unknown) => {
      throw error instanceof HttpFailure ? toLostCallError(label, error, call.url.origin) : error
    })
    if (response.status < 200 || response.status >= 300) {
      if (isLoginRedirect(call.url, response)) throw toEndedLoginError(label)
      const isOwn = isPlatformError(response)
      // guard: foreign response
      if (!isOwn && isPlatformOnlyStatus(response.status, call))
        throw toForeignResponseError(label, response, call.url.origin)
      const refusal = redactSecrets(toError(response), call)
      refusal.answered = isOwn || response.status < 500
      if (refusal.class === 'transient' && isOfGateway(response.status, isOwn)) refusal.unreachable = call.url.origin
      throw refusal
    }
    const body = read(response.text)
    if (body === null) throw toUnreadableError(label, isJson(response) ? undefined : call.url.origin)
    return { status: response.status, body }
  }
}

/** Removes secrets of the request, which platforms echo in their error texts. */
function redactSecrets(refusal: PlatformError, call: HttpRequest): PlatformError {
  if (refusal.platformReason) refusal.platformReason = maskEchoes(refusal.platformReason, listSecrets(call))
  return refusal
}

/** Shorter parts of an Authorization header are names of schemes and parameters. */
const SHORTEST_CREDENTIAL = 12
const SECRET_NAME = /token|secret|password|assertion|code|verifier/i

function listSecrets({ url, headers = {}, body }: HttpRequest): string[] {
  const fields = [...url.searchParams, ...(typeof body === 'string' ? parseFields(body) : [])]
  const named = fields.filter(([name]) => SECRET_NAME.test(name)).map(([, value]) => value)
  const credentials = headers['authorization']?.split(/[\s",]+/) ?? []
  return [...credentials.filter((part) => part.length >= SHORTEST_CREDENTIAL), ...named]
}

/** Returns the fields of a form or JSON body. */
function parseFields(body: string): [string, string][] {
  if (!body.startsWith('{')) return [...new URLSearchParams(body)]
  const fields = Object.entries(JSON.parse(body) as Record<string, unknown>)
  return fields.filter((field): field is [string, string] => typeof field[1] === 'string')
}

/** Statuses with the same meaning from any server: timeout, too many requests. */
const AMBIGUOUS_STATUSES = [408, 429]
const TOO_LARGE = 413

/** Returns whether a status concerns the request only when the platform itself sent it. */
function isPlatformOnlyStatus(status: number, { body }: HttpRequest): boolean {
  // A file may be too large for any server on its way, a text is not.
  const isFile = body !== undefined && typeof body !== 'string'
  if (status === TOO_LARGE) return !isFile
  return status >= 400 && status < 500 && !AMBIGUOUS_STATUSES.includes(status)
}

/** A server that asks for a login has not acted on the call. */
function toEndedLoginError(label: string): PlatformError {
  return new PlatformError('unauthorized', `${label} asks to log in again`, { certain: true, answered: true })
}

/** Statuses that say that the server behind a gateway does not work, whoever sent them. */
const GATEWAY_STATUSES = [502, 503, 504]

function isOfGateway(status: number, isOwn: boolean): boolean {
  return GATEWAY_STATUSES.includes(status) || (!isOwn && (status >= 500 || status === 408))
}

/** Returns false for the page of a captive portal or of a maintenance. */
function isJson({ text }: HttpResponse): boolean {
  return /^\s*[[{]/.test(text)
}

/** The error for a call without a complete response. */
function toLostCallError(label: string, failure: HttpFailure, server: string): PlatformError {
  const { sent, isUnreadable, message } = failure
  return new PlatformError('transient', `${label} ${message}`, {
    certain: !sent,
    ...(!isUnreadable && { unreachable: server }),
    cause: failure,
  })
}

/**
 * The error for a 2xx response without the expected fields.
 * @param server the origin, when something else answered in its place
 */
export function toUnreadableError(label: string, server?: string): PlatformError {
  return new PlatformError('transient', `${label} sent an unexpected response`, {
    certain: false,
    answered: true,
    ...(server !== undefined && { unreachable: server }),
  })
}

export function toFormBody(fields: Record<string, string>): Body {
  const body = new URLSearchParams(fields).toString()
  return { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body }
}

export function toJsonBody(value: object, headers: Record<string, string> = {}): Body {
  return { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) }
}

/** Accepts any response body, for calls that do not need it. */
export const ignoreBody = (): true => true
