import { expect, test } from 'vitest'
import { chooseRetryWait, isRepeatable } from '../../../packages/sdk/src/retries.ts'

const failed = (status: number | null, retryAfterSeconds: number | null = null) => ({ status, retryAfterSeconds })

test('a rate limit is retried for every request, because it had no effect', () => {
  expect(chooseRetryWait(failed(429), false, 1, 0)).toBe(250)
})

test.each([null, 503])('after %s only a request without a second effect is retried', (status) => {
  expect(chooseRetryWait(failed(status), true, 1, 0)).toBe(250)
  expect(chooseRetryWait(failed(status), false, 1, 0)).toBeNull()
})

test.each([400, 401, 404, 409, 422, 500, 502])('status %s is not retried', (status) => {
  expect(chooseRetryWait(failed(status), true, 1, 0)).toBeNull()
})

test('waits double up to eight seconds, and half of each is random', () => {
  expect([1, 2, 3, 4, 5, 6].map((failures) => chooseRetryWait(failed(503), true, failures, 0))).toEqual([
    250, 500, 1_000, 2_000, 4_000, 4_000,
  ])
  expect(chooseRetryWait(failed(503), true, 6, 0.5)).toBe(6_000)
})

test('Retry-After is honoured up to a minute; a longer one ends the retries', () => {
  expect(chooseRetryWait(failed(429, 60), false, 1, 0)).toBe(60_000)
  expect(chooseRetryWait(failed(429, 61), false, 1, 0)).toBeNull()
})

test('operations with an idempotency key may be repeated, other POST and PATCH requests may not', () => {
  expect(isRepeatable('POST', '/api/posts')).toBe(true)
  expect(isRepeatable('GET', '/api/posts')).toBe(true)
  expect(isRepeatable('POST', '/api/posts/{postId}/retry')).toBe(false)
  expect(isRepeatable('PATCH', '/api/posts/{postId}')).toBe(false)
})
