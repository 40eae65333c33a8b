import type { PlatformErrorClass } from '../../domain/posts/failure.ts'
import { PlatformError } from '../errors.ts'
import { getForeignStatus } from '../shared/foreign-response.ts'
import type { HttpResponse } from '../shared/http.ts'
import { classifyStatus, toRefusalError, type Meaning } from '../shared/refusals.ts'
import { retryAfterMs } from '../shared/retry-after.ts'
import { readError } from './responses.ts'
import { parseResetMs } from './quotas.ts'

/** Refusals that the adapter handles itself. */
type Kind = 'missing' | 'media-missing' | 'media-broken' | 'application-unknown'

interface Rule extends Meaning<Kind> {
  status: number
  /** Matches the error's text, the only difference between refusals with one status. */
  text?: RegExp
}

/** The first matching row applies. */
const RULES: Rule[] = [
  {
    status: 400,
    text: /^invalid_grant/,
    class: 'permission',
    message: 'Mastodon does not accept this login',
    connectReason: 'LOGIN_REFUSED',
  },
  {
    status: 401,
    text: /^(invalid_client|unauthorized_client)/,
    class: 'permission',
    message: 'Mastodon no longer knows this service',
    kind: 'application-unknown',
    connectReason: 'LOGIN_REFUSED',
  },
  { status: 401, class: 'unauthorized', message: 'Mastodon no longer accepts the login' },
  {
    status: 403,
    text: /^your login is currently|missing a confirmed e-?mail/i,
    class: 'blocked_by_platform',
    message: 'Mastodon does not let this account log in at the moment: log in there to see why',
  },
  {
    status: 403,
    text: /scope/i,
    class: 'permission',
    message: 'Mastodon did not grant all permissions: connect it again and allow all of them',
    needsReconnection: true,
  },
  { status: 403, class: 'permission', message: 'Mastodon does not allow this account to do that' },
  { status: 404, class: 'not_found', message: 'Mastodon does not have the requested object', kind: 'missing' },
  // A server or proxy that timed out on a request may still process it.
  { status: 408, class: 'transient', message: 'Mastodon did not receive the request in time', certain: false },
  { status: 410, class: 'not_found', message: 'This Mastodon account no longer exists' },
  { status: 413, class: 'validation', message: 'Mastodon refused an image or video as too large' },
  {
    status: 422,
    text: /finished processing/i,
    class: 'media_not_ready',
    message: 'Mastodon is still processing an image or video',
  },
  {
    status: 422,
    text: /^(validation failed: )?media .*not found/i,
    class: 'media_not_ready',
    message: 'Mastodon no longer has an uploaded file, so it is uploaded again',
    kind: 'media-missing',
  },
  {
    status: 422,
    text: /thumbnail|processing/i,
    class: 'media_fetch_failed',
    message: 'Mastodon could not read an image or video',
    kind: 'media-broken',
  },
  {
    status: 422,
    text: /character limit/i,
    class: 'validation',
    message: 'Mastodon refused the post: its text is too long',
  },
  { status: 422, text: /text can't be blank/i, class: 'validation', message: 'Mastodon refused the post as empty' },
  {
    status: 422,
    text: /^(validation failed: )?cannot attach/i,
    class: 'validation',
    message: 'Mastodon refused the combination of images and videos',
  },
  {
    status: 422,
    text: /file|supported|content type/i,
    class: 'validation',
    message: 'Mastodon does not accept an image or video',
  },
  { status: 422, class: 'validation', message: 'Mastodon refused the post as invalid' },
  { status: 429, class: 'rate_limited', message: 'Mastodon asks to slow down' },
  {
    status: 500,
    text: /thumbnail/i,
    class: 'media_fetch_failed',
    message: 'Mastodon could not read an image or video',
    kind: 'media-broken',
  },
]

/** Returns whether Mastodon itself sent an error response. */
export function isOwnError({ text }: HttpResponse): boolean {
  return readError(text) !== null
}

/** Converts a response other than 2xx. */
export function toError(response: HttpResponse): PlatformError {
  const { status } = response
  const { error: text = '', error_description: description } = readError(response.text) ?? {}
  const rule = RULES.find((one) => one.status === status && (!one.text || one.text.test(text)))
  const meaning = rule ?? classifyStatus(status, 'Mastodon')
  // OAuth errors have a name and a description; all others are a sentence.
  const reason = description ? { code: text, text: description } : { text }
  return toRefusalError(status, meaning, { retryAfterMs: toRetryAfterMs(meaning.class, response), reason })
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
