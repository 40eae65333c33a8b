import { describe, expect, it } from 'vitest'
import { CapacityExceeded } from '../../../../src/activities/shared/call-limiter.ts'
import { classifyFailure } from '../../../../src/activities/publishing/retry-policy.ts'
import {
  MediaUnavailableError,
  PLATFORM_ERROR_CLASSES,
  type PlatformErrorClass,
} from '../../../../src/domain/posts/failure.ts'
import { HOUR, MINUTE, SECOND } from '../../../../src/domain/shared/times.ts'
import { PlatformError } from '../../../../src/platforms/errors.ts'

const refusalOf = (errorClass: PlatformErrorClass, retryAfterMs?: number) =>
  new PlatformError(errorClass, 'The platform said no', {
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

describe('the verdict on a definite failure', () => {
  it.each(FINAL)('%s is final, with its class as the code', (errorClass) => {
    expect(classifyFailure(refusalOf(errorClass, SECOND), 0, 0, null)).toEqual({
      kind: 'refuse',
      reason: { code: errorClass, message: 'The platform said no' },
    })
  })

  it.each(PLATFORM_ERROR_CLASSES.filter((errorClass) => !FINAL.includes(errorClass)))(
    '%s is worth another try',
    (errorClass) => {
      expect(classifyFailure(refusalOf(errorClass), 0, 0, null)).toMatchObject({
        kind: 'defer',
        reason: { code: errorClass },
      })
    },
  )

  it('waits as long as the platform states, which costs no try', () => {
    expect(classifyFailure(refusalOf('rate_limited', HOUR), 0, 1, null)).toMatchObject({
      kind: 'defer',
      waitMs: HOUR,
      countsAsTry: false,
    })
  })

  it('is final when the stated wait is longer than an hour, and says how long it is', () => {
    expect(classifyFailure(refusalOf('rate_limited', 90 * MINUTE), 0, 0, null)).toEqual({
      kind: 'refuse',
      reason: { code: 'rate_limited', message: 'The platform said no (the platform asks to wait 90 minutes)' },
    })
  })

  it.each([
    ['rate_limited', 30 * SECOND],
    ['transient', SECOND],
    ['media_not_ready', 15 * SECOND],
  ] as const)('%s without a wait, or with none to speak of, is not tried again at once', (errorClass, waitMs) => {
    expect(classifyFailure(refusalOf(errorClass), 0, 0, null)).toMatchObject({ kind: 'defer', waitMs })
    expect(classifyFailure(refusalOf(errorClass, 0), 0, 0, null)).toMatchObject({ kind: 'defer', waitMs })
  })

  it('spends its tries no faster than it backs off, however short the stated waits', () => {
    expect(classifyFailure(refusalOf('transient', SECOND), 2, 0, null)).toMatchObject({
      waitMs: 30 * SECOND,
      countsAsTry: true,
    })
    expect(classifyFailure(refusalOf('transient', MINUTE), 2, 0, null)).toMatchObject({
      waitMs: MINUTE,
      countsAsTry: true,
    })
  })

  it('backs off further with every try', () => {
    const waits = [0, 1, 2, 3, 4, 9].map((tries) => classifyFailure(refusalOf('transient'), tries, 0, null))
    expect(waits).toMatchObject(
      [SECOND, 5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 10 * MINUTE].map((waitMs) => ({
        kind: 'defer',
        waitMs,
        countsAsTry: true,
      })),
    )
  })

  it('waits for the platform to be done with media as long as it takes, up to an hour after the instant', () => {
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
        message: 'The platform said no, more than an hour after the post was due',
      },
    })
  })

  it('has tries to lose with a platform that takes a post for ready and then refuses it as not', () => {
    expect(classifyFailure(refusalOf('media_not_ready'), 0, 0, null)).toMatchObject({
      kind: 'defer',
      countsAsTry: true,
    })
  })

  it('lets a platform fetch media twice, and no more', () => {
    const failed = refusalOf('media_fetch_failed', MINUTE)
    expect(classifyFailure(failed, 0, 0, null)).toMatchObject({ kind: 'defer', waitMs: MINUTE })
    expect(classifyFailure(refusalOf('media_fetch_failed'), 1, 0, null)).toMatchObject({ kind: 'refuse' })
  })

  it('costs no try when there is no room to send', () => {
    expect(classifyFailure(new CapacityExceeded('full'), 4, 0, null)).toMatchObject({
      kind: 'defer',
      countsAsTry: false,
    })
  })

  it('is final for media that is not there', () => {
    expect(classifyFailure(new MediaUnavailableError('The file a.png is gone'), 0, 0, null)).toEqual({
      kind: 'refuse',
      reason: { code: 'MEDIA_UNAVAILABLE', message: 'The file a.png is gone' },
    })
  })

  it('says nothing to users of what went wrong inside', () => {
    expect(classifyFailure(new TypeError('x of undefined'), 0, 0, null)).toMatchObject({
      kind: 'defer',
      countsAsTry: true,
      reason: { code: 'INTERNAL', message: 'Something went wrong inside the service' },
    })
  })
})
