import { expect, it } from 'vitest'
import { findMissed } from '../../../../src/domain/posts/if-late.ts'

const dueAt = new Date('2027-05-03T09:30:00Z')
const after = (minutes: number) => new Date(dueAt.getTime() + minutes * 60_000)

it.each([
  ['skip', 'SKIPPED', 'The post was more than 60 minutes late and was skipped, as you chose'],
  ['ask', 'TOO_LATE', 'The post was more than 60 minutes late'],
] as const)('a post that is later than its limit is not sent: %s', (action, code, message) => {
  const ifLate = { action, afterMinutes: 60 }
  expect(findMissed({ dueAt, ifLate }, after(60))).toBeNull()
  expect(findMissed({ dueAt, ifLate }, after(60.1))).toEqual({ code, message })
})

it('a post without a limit, and one that is not due yet, may be sent', () => {
  expect(findMissed({ dueAt }, after(600))).toBeNull()
  expect(findMissed({ dueAt, ifLate: null }, after(600))).toBeNull()
  expect(findMissed({ dueAt: null, ifLate: { action: 'skip', afterMinutes: 1 } }, after(600))).toBeNull()
  expect(findMissed({ dueAt, ifLate: { action: 'skip', afterMinutes: 1 } }, after(-5))).toBeNull()
})
