import type { PlatformErrorClass } from '../../domain/posts/failure.ts'
import type { ConnectReason } from '../../domain/accounts/platform-connect.ts'
import { PlatformError } from '../errors.ts'

/** One row of a platform's error table. */
export interface Meaning<Kind extends string = never> {
  class: PlatformErrorClass
  message: string
  /** Identifies refusals that the adapter handles itself. */
  kind?: Kind
  /** True when the user has to connect the account again. */
  needsReconnection?: true
  /** For refused logins whose class does not say the next step. */
  connectReason?: ConnectReason
  /** Set only to override the default: a 4xx is certain; a 5xx or a redirect leaves open whether anything was done. */
  certain?: boolean
}

/** The cause of the PlatformError, with the parts of a refusal that may be shown. */
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
  /** The wait that the response asks for, milliseconds. */
  retryAfterMs: number | undefined
  /** The platform's own code and text. */
  reason: { code?: string | number | undefined; text?: string | undefined }
}

export function toRefusalError(
  status: number,
  { class: errorClass, message, kind, certain, needsReconnection, connectReason }: Meaning<string>,
  { retryAfterMs, reason }: RefusalDetails,
): PlatformError {
  return new PlatformError(errorClass, message, {
    certain: certain ?? isRefusalStatus(status),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    needsReconnection,
    ...(connectReason && { connectReason }),
    reason,
    cause: new Refusal(status, kind),
  })
}

/** The meaning of a status without a row of its own. */
export function classifyStatus(status: number, label: string): Meaning {
  if (status >= 500) return { class: 'transient', message: `${label} has a temporary problem` }
  if (isRefusalStatus(status)) return { class: 'validation', message: `${label} refused the post as invalid` }
  return { class: 'transient', message: `${label} sent an unexpected response` }
}

/** Returns whether the platform refused with this status. */
export function isRefusedWith(error: unknown, status: number): error is PlatformError {
  return error instanceof PlatformError && error.cause instanceof Refusal && error.cause.status === status
}

/** Returns whether the platform refused for this kind of reason. */
export function isRefusedAs(error: unknown, kind: string): error is PlatformError {
  return error instanceof PlatformError && error.cause instanceof Refusal && error.cause.kind === kind
}

/**
 * Returns the error for a visible call to which the platform answers that something does not exist. That alone decides nothing, since a post
 * may have been published all the same. Only a later read decides.
 */
export function toUnprovenError(cause: PlatformError): PlatformError {
  return new PlatformError('transient', cause.message, { certain: false, answered: true, cause })
}

/** Returns the error for a part of a post whose part before is gone. @param cause the refusal of the part, if there is one */
export function toParentGoneError(label: string, cause?: unknown): PlatformError {
  const message = `The post that this one continues is no longer on ${label}`
  return new PlatformError('validation', message, { certain: true, cause })
}

function isRefusalStatus(status: number): boolean {
  return status >= 400 && status < 500
}
