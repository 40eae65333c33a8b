import type { PlatformErrorClass } from '../../domain/posts/failure.ts'
import { PlatformError } from '../errors.ts'
import { getForeignStatus } from '../shared/foreign-response.ts'
import type { HttpResponse } from '../shared/http.ts'
import { classifyStatus, toRefusalError, type Meaning } from '../shared/refusals.ts'
import { retryAfterMs } from '../shared/retry-after.ts'
import { readError } from './responses.ts'
import { parseResetMs } from './quotas.ts'

/** Refusals that the adapter handles itself. */
type Kind = 'missing' | 'application-unknown'

interface Rule extends Meaning<Kind> {
  status: number
  /** The name of an error of OAuth (RFC 6749 section 5.2). All other errors are sentences in the language of the server. */
  code?: string
}

const APPLICATION_UNKNOWN = {
  status: 401,
  class: 'permission',
  message: 'Mastodon no longer knows this service',
  kind: 'application-unknown',
  connectReason: 'LOGIN_REFUSED',
} as const

/** The first matching row applies. What else a refusal may mean is read from the state of what it concerns. */
const RULES: Rule[] = [
  {
    status: 400,
    code: 'invalid_grant',
    class: 'permission',
    message: 'Mastodon does not accept this login',
    connectReason: 'LOGIN_REFUSED',
  },
  { ...APPLICATION_UNKNOWN, code: 'invalid_client' },
  { ...APPLICATION_UNKNOWN, code: 'unauthorized_client' },
  { status: 401, class: 'unauthorized', message: 'Mastodon no longer accepts the login' },
  { status: 403, class: 'permission', message: 'Mastodon does not allow this account to do that' },
  { status: 404, class: 'not_found', message: 'Mastodon does not have the requested object', kind: 'missing' },
  // A server or proxy that timed out on a request may still process it.
  { status: 408, class: 'transient', message: 'Mastodon did not receive the request in time', certain: false },
  { status: 410, class: 'not_found', message: 'This Mastodon account no longer exists' },
  { status: 413, class: 'validation', message: 'Mastodon refused an image or video as too large' },
  { status: 429, class: 'rate_limited', message: 'Mastodon asks to slow down' },
]

/** Returns whether Mastodon itself sent an error response. */
export function isOwnError({ text }: HttpResponse): boolean {
  return readError(text) !== null
}

/** Converts a response other than 2xx. */
export function toError(response: HttpResponse): PlatformError {
  const { status } = response
  const { error: text = '', error_description: description } = readError(response.text) ?? {}
  const rule = RULES.find((one) => one.status === status && (one.code ?? text) === text)
  const meaning = rule ?? classifyStatus(status, 'Mastodon')
  // OAuth errors have a name and a description; all others are a sentence.
  const reason = description ? { code: text, text: description } : { text }
  return toRefusalError(status, meaning, { retryAfterMs: toRetryAfterMs(meaning.class, response), reason })
}

/** The error for a login that may do nothing at the moment, because it is disabled, not confirmed or not approved yet. */
export function toBlockedLoginError(cause: PlatformError): PlatformError {
  const message = 'Mastodon does not let this account log in at the moment: log in there to see why'
  return new PlatformError('blocked_by_platform', message, { certain: cause.certain, answered: true, cause })
}

/** Returns whether the server, or a proxy before it, gave a definite refusal that a repeat would not change. */
export function isFinalRefusal(error: unknown): boolean {
  if (getForeignStatus(error) !== null) return true
  return error instanceof PlatformError && ['not_found', 'permission', 'validation'].includes(error.class)
}

/** Every response states when the rate limit resets. Waiting for that helps only when the limit was the reason. */
function toRetryAfterMs(errorClass: PlatformErrorClass, response: HttpResponse): number | undefined {
  if (errorClass === 'transient') return retryAfterMs(response)
  return errorClass === 'rate_limited' ? (retryAfterMs(response) ?? parseResetMs(response)) : undefined
}
