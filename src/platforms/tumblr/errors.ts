import type { PlatformErrorClass } from '../../domain/posts/failure.ts'
import { HOUR, MINUTE, SECOND } from '../../domain/shared/times.ts'
import { PublicationQuotaReached, type PlatformError } from '../errors.ts'
import type { HttpResponse } from '../shared/http.ts'
import { classifyStatus, toRefusalError, type Meaning } from '../shared/refusals.ts'
import { retryAfterMs } from '../shared/retry-after.ts'
import { readErrors, readMeta } from './responses.ts'

/** Refusals that the adapter handles itself or investigates. */
type Kind = 'login' | 'day-limit' | 'missing'

interface Row extends Meaning<Kind> {
  retryAfterMs?: number
}

const TRANSCODING_WAIT_MS = 2 * MINUTE
/** The clock difference beyond which Tumblr refuses signatures. */
const MAX_SKEW_MS = 5 * MINUTE

/** https://www.tumblr.com/docs/en/api/v2#errors-and-error-subcodes */
const BY_CODE: Record<number, Row> = {
  8001: { class: 'validation', message: 'Tumblr refused the post as invalid' },
  8002: { class: 'validation', message: 'Tumblr refused the post as a reblog' },
  8004: { class: 'rate_limited', message: 'Tumblr accepts no more images from this account today', kind: 'day-limit' },
  8005: { class: 'validation', message: 'Tumblr does not accept the format of an image or video' },
  8006: { class: 'transient', message: 'Tumblr could not store an image or video' },
  8008: { class: 'validation', message: 'Tumblr refused the post as a reblog with a video' },
  8009: { class: 'transient', message: 'Tumblr could not store an image or video' },
  8010: {
    class: 'media_not_ready',
    message: 'Tumblr is still processing another video of this account',
    retryAfterMs: TRANSCODING_WAIT_MS,
  },
  8011: { class: 'rate_limited', message: 'Tumblr accepts no more videos from this account today', kind: 'day-limit' },
  8016: { class: 'validation', message: 'Tumblr refused the post as invalid' },
  8022: { class: 'blocked_by_platform', message: 'The queue of this blog is full: remove posts from it there' },
  8023: { class: 'rate_limited', message: 'Tumblr accepts no more posts from this account today', kind: 'day-limit' },
}

const BY_STATUS: Record<number, Row> = {
  400: { class: 'validation', message: 'Tumblr refused the post as invalid' },
  // Invalid signatures, clock differences and ended logins have the same status.
  401: { class: 'unauthorized', message: 'Tumblr no longer accepts the login', kind: 'login' },
  403: { class: 'permission', message: 'Tumblr does not allow this account to do that' },
  404: { class: 'not_found', message: 'Tumblr does not have the requested object', kind: 'missing' },
  // A server or proxy that timed out on a request may still process it.
  408: { class: 'transient', message: 'Tumblr did not receive the request in time', certain: false },
  413: { class: 'validation', message: 'Tumblr refused an image or video as too large' },
  429: { class: 'rate_limited', message: 'Tumblr asks to slow down' },
}

/** Returns whether Tumblr itself sent a response: every call but those of OAuth uses one envelope. */
export function isOwnError({ text }: HttpResponse): boolean {
  return readMeta(text) !== null
}

/** Returns whether the account has reached a limit of its day, which does not concern the calls of other accounts. */
export function hasReachedDayLimit({ text }: Pick<HttpResponse, 'text'>): boolean {
  return (readErrors(text)?.errors ?? []).some(({ code }) => BY_CODE[code ?? 0]?.kind === 'day-limit')
}

/** Converts a response other than 2xx. */
export function toError(response: HttpResponse): PlatformError {
  const { status } = response
  const errors = readErrors(response.text)?.errors ?? []
  const named = errors.find((error) => BY_CODE[error.code ?? 0])
  const code = named?.code
  const known = isSkewed(response) ? SKEWED : (BY_CODE[code ?? 0] ?? BY_STATUS[status])
  const row: Row = known ?? classifyStatus(status, 'Tumblr')
  const reason = toReason(named ?? errors[0] ?? {})
  return toRefusalError(status, row, { retryAfterMs: row.retryAfterMs ?? toRetryAfterMs(row.class, response), reason })
}

function toReason({ code, title, detail }: { code?: number | null; title?: unknown; detail?: unknown }) {
  const text = [detail, title].find((part) => typeof part === 'string' && part !== '') as string | undefined
  return { code: code || undefined, text }
}

const SKEWED: Row = { class: 'transient', message: 'The clocks of Tumblr and of this service differ too much' }

function isSkewed(response: HttpResponse): boolean {
  const theirs = Date.parse(response.header('date') ?? '')
  return response.status === 401 && Math.abs(theirs - Date.now()) > MAX_SKEW_MS
}

/** Every response states when the hour and the day start over. Waiting for that helps only when no calls remain. */
function toRetryAfterMs(errorClass: PlatformErrorClass, response: HttpResponse): number | undefined {
  if (errorClass === 'transient') return retryAfterMs(response)
  if (errorClass !== 'rate_limited') return undefined
  const waits = ['perhour', 'perday']
    .filter((span) => response.header(`x-ratelimit-${span}-remaining`) === '0')
    .map((span) => Number(response.header(`x-ratelimit-${span}-reset`) ?? NaN) * SECOND)
    .filter((wait) => !Number.isNaN(wait))
  return waits.length > 0 ? Math.max(...waits) : retryAfterMs(response)
}

/** The error for a daily limit of an account and its remaining time. Without a stated time, the post is retried after an hour. */
export function toDailyLimitError(refusal: PlatformError, waitMs = HOUR): PlatformError {
  return new PublicationQuotaReached(refusal.message, { waitMs, cause: refusal })
}
