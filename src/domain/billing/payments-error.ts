interface PaymentsErrorOptions {
  isRefused: boolean
  /** The processor's own error code. */
  reason?: string | null
}

/** Thrown when the payment processor refused a request or did not respond. The message has no personal data. */
export class PaymentsError extends Error {
  /** True when the request had no effect and a retry would be refused again. False when it may have succeeded: retry it. */
  readonly isRefused: boolean
  readonly reason: string | null

  constructor(message: string, { isRefused, reason = null }: PaymentsErrorOptions) {
    super(message)
    this.name = 'PaymentsError'
    this.isRefused = isRefused
    this.reason = reason
  }
}
