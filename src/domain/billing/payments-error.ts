interface PaymentsErrorOptions {
  isRefused: boolean
  /** The processor's word for it. */
  reason?: string | null
}

/** What the payment processor would not do, or did not answer. The message holds nothing personal. */
export class PaymentsError extends Error {
  /** It will answer the same again, and nothing happened. Else it may have done it, and asking again is right. */
  readonly isRefused: boolean
  readonly reason: string | null

  constructor(message: string, { isRefused, reason = null }: PaymentsErrorOptions) {
    super(message)
    this.name = 'PaymentsError'
    this.isRefused = isRefused
    this.reason = reason
  }
}
