import type { PlatformErrorClass } from '../domain/posts/failure.ts'
import { toConnectReason, type ConnectReason } from '../domain/accounts/platform-connect.ts'
import { toPlatformReason, type PlatformReason } from '../domain/posts/platform-reason.ts'

interface PlatformErrorOptions {
  /**
   * True when the platform definitely did not do what was asked (a clear refusal, or the request never left).
   * False when it may have: time-out, reset, 5xx, a 2xx without an id.
   */
  certain: boolean
  /**
   * True when the call was answered, so that no server is still working on it. False after a time-out or a broken connection, and when
   * a gateway answered 5xx: it may have stopped waiting for a server that goes on.
   */
  answered?: boolean
  /** How long the platform asked to wait, milliseconds. */
  retryAfterMs?: number
  /** Code and text of the platform's answer, as they came; without it those of `cause` hold. */
  reason?: Parameters<typeof toPlatformReason>[0]
  /** Why an account cannot be connected, where the class does not say. */
  connectReason?: ConnectReason
  cause?: unknown
}

/**
 * The only error a platform adapter throws. Its class decides what follows (platforms.md section 8).
 * `message` is a sentence for people; it never carries response bodies, tokens or addresses.
 */
export class PlatformError extends Error {
  readonly class: PlatformErrorClass
  readonly certain: boolean
  /** Set by whoever made the call. */
  answered: boolean
  readonly retryAfterMs: number | undefined
  readonly connectReason: ConnectReason
  /** What the platform said, sanitized; null when it said nothing. */
  platformReason: PlatformReason | null

  constructor(errorClass: PlatformErrorClass, message: string, options: PlatformErrorOptions) {
    super(message, { cause: options.cause })
    this.name = 'PlatformError'
    this.class = errorClass
    this.certain = options.certain
    this.answered = options.answered ?? false
    this.retryAfterMs = options.retryAfterMs
    this.connectReason = options.connectReason ?? toConnectReason(errorClass)
    this.platformReason = options.reason ? toPlatformReason(options.reason) : reasonOf(options.cause)
  }
}

function reasonOf(cause: unknown): PlatformReason | null {
  return cause instanceof PlatformError ? cause.platformReason : null
}
