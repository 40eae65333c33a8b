import { PlatformError } from '../errors.ts'
import type { HttpResponse } from './http.ts'
import { retryAfterMs } from './retry-after.ts'

/** A 4xx in the platform's place, from a proxy, a firewall or a captive portal; `cause` of the PlatformError made of it. */
class ForeignResponse extends Error {
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
export function toForeignResponseError(label: string, answer: HttpResponse): PlatformError {
  const wait = retryAfterMs(answer)
  return new PlatformError('transient', `${label} could not be reached: another server answered in its place`, {
    certain: false,
    answered: true,
    ...(wait !== undefined && { retryAfterMs: wait }),
    cause: new ForeignResponse(answer.status),
  })
}

/** Returns the status of an answer that the platform did not give; null for every other error. */
export function getForeignStatus(error: unknown): number | null {
  return error instanceof PlatformError && error.cause instanceof ForeignResponse ? error.cause.status : null
}
