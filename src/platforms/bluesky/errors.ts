import type { PlatformErrorClass } from '../../domain/posts/failure.ts'
import { PlatformError } from '../errors.ts'
import type { HttpResponse } from '../shared/http.ts'
import { retryAfterMs } from '../shared/retry-after.ts'
import { readKnownJob, readXrpcError } from './responses.ts'

/** The cause of a PlatformError: status and name of the error response. */
export class XrpcRefusal extends Error {
  readonly status: number
  readonly code: string
  /** The job of a video that the server already has. */
  readonly jobId: string | undefined
  constructor(status: number, code: string, jobId?: string) {
    super(`status ${status}, ${code || 'no error name'}`)
    this.name = 'XrpcRefusal'
    this.status = status
    this.code = code
    this.jobId = jobId
  }
}

/** Longer than any known error name. */
const LONGEST_CODE = 64

interface Meaning {
  class: PlatformErrorClass
  message: string
  /** Set only to override the default of `toError`. */
  certain?: boolean
}

/** Error names come before statuses, because Bluesky's names are more specific. */
const BY_CODE: Record<string, Meaning> = {
  ExpiredToken: { class: 'unauthorized', message: 'The Bluesky login has expired' },
  InvalidToken: { class: 'unauthorized', message: 'Bluesky no longer accepts the login' },
  AuthMissing: { class: 'unauthorized', message: 'Bluesky no longer accepts the login' },
  AuthenticationRequired: { class: 'unauthorized', message: 'Bluesky no longer accepts the login' },
  AuthFactorTokenRequired: {
    class: 'unauthorized',
    message: 'Bluesky asks for a code sent by e-mail: connect with an app password instead',
  },
  AccountTakedown: { class: 'unauthorized', message: 'Bluesky has taken this account down' },
  AccountDeactivated: { class: 'unauthorized', message: 'This Bluesky account is deactivated' },
  AccountNotFound: { class: 'unauthorized', message: 'This Bluesky account no longer exists' },
  RecordNotFound: { class: 'not_found', message: 'The post is not on Bluesky' },
  // Nothing was written, but the existing record may come from an earlier call of ours.
  InvalidSwap: {
    class: 'duplicate',
    message: 'Bluesky already has a record under the key of this post',
    certain: false,
  },
  BlobNotFound: {
    class: 'media_not_ready',
    message: 'Bluesky no longer has an uploaded file, so it is uploaded again',
  },
  InvalidMimeType: { class: 'validation', message: 'Bluesky does not accept the type of an image or video' },
  InvalidSize: { class: 'validation', message: 'Bluesky does not accept the size of an image or video' },
  RateLimitExceeded: { class: 'rate_limited', message: 'Bluesky asks to slow down' },
}

const BY_STATUS: Record<number, Meaning> = {
  401: BY_CODE['InvalidToken']!,
  403: { class: 'permission', message: 'Bluesky does not allow this account to do that' },
  404: { class: 'not_found', message: 'Bluesky does not have the requested object' },
  // A server or proxy that timed out on a request may still process it.
  408: { class: 'transient', message: 'Bluesky did not receive the request in time', certain: false },
  413: { class: 'validation', message: 'Bluesky refused the post as too large' },
  429: BY_CODE['RateLimitExceeded']!,
}

const INVALID: Meaning = { class: 'validation', message: 'Bluesky refused the post as invalid' }

/**
 * Returns whether Bluesky itself sent an error response. For a video that it already has, the video service returns its job instead
 * of an error.
 */
export function isOwnError({ text }: HttpResponse): boolean {
  return readXrpcError(text) !== null || readKnownJob(text) !== null
}

/**
 * Converts a response other than 2xx. A 4xx is a definite refusal; a 5xx or a redirect leaves open whether anything was
 * done.
 */
export function toError(response: HttpResponse): PlatformError {
  const body = readXrpcError(response.text)
  const code = (body?.error ?? '').slice(0, LONGEST_CODE)
  const isRefusal = response.status >= 400 && response.status < 500
  const meaning = isRefusal
    ? (BY_CODE[code] ?? BY_STATUS[response.status] ?? INVALID)
    : toTemporaryMeaning(response.status)
  const wait = meaning.class === 'rate_limited' || meaning.class === 'transient' ? retryAfterMs(response) : undefined
  return new PlatformError(meaning.class, meaning.message, {
    certain: meaning.certain ?? isRefusal,
    ...(wait !== undefined && { retryAfterMs: wait }),
    reason: { code, text: body?.message },
    cause: new XrpcRefusal(response.status, code, readKnownJob(response.text)?.jobId),
  })
}

function toTemporaryMeaning(status: number): Meaning {
  const message = status >= 500 ? 'Bluesky has a temporary problem' : 'Bluesky sent an unexpected response'
  return { class: 'transient', message, certain: false }
}

/** Returns whether Bluesky refused with this error name. */
export function isRefusedAs(error: unknown, code: string): boolean {
  return error instanceof PlatformError && error.cause instanceof XrpcRefusal && error.cause.code === code
}

/** Returns whether Bluesky refused with this status. */
export function isRefusedWith(error: unknown, status: number): boolean {
  return error instanceof PlatformError && error.cause instanceof XrpcRefusal && error.cause.status === status
}

/** Returns the job of a video that the service already has, if it refused for that reason; else `null`. */
export function getKnownJobId(error: unknown): string | null {
  return isRefusedWith(error, 409) ? ((error as { cause: XrpcRefusal }).cause.jobId ?? null) : null
}
