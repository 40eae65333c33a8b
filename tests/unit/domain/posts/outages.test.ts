import { describe, expect, it } from 'vitest'
import {
  defer,
  markAbsent,
  markUnknown,
  MAX_TRIES,
  RECONCILE_WAITS_MS,
} from '../../../../src/domain/posts/delivery-moves.ts'
import { failure } from '../../../../src/domain/posts/failure.ts'
import { toProbeWaitMs } from '../../../../src/domain/posts/outages.ts'
import type { Move, Post } from '../../../../src/domain/posts/post.ts'
import { deriveEvents } from '../../../../src/domain/posts/timeline.ts'
import { MINUTE, SECOND } from '../../../../src/domain/shared/times.ts'
import { after, buildClaim, buildPost } from '../../../support/posts.ts'

const START = new Date('2026-05-01T12:00:00.000Z')
const SERVER = 'https://down.example'
const down = failure('transient', 'The server could not be reached')
const at = (ms: number) => after(START, ms)
const deliveryOf = (post: Post) => post.platformStatuses[0]!.delivery
const refOf = (post: Post) => ({ round: 0, attempt: deliveryOf(post).attempt })
const fresh = () => buildPost({}, START)
const claimed = (post: Post, now: Date) => buildClaim(post, 'bluesky', now)(post, now)
const unreached = (now: Date) => ({ server: SERVER, at: after(now, MINUTE) })

describe('the wait for a server that cannot be reached', () => {
  it.each([
    [0, SECOND],
    [2 * SECOND, 8 * SECOND],
    [15 * SECOND, MINUTE],
    [300 * MINUTE, MINUTE],
  ])('%i ms after the first failure it lasts %i ms, and up to half as long again', (elapsedMs, waitMs) => {
    expect(toProbeWaitMs(elapsedMs, 0)).toBe(waitMs)
    expect(toProbeWaitMs(elapsedMs, 1)).toBe(1.5 * waitMs)
  })

  it('a stated wait makes it longer, up to 90 s', () => {
    expect(toProbeWaitMs(0, 0, 20 * SECOND)).toBe(20 * SECOND)
    expect(toProbeWaitMs(MINUTE, 0, 60 * MINUTE)).toBe(90 * SECOND)
  })
})

describe('a delivery whose server cannot be reached', () => {
  it('any number of tries leaves the post unclaimed and open', () => {
    let post = fresh()
    for (let minute = 0; minute < 3 * MAX_TRIES; minute++) {
      const now = at(minute * MINUTE)
      post = defer('bluesky', down, refOf(post), { ...unreached(now), countsAsTry: false })(post, now)
    }
    expect(post.status).toBe('PENDING')
    expect(deliveryOf(post)).toMatchObject({ tries: 0, outage: { server: SERVER, since: START } })
  })

  it('any number of searches that do not reach the server use up no wait', () => {
    let post = claimed(fresh(), START)
    for (let minute = 1; minute < 3 * RECONCILE_WAITS_MS.length; minute++) {
      const now = at(minute * MINUTE)
      post = markUnknown('bluesky', down, refOf(post), false, unreached(now))(post, now)
      expect(deliveryOf(post).nextAttemptAt).toEqual(after(now, MINUTE))
    }
    expect(deliveryOf(post)).toMatchObject({ outcome: 'unknown', reconcileTries: 0 })
  })

  it('its pace survives a search in between, and ends with an answer', () => {
    const fail: Move = (post, now) => markUnknown('bluesky', down, refOf(post), false, unreached(now))(post, now)
    const one = fail(claimed(fresh(), START), at(MINUTE))
    const searched = markAbsent('bluesky', refOf(one))(one, at(2 * MINUTE))
    const two = fail(claimed(searched, at(3 * MINUTE)), at(4 * MINUTE))
    expect(deliveryOf(two).outage).toEqual({ server: SERVER, since: at(MINUTE), at: at(4 * MINUTE) })
    expect(deliveryOf(markUnknown('bluesky', down, refOf(two))(two, at(5 * MINUTE))).outage).toBeNull()
  })

  it('its claim need not wait, unlike that of a delivery with another reason', () => {
    const next = { at: at(MINUTE), countsAsTry: false }
    const claimLater = (server?: string) => {
      const post = defer(
        'bluesky',
        down,
        { round: 0, attempt: 0 },
        { ...next, ...(server && { server }) },
      )(fresh(), START)
      return () => claimed(post, at(SECOND))
    }
    expect(claimLater(SERVER)().status).toBe('PROCESSING')
    expect(claimLater()).toThrow('not-yet')
  })

  it('its timeline names the outage once', () => {
    const deferAt = (post: Post, now: Date) =>
      defer('bluesky', down, refOf(post), { ...unreached(now), countsAsTry: false })(post, now)
    const post = fresh()
    const one = deferAt(post, START)
    expect(deriveEvents(post, one, START)).toMatchObject([{ type: 'outcome', result: 'deferred' }])
    expect(deriveEvents(one, deferAt(one, at(MINUTE)), at(MINUTE))).toEqual([])
  })
})
