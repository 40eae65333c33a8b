import { PlatformError } from '../errors.ts'
import type { HttpResponse } from './http.ts'
import { retryAfterMs } from './retry-after.ts'

/** The cause of a PlatformError for a 4xx from a proxy, firewall or captive portal. */
class ForeignResponse extends Error {
  readonly status: number
  constructor(status: number) {
    super(`status ${status} without the platform's own error body`)
    this.name = 'ForeignResponse'
    this.status = status
  }
}

/**
 * Returns the error for a 4xx that the platform did not send. It says nothing about the post, the account or the login,
 * and leaves open whether the platform received the request.
 */
export function toForeignResponseError(label: string, response: HttpResponse, server: string): PlatformError {
  const wait = retryAfterMs(response)
  return new PlatformError('transient', `${label} could not be reached: another server answered in its place`, {
    certain: false,
    answered: true,
    unreachable: server,
    ...(wait !== undefined && { retryAfterMs: wait }),
    cause: new ForeignResponse(response.status),
  })
}

/** Returns the status of a response that the platform did not send; `null` for other errors. */
export function getForeignStatus(error: unknown): number | null {
  return error instanceof PlatformError && error.cause instanceof ForeignResponse ? error.cause.status : null
}
