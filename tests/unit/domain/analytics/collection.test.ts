import { expect, it } from 'vitest'
import { parseAgeClasses, resolveSlot } from '../../../../src/domain/analytics/collection.ts'

const classes = parseAgeClasses('1:15,7:60,30:360')
const completedAt = new Date('2026-03-01T10:58:00Z')
const slotAt = (now: string, metricsSlot?: string) =>
  resolveSlot(
    classes,
    { completedAt, ...(metricsSlot && { metricsSlot: new Date(metricsSlot) }) },
    new Date(now),
  ).toISOString()

it('a manual refresh belongs to the slot of the post’s age', () => {
  expect(slotAt('2026-03-01T11:59:59Z')).toBe('2026-03-01T11:45:00.000Z')
  expect(slotAt('2026-03-03T11:59:59Z', '2026-03-03T10:00:00Z')).toBe('2026-03-03T11:00:00.000Z')
  expect(slotAt('2026-03-20T11:59:59Z')).toBe('2026-03-20T06:00:00.000Z')
})

it('a later snapshot never gets an earlier slot when slots grow longer', () => {
  expect(slotAt('2026-03-02T10:59:00Z', '2026-03-02T10:45:00Z')).toBe('2026-03-02T10:45:00.000Z')
  expect(slotAt('2026-03-08T11:30:00Z', '2026-03-08T10:00:00Z')).toBe('2026-03-08T10:00:00.000Z')
})
