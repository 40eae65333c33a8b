import type { PlatformErrorClass } from '../../domain/posts/failure.ts'
import type { ConnectReason } from '../../domain/accounts/platform-connect.ts'
import { PlatformError } from '../errors.ts'

/** What an error answer means, as a row of a platform's table. */
export interface Meaning<Kind extends string = never> {
  class: PlatformErrorClass
  message: string
  /** Names refusals that the adapter itself acts on. */
  kind?: Kind
  /** For refusals of a login whose class does not tell users what to do. */
  connectReason?: ConnectReason
  /** Only where the status does not tell: a 4xx is a definite refusal, a 5xx or a redirect leaves open whether anything was done. */
  certain?: boolean
}

/** An error answer, by what of it may be told; `cause` of the PlatformError made of it. */
class Refusal extends Error {
  readonly status: number
  readonly kind: string | undefined
  constructor(status: number, kind: string | undefined) {
    super(`status ${status}`)
    this.name = 'Refusal'
    this.status = status
    this.kind = kind
  }
}

interface RefusalDetails {
  /** How long the answer asks to wait. */
  retryAfterMs: number | undefined
  /** What the platform says itself. */
  reason: { code?: string | number | undefined; text?: string | undefined }
}

export function toRefusalError(
  status: number,
  { class: errorClass, message, kind, certain, connectReason }: Meaning<string>,
  { retryAfterMs, reason }: RefusalDetails,
): PlatformError {
  return new PlatformError(errorClass, message, {
    certain: certain ?? isRefusalStatus(status),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(connectReason && { connectReason }),
    reason,
    cause: new Refusal(status, kind),
  })
}

/** What a status means that has no row of its own. */
export function classifyStatus(status: number, label: string): Meaning {
  if (status >= 500) return { class: 'transient', message: `${label} has trouble at the moment` }
  if (isRefusalStatus(status)) return { class: 'validation', message: `${label} refused the post as invalid` }
  return { class: 'transient', message: `${label} answered in an unexpected way` }
}

/** Did the platform refuse with this status? */
export function isRefusedWith(error: unknown, status: number): error is PlatformError {
  return error instanceof PlatformError && error.cause instanceof Refusal && error.cause.status === status
}

/** Did the platform refuse for this reason? */
export function isRefusedAs(error: unknown, kind: string): error is PlatformError {
  return error instanceof PlatformError && error.cause instanceof Refusal && error.cause.kind === kind
}

function isRefusalStatus(status: number): boolean {
  return status >= 400 && status < 500
}
