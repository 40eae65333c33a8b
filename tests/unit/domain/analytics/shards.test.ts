import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countShards, divideOwners, isInRange } from '../../../../src/domain/analytics/shards.ts'

describe('divideOwners', () => {
  const owners = fc.array(fc.stringMatching(/^[a-f]{1,3}$/), { maxLength: 60 })

  it('every owner is in exactly one range, whether sampled or not', () => {
    fc.assert(
      fc.property(owners, owners, fc.integer({ min: 1, max: 20 }), (sample, others, count) => {
        const ranges = divideOwners(sample, count)
        expect(ranges.length).toBeLessThanOrEqual(count)
        for (const owner of [...sample, ...others]) {
          expect(ranges.filter((range) => isInRange(owner, range))).toHaveLength(1)
        }
      }),
    )
  })

  it('ranges have about the same number of sampled posts', () => {
    const sample = Array.from({ length: 160 }, (_, index) => String(index).padStart(3, '0'))
    const sizes = divideOwners(sample, 8).map((range) => sample.filter((owner) => isInRange(owner, range)).length)
    expect(sizes).toEqual([20, 20, 20, 20, 20, 20, 20, 20])
  })

  it('an owner of most posts is in one range', () => {
    expect(divideOwners(['a', 'm', 'm', 'm', 'm', 'm', 'm', 'z'], 4)).toEqual([
      { afterUserId: null, untilUserId: 'm' },
      { afterUserId: 'm', untilUserId: null },
    ])
  })

  it('one range has all owners when there is no sample', () => {
    expect(divideOwners([], 8)).toEqual([{ afterUserId: null, untilUserId: null }])
  })
})

it('countShards grows with the posts up to the setting', () => {
  expect([0, 1, 1_000, 1_001, 7_500, 1_000_000].map((posts) => countShards(posts, 8))).toEqual([1, 1, 1, 2, 8, 8])
})
