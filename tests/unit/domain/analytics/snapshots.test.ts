import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ENGAGEMENTS, toPrecedingWindow } from '../../../../src/domain/analytics/analytics.ts'
import { toPeriodWindow } from '../../../../src/domain/analytics/calendar.ts'
import {
  findDownsampledUntil,
  LONGEST_SNAPSHOT_MS,
  selectSuperseded,
} from '../../../../src/domain/analytics/snapshots.ts'
import { DAY } from '../../../../src/domain/shared/times.ts'

const count = fc.option(fc.nat({ max: 50 }))
const counts = fc.record({ likes: count, comments: count, shares: count })
type Counts = typeof counts extends fc.Arbitrary<infer T> ? T : never

const lastKnown = (snapshots: readonly Counts[]) =>
  ENGAGEMENTS.map((name) => snapshots.findLast((snapshot) => snapshot[name] !== null)?.[name] ?? null)

describe('downsampling', () => {
  it('a day retains its last snapshot and the last known value of each metric', () => {
    fc.assert(
      fc.property(fc.array(counts, { maxLength: 12 }), (ofDay) => {
        const superseded = new Set(selectSuperseded(ofDay))
        const remaining = ofDay.filter((snapshot) => !superseded.has(snapshot))
        expect(remaining.at(-1)).toBe(ofDay.at(-1))
        expect(lastKnown(remaining)).toEqual(lastKnown(ofDay))
        expect(remaining.length).toBeLessThanOrEqual(1 + ENGAGEMENTS.length)
        expect(selectSuperseded(remaining)).toEqual([])
      }),
    )
  })

  it('the snapshots that a read of the last two months includes are not downsampled', () => {
    const zone = fc.constantFrom('Pacific/Kiritimati', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Pago_Pago')
    const instant = fc.date({ min: new Date('2024-01-01'), max: new Date('2030-01-01'), noInvalidDate: true })
    fc.assert(
      fc.property(instant, zone, (now, timezone) => {
        const { start } = toPrecedingWindow(toPeriodWindow('30d', now, timezone))
        const until = findDownsampledUntil(now)
        expect(until.getTime()).toBeLessThanOrEqual(start.getTime() - LONGEST_SNAPSHOT_MS)
        expect(now.getTime() - until.getTime()).toBeLessThan(70 * DAY)
      }),
    )
  })
})
