import { expect, it } from 'vitest'
import { findNearestName } from '../../../../src/domain/shared/nearest-name.ts'

const KNOWN = ['scheduledAt', 'selectedPlatforms', 'status', 'text']

it.each([
  ['scheduleAt', 'scheduledAt'],
  ['ScheduledAt', 'scheduledAt'],
  ['selectedPlatform', 'selectedPlatforms'],
  ['txt', 'text'],
  ['visibility', null],
  ['', null],
  ['t'.repeat(100_000), null],
])('the nearest name of "%.20s" is %s', (name, nearest) => {
  expect(findNearestName(name, KNOWN)).toBe(nearest)
})
