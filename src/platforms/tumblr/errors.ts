import type { PlatformErrorClass } from '../../domain/failure.ts'
import { HOUR, MINUTE, SECOND } from '../../domain/times.ts'
import { PlatformError } from '../errors.ts'
import type { HttpAnswer } from '../shared/http.ts'
import { retryAfterMs } from '../shared/retry-after.ts'
import { readErrors } from './answers.ts'

/** An error answer, by what of it may be told; `cause` of the PlatformError made of it. */
export class TumblrRefusal extends Error {
  readonly status: number
  readonly kind: Kind | undefined
  constructor(status: number, kind: Kind | undefined) {
    super(`status ${status}`)
    this.name = 'TumblrRefusal'
    this.status = status
    this.kind = kind
  }
}

/** Refusals that have to be looked into. */
type Kind = 'login' | 'day-limit'

interface Meaning {
  class: PlatformErrorClass
  message: string
  kind?: Kind
  retryAfterMs?: number
  /** Only where the status does not tell: see `refusalOf`. */
  certain?: boolean
}

const TRANSCODING_WAIT_MS = 2 * MINUTE
/** Of the clocks, beyond which signatures are refused. */
const MOST_SKEW_MS = 5 * MINUTE

/** https://www.tumblr.com/docs/en/api/v2#errors-and-error-subcodes (platforms.md 7g). */
const BY_CODE: Record<number, Meaning> = {
  8001: { class: 'validation', message: 'Tumblr refused the post as invalid' },
  8002: { class: 'validation', message: 'Tumblr refused the post as a reblog' },
  8004: { class: 'rate_limited', message: 'Tumblr takes no more images of this account today', kind: 'day-limit' },
  8005: { class: 'validation', message: 'Tumblr does not accept the format of an image or video' },
  8006: { class: 'transient', message: 'Tumblr could not store an image or video' },
  8008: { class: 'validation', message: 'Tumblr refused the post as a reblog with a video' },
  8009: { class: 'transient', message: 'Tumblr could not store an image or video' },
  8010: {
    class: 'media_not_ready',
    message: 'Tumblr is still working on another video of this account',
    retryAfterMs: TRANSCODING_WAIT_MS,
  },
  8011: { class: 'rate_limited', message: 'Tumblr takes no more videos of this account today', kind: 'day-limit' },
  8016: { class: 'validation', message: 'Tumblr refused the post as invalid' },
  8022: { class: 'blocked_by_platform', message: 'The queue of this blog is full: make room there' },
  8023: { class: 'rate_limited', message: 'Tumblr takes no more posts of this account today', kind: 'day-limit' },
}

const BY_STATUS: Record<number, Meaning> = {
  400: { class: 'validation', message: 'Tumblr refused the post as invalid' },
  // Bad signatures, clocks that differ and ended logins look alike.
  401: { class: 'unauthorized', message: 'Tumblr does not accept the login any more', kind: 'login' },
  403: { class: 'permission', message: 'Tumblr does not allow this account to do that' },
  404: { class: 'not_found', message: 'Tumblr does not know what was asked for' },
  // A server or proxy that gave up waiting for the rest of a request may still have it.
  408: { class: 'transient', message: 'Tumblr did not get the request in time', certain: false },
  413: { class: 'validation', message: 'Tumblr refused an image or video as too large' },
  429: { class: 'rate_limited', message: 'Tumblr asks to slow down' },
}

/** What an answer other than 2xx means. A 4xx is a definite refusal; a 5xx or a redirect leaves open whether anything was done. */
export function refusalOf(answer: HttpAnswer): PlatformError {
  const { status } = answer
  const isRefusal = status >= 400 && status < 500
  const code = readErrors(answer.text)?.errors.find((error) => BY_CODE[error.code ?? 0])?.code
  const meaning = isSkewed(answer) ? SKEWED : (BY_CODE[code ?? 0] ?? BY_STATUS[status] ?? other(status))
  const wait = meaning.retryAfterMs ?? waitOf(meaning.class, answer)
  return new PlatformError(meaning.class, meaning.message, {
    certain: meaning.certain ?? isRefusal,
    ...(wait !== undefined && { retryAfterMs: wait }),
    cause: new TumblrRefusal(status, meaning.kind),
  })
}

const SKEWED: Meaning = { class: 'transient', message: 'The clocks of Tumblr and of this service do not agree' }

function isSkewed(answer: HttpAnswer): boolean {
  const theirs = Date.parse(answer.header('date') ?? '')
  return answer.status === 401 && Math.abs(theirs - Date.now()) > MOST_SKEW_MS
}

function other(status: number): Meaning {
  if (status >= 500) return { class: 'transient', message: 'Tumblr has trouble at the moment' }
  if (status >= 400) return { class: 'validation', message: 'Tumblr refused the post as invalid' }
  return { class: 'transient', message: 'Tumblr answered in an unexpected way' }
}

/** Every answer tells when hour and day begin anew; that is worth waiting for only where nothing is left of them. */
function waitOf(errorClass: PlatformErrorClass, answer: HttpAnswer): number | undefined {
  if (errorClass === 'transient') return retryAfterMs(answer)
  if (errorClass !== 'rate_limited') return undefined
  const waits = ['perhour', 'perday']
    .filter((span) => answer.header(`x-ratelimit-${span}-remaining`) === '0')
    .map((span) => Number(answer.header(`x-ratelimit-${span}-reset`) ?? NaN) * SECOND)
    .filter((wait) => !Number.isNaN(wait))
  return waits.length > 0 ? Math.max(...waits) : retryAfterMs(answer)
}

/** A limit of the day, and how long that still is: asked again within the hour where Tumblr does not say. */
export function untilTomorrow({ class: errorClass, message, cause }: PlatformError, waitMs = HOUR): PlatformError {
  return new PlatformError(errorClass, message, { certain: true, retryAfterMs: waitMs, cause })
}

/** Did Tumblr refuse with this status? */
export function isRefusedWith(error: unknown, status: number): error is PlatformError {
  return error instanceof PlatformError && error.cause instanceof TumblrRefusal && error.cause.status === status
}

/** Did Tumblr refuse for this reason? */
export function isRefusedAs(error: unknown, kind: Kind): error is PlatformError {
  return error instanceof PlatformError && error.cause instanceof TumblrRefusal && error.cause.kind === kind
}
