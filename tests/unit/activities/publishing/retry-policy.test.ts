import { describe, expect, it } from 'vitest'
import { CapacityExceeded, ServerHeld } from '../../../../src/activities/shared/call-limiter.ts'
import { classifyFailure } from '../../../../src/activities/publishing/retry-policy.ts'
import {
  MediaUnavailableError,
  PLATFORM_ERROR_CLASSES,
  type PlatformErrorClass,
} from '../../../../src/domain/posts/failure.ts'
import { HOUR, MINUTE, SECOND } from '../../../../src/domain/shared/times.ts'
import { CredentialsUnreadable, PlatformError } from '../../../../src/platforms/errors.ts'

const refusalOf = (errorClass: PlatformErrorClass, retryAfterMs?: number) =>
  new PlatformError(errorClass, 'The platform refused', {
    certain: true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })

const FINAL: PlatformErrorClass[] = [
  'unauthorized',
  'permission',
  'not_found',
  'validation',
  'duplicate',
  'blocked_by_platform',
]

describe('the retry policy', () => {
  it.each([0, 4, 100])('a login that cannot be read costs no try, after %i tries', (tries) => {
    const error = new CredentialsUnreadable('The login cannot be read', new Error('no key'))
    expect(classifyFailure(error, tries, 0, null)).toMatchObject({ kind: 'defer', waitMs: MINUTE, countsAsTry: false })
  })

  it.each(FINAL)('%s refuses the delivery with its class as the code', (errorClass) => {
    expect(classifyFailure(refusalOf(errorClass, SECOND), 0, 0, null)).toEqual({
      kind: 'refuse',
      reason: { code: errorClass, message: 'The platform refused' },
    })
  })

  it.each(PLATFORM_ERROR_CLASSES.filter((errorClass) => !FINAL.includes(errorClass)))(
    '%s defers the delivery',
    (errorClass) => {
      expect(classifyFailure(refusalOf(errorClass), 0, 0, null)).toMatchObject({
        kind: 'defer',
        reason: { code: errorClass },
      })
    },
  )

  it('a stated rate limit defers the delivery for its time and costs no try', () => {
    expect(classifyFailure(refusalOf('rate_limited', HOUR), 0, 1, null)).toMatchObject({
      kind: 'defer',
      waitMs: HOUR,
      countsAsTry: false,
    })
  })

  it('a stated wait of more than an hour refuses the delivery with the wait in the message', () => {
    expect(classifyFailure(refusalOf('rate_limited', 90 * MINUTE), 0, 0, null)).toEqual({
      kind: 'refuse',
      reason: { code: 'rate_limited', message: 'The platform refused (the platform asks to wait 90 minutes)' },
    })
  })

  it.each([
    ['rate_limited', 30 * SECOND],
    ['transient', SECOND],
    ['media_not_ready', 15 * SECOND],
  ] as const)('%s without a stated wait, or with a wait of zero, is not retried immediately', (errorClass, waitMs) => {
    expect(classifyFailure(refusalOf(errorClass), 0, 0, null)).toMatchObject({ kind: 'defer', waitMs })
    expect(classifyFailure(refusalOf(errorClass, 0), 0, 0, null)).toMatchObject({ kind: 'defer', waitMs })
  })

  it('short stated waits do not shorten the backoff', () => {
    expect(classifyFailure(refusalOf('transient', SECOND), 2, 0, null)).toMatchObject({
      waitMs: 30 * SECOND,
      countsAsTry: true,
    })
    expect(classifyFailure(refusalOf('transient', MINUTE), 2, 0, null)).toMatchObject({
      waitMs: MINUTE,
      countsAsTry: true,
    })
  })

  it('the backoff grows with every try', () => {
    const waits = [0, 1, 2, 3, 4, 9].map((tries) => classifyFailure(refusalOf('transient'), tries, 0, null))
    expect(waits).toMatchObject(
      [SECOND, 5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 10 * MINUTE].map((waitMs) => ({
        kind: 'defer',
        waitMs,
        countsAsTry: true,
      })),
    )
  })

  it('media processing defers the delivery without a try until an hour after the post was due', () => {
    const busy = refusalOf('media_not_ready', 20 * SECOND)
    for (const [waitedMs, waitMs] of [
      [-HOUR, 20 * SECOND],
      [0, 20 * SECOND],
      [HOUR, 3 * MINUTE],
    ] as const) {
      expect(classifyFailure(busy, 4, 0, waitedMs)).toMatchObject({ kind: 'defer', waitMs, countsAsTry: false })
    }
    expect(classifyFailure(busy, 0, 0, HOUR + 1)).toEqual({
      kind: 'refuse',
      reason: {
        code: 'media_not_ready',
        message: 'The platform refused, more than an hour after the post was due',
      },
    })
  })

  it('media that is not ready in the visible call costs a try', () => {
    expect(classifyFailure(refusalOf('media_not_ready'), 0, 0, null)).toMatchObject({
      kind: 'defer',
      countsAsTry: true,
    })
  })

  it('a platform gets two tries to fetch media', () => {
    const failed = refusalOf('media_fetch_failed', MINUTE)
    expect(classifyFailure(failed, 0, 0, null)).toMatchObject({ kind: 'defer', waitMs: MINUTE })
    expect(classifyFailure(refusalOf('media_fetch_failed'), 1, 0, null)).toMatchObject({ kind: 'refuse' })
  })

  it('exceeded capacity costs no try', () => {
    expect(classifyFailure(new CapacityExceeded('full'), 4, 0, null)).toMatchObject({
      kind: 'defer',
      countsAsTry: false,
    })
  })

  it.each([0, 4, 100])('a server that cannot be reached costs no try, after %i tries', (tries) => {
    const server = 'https://down.example'
    const error = new PlatformError('transient', 'Not reached', { certain: true, unreachable: server })
    const deferred = {
      kind: 'defer',
      server,
      countsAsTry: false,
      reason: { code: 'transient', message: 'Not reached' },
    }
    expect(classifyFailure(error, tries, 0, null)).toMatchObject({ ...deferred, waitMs: SECOND })
    expect(classifyFailure(error, tries, 1, null, HOUR)).toMatchObject({ ...deferred, waitMs: 90 * SECOND })
  })

  it('a held call waits as long as its server is held', () => {
    const held = { server: 'https://down.example', waitMs: 17 }
    expect(classifyFailure(new ServerHeld(held), 4, 0, null)).toMatchObject({
      kind: 'defer',
      ...held,
      countsAsTry: false,
    })
  })

  it('missing media refuses the delivery', () => {
    expect(classifyFailure(new MediaUnavailableError('The file a.png is gone'), 0, 0, null)).toEqual({
      kind: 'refuse',
      reason: { code: 'MEDIA_UNAVAILABLE', message: 'The file a.png is gone' },
    })
  })

  it('an internal error shows users a generic message', () => {
    expect(classifyFailure(new TypeError('x of undefined'), 0, 0, null)).toMatchObject({
      kind: 'defer',
      countsAsTry: true,
      reason: { code: 'INTERNAL', message: 'Something went wrong inside the service' },
    })
  })
})
