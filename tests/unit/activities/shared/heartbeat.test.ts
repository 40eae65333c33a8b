import { expect, it } from 'vitest'
import { createRareHeartbeat } from '../../../../src/activities/shared/heartbeat.ts'

/** Returns the seconds before (negative) and after the instant at which a delivery that is armed `leadS` ahead heartbeats. */
function beatsOf(leadS: number, timeoutS: number, untilS: number): number[] {
  let nowMs = -leadS * 1_000
  const isDue = createRareHeartbeat(new Date(0), timeoutS * 1_000, () => nowMs)
  const beats: number[] = []
  for (nowMs += 1_000; nowMs <= untilS * 1_000; nowMs += 1_000) if (isDue()) beats.push(nowMs / 1_000)
  return beats
}

it('a delivery with the usual timeout heartbeats every second', () => {
  expect(beatsOf(3, 5, 1)).toEqual([-2, -1, 0, 1])
})

it('an early armed delivery heartbeats so that the timeout ends five seconds after the instant', () => {
  expect(beatsOf(100, 30, 5)).toEqual([-75, -50, -25, 3, 4, 5])
  expect(beatsOf(24, 29, 3)).toEqual([3])
})

it.each([11, 24, 26, 60, 119])('a living worker never misses its timeout when it is armed %d s ahead', (leadS) => {
  const timeoutS = Math.min(leadS + 5, 30)
  const beats = [-leadS, ...beatsOf(leadS, timeoutS, 4)]
  for (const [index, beat] of beats.slice(1).entries()) expect(beat - beats[index]!).toBeLessThan(timeoutS)
  // A worker that is lost at the instant is noticed five seconds later.
  expect(beats.findLast((beat) => beat <= 0)! + timeoutS).toBeLessThanOrEqual(5)
})
