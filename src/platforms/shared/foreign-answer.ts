import { PlatformError } from '../errors.ts'
import type { HttpAnswer } from './http.ts'
import { retryAfterMs } from './retry-after.ts'

/** A 4xx in the platform's place, from a proxy, a firewall or a captive portal; `cause` of the PlatformError made of it. */
class ForeignAnswer extends Error {
  readonly status: number
  constructor(status: number) {
    super(`status ${status} without the platform's own error body`)
    this.name = 'ForeignAnswer'
    this.status = status
  }
}

/**
 * Returns the error for a 4xx that the platform did not give. It says nothing of the post, the account or the login, and leaves open
 * whether the platform got the request.
 */
export function foreignAnswer(label: string, answer: HttpAnswer): PlatformError {
  const wait = retryAfterMs(answer)
  return new PlatformError('transient', `${label} could not be reached: another server answered in its place`, {
    certain: false,
    answered: true,
    ...(wait !== undefined && { retryAfterMs: wait }),
    cause: new ForeignAnswer(answer.status),
  })
}

/** Returns the status of an answer that the platform did not give; null for every other error. */
export function foreignStatusOf(error: unknown): number | null {
  return error instanceof PlatformError && error.cause instanceof ForeignAnswer ? error.cause.status : null
}
