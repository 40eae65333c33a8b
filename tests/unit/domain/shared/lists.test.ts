import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bisect } from '../../../../src/domain/shared/lists.ts'

it('bisection finds the same item as a search from the beginning', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.integer(), (numbers, least) => {
      const sorted = numbers.toSorted((one, other) => one - other)
      const isEnough = (number: number) => number >= least
      const first = sorted.findIndex(isEnough)
      expect(bisect(sorted, isEnough)).toBe(first === -1 ? sorted.length : first)
    }),
  )
})
