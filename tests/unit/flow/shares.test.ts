import { describe, expect, it } from 'vitest'
import { createSlotCounter, mayTakeSlot } from '../../../src/flow/shares.ts'

/** Takes places for the users in turn; returns who got one, with `shared` places and no other limit. */
function takeAll(shared: number, userIds: string[]) {
  const places = createSlotCounter()
  return userIds.filter((userId) => {
    if (!mayTakeSlot(shared, places.count(userId))) return false
    places.take(userId)
    return true
  })
}

describe('the shares of slots', () => {
  it('a single user takes all shared slots, and not the reserve beyond them', () => {
    expect(takeAll(3, ['ann', 'ann', 'ann', 'ann'])).toEqual(['ann', 'ann', 'ann'])
  })

  it('other users take slots from the reserve while one has taken all shared slots', () => {
    expect(takeAll(3, ['ann', 'ann', 'ann', 'bob', 'ann', 'cem'])).toEqual(['ann', 'ann', 'ann', 'bob', 'cem'])
  })

  it('a user takes no more than an equal share from the reserve', () => {
    expect(takeAll(4, ['ann', 'ann', 'ann', 'ann', 'bob', 'bob', 'bob'])).toEqual([
      ...Array<string>(4).fill('ann'),
      'bob',
      'bob',
    ])
  })

  it('a freed slot is taken again, also by the user with the most', () => {
    const places = createSlotCounter()
    const frees = ['ann', 'ann'].map((userId) => places.take(userId))
    expect(mayTakeSlot(2, places.count('ann'))).toBe(false)
    frees[0]!()
    expect(places.count('ann')).toEqual({ taken: 1, users: 1, takenByUser: 1 })
    expect(mayTakeSlot(2, places.count('ann'))).toBe(true)
    frees[1]!()
    expect(places.count('ann')).toEqual({ taken: 0, users: 0, takenByUser: 0 })
  })
})
