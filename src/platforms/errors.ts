import type { PlatformErrorClass } from '../domain/posts/failure.ts'
import { toConnectReason, type ConnectReason } from '../domain/accounts/platform-connect.ts'
import type { PublicationReport } from '../domain/quotas/publications.ts'
import { MINUTE } from '../domain/shared/times.ts'
import { toPlatformReason, type PlatformReason } from '../domain/posts/platform-reason.ts'

interface PlatformErrorOptions {
  /**
   * True when the platform certainly did not do what was requested (a clear refusal, or the request was never sent).
   * False when it may have: timeout, reset, 5xx, or a 2xx without an id.
   */
  certain: boolean
  /**
   * True when the call got a response, so that no server is still processing it. False after a timeout or a broken
   * connection, and after a gateway's 5xx: the server behind it may continue.
   */
  answered?: boolean
  /** The wait that the platform asks for, milliseconds. */
  retryAfterMs?: number
  /** The origin of the server, when it could not be reached or something in front of it answered in its place. */
  unreachable?: string
  /** Code and text of the platform's response, unchanged. Defaults to those of `cause`. */
  reason?: Parameters<typeof toPlatformReason>[0]
  /** True when the platform does what was requested only after the user has connected the account again. */
  needsReconnection?: boolean | undefined
  /** Why an account cannot be connected, if the class does not say it. */
  connectReason?: ConnectReason
  cause?: unknown
}

/**
 * The only error that a platform adapter throws. Its class decides the next step (docs/reference/platforms.md).
 * `message` is a sentence for people; it never contains response bodies, tokens or URLs.
 */
export class PlatformError extends Error {
  readonly class: PlatformErrorClass
  readonly certain: boolean
  /** Set by the caller of the platform. */
  answered: boolean
  readonly retryAfterMs: number | undefined
  readonly needsReconnection: boolean
  /** The origin of a server that could not be reached; null for an answer of the platform. */
  unreachable: string | null
  readonly connectReason: ConnectReason
  /** The platform's own message, sanitized; `null` when it sent none. */
  platformReason: PlatformReason | null

  constructor(errorClass: PlatformErrorClass, message: string, options: PlatformErrorOptions) {
    super(message, { cause: options.cause })
    this.name = 'PlatformError'
    this.class = errorClass
    this.certain = options.certain
    this.answered = options.answered ?? false
    this.retryAfterMs = options.retryAfterMs
    this.needsReconnection = options.needsReconnection ?? false
    this.unreachable = options.unreachable ?? null
    this.connectReason = options.connectReason ?? toConnectReason(errorClass)
    this.platformReason = options.reason ? toPlatformReason(options.reason) : inheritReason(options.cause)
  }
}

/** The account may not publish another post for now. The post waits for its turn, however long that takes. */
export class PublicationQuotaReached extends PlatformError {
  readonly waitMs: number
  /** The platform's statements about the quota. */
  readonly reports: readonly PublicationReport[]

  constructor(
    message: string,
    { waitMs, reports = [], cause }: { waitMs: number; reports?: readonly PublicationReport[]; cause?: unknown },
  ) {
    super('rate_limited', message, { certain: true, retryAfterMs: waitMs, cause })
    this.name = 'PublicationQuotaReached'
    this.waitMs = waitMs
    this.reports = reports
  }
}

/** The stored login cannot be read with the configured encryption keys. The delivery waits until the operator has added the key. */
export class CredentialsUnreadable extends PlatformError {
  constructor(message: string, cause: unknown) {
    super('transient', message, { certain: true, retryAfterMs: MINUTE, cause })
    this.name = 'CredentialsUnreadable'
  }
}

/** A user named a server that is not public, or that this deployment does not allow. The message is for that user. */
export class ServerNotAllowedError extends PlatformError {
  constructor(message: string, { cause }: { cause?: unknown } = {}) {
    super('validation', message, { certain: true, cause })
    this.name = 'ServerNotAllowedError'
  }
}

function inheritReason(cause: unknown): PlatformReason | null {
  return cause instanceof PlatformError ? cause.platformReason : null
}

/** Thrown by `save` of a checkpoint when it is unknown whether the value was stored. */
export class CheckpointUnknown extends Error {
  constructor(cause: unknown) {
    super('it is unknown whether a checkpoint was stored', { cause })
    this.name = 'CheckpointUnknown'
  }
}
