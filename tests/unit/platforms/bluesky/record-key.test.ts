import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deriveRecordKey, toTid } from '../../../../src/platforms/bluesky/record-key.ts'

const TID = /^[234567abcdefghij][234567abcdefghijklmnopqrstuvwxyz]{12}$/
const instants = fc.date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true })

describe('toTid', () => {
  it.each([
    [1_700_000_000_000_000n, 0n, '3ke6kg3wk2222'],
    [1_700_000_000_123_000n, 17n, '3ke6kg42c5s2l'],
    [0n, 0n, '2222222222222'],
  ])('the TID of %i microseconds and clock %i is %s', (microseconds, clock, expected) => {
    expect(toTid(microseconds, clock)).toBe(expected)
  })

  it('TIDs sort by time', () => {
    const moments = fc.bigInt({ min: 0n, max: 2n ** 53n - 1n })
    const clocks = fc.bigInt({ min: 0n, max: 1_023n })
    fc.assert(
      fc.property(moments, moments, clocks, clocks, (a, b, clockA, clockB) => {
        fc.pre(a < b)
        expect(toTid(a, clockA) < toTid(b, clockB)).toBe(true)
      }),
    )
  })
})

describe('deriveRecordKey', () => {
  it('a record key is a TID within two seconds of the due time', () => {
    fc.assert(
      fc.property(fc.uuid(), instants, (key, dueAt) => {
        const found = deriveRecordKey(key, dueAt)
        expect(found).toMatch(TID)
        const around = [-2_000, 2_000].map((ms) => toTid(BigInt(Math.max(0, dueAt.getTime() + ms)) * 1_000n, 0n))
        expect(found >= around[0]! && found <= around[1]!).toBe(true)
      }),
    )
  })

  it('a record key is the same for every repeat of a delivery', () => {
    fc.assert(
      fc.property(fc.uuid(), instants, (key, dueAt) => {
        expect(deriveRecordKey(key, new Date(dueAt))).toBe(deriveRecordKey(key, dueAt))
      }),
    )
  })

  it('record keys differ between deliveries of the same instant', () => {
    const dueAt = new Date('2026-11-21T12:00:00.000Z')
    const keys = new Set(Array.from({ length: 10_000 }, (_, index) => deriveRecordKey(`delivery ${index}`, dueAt)))
    expect(keys.size).toBe(10_000)
  })
})
