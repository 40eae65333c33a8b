import { ACCEPT_IDEMPOTENCY_KEY } from './generated/idempotency.ts'
import type { Method } from './operations.ts'

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 8_000
/** A longer `Retry-After` is the caller's decision. */
const LONGEST_RETRY_AFTER_MS = 60_000

/** A request that failed: its status, or `null` when no response arrived. */
export interface Failure {
  status: number | null
  retryAfterSeconds: number | null
}

export function acceptsIdempotencyKey(method: Method, path: string): boolean {
  return ACCEPT_IDEMPOTENCY_KEY.has(`${method} ${path}`)
}

/** Returns true when a second request has no second effect. */
export function isRepeatable(method: Method, path: string): boolean {
  return method === 'GET' || method === 'PUT' || method === 'DELETE' || acceptsIdempotencyKey(method, path)
}

/**
 * Returns how long to wait before the next try; `null`: do not retry.
 *
 * A refusal by a rate limit had no effect, so every request may be repeated. After a lost response or a 503 the service may have
 * acted, so only repeatable requests are.
 * @param failures number of tries so far
 * @param chance in [0, 1), spreads the retries of many clients
 */
export function chooseRetryWait(
  failure: Failure,
  repeatable: boolean,
  failures: number,
  chance: number,
): number | null {
  const isTemporary = failure.status === 429 || (repeatable && (failure.status === null || failure.status === 503))
  if (!isTemporary) return null
  const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1))
  const backoff = longest / 2 + (longest / 2) * chance
  const retryAfterMs = (failure.retryAfterSeconds ?? 0) * 1_000
  return retryAfterMs > LONGEST_RETRY_AFTER_MS ? null : Math.max(backoff, retryAfterMs)
}
