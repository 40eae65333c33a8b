import { expect, it } from 'vitest'
import { findNearestName } from '../../../../src/domain/shared/nearest-name.ts'

const NAMES = ['text', 'platforms', 'scheduledAt', 'timezone', 'text_bluesky']

it.each([
  ['scheduleAt', 'scheduledAt'],
  ['scheduled at', 'scheduledAt'],
  ['SCHEDULED_AT', 'scheduledAt'],
  ['shceduledAt', 'scheduledAt'],
  ['Plattformen', 'platforms'],
  ['txt', 'text'],
  ['txet', 'text'],
  ['text-blusky', 'text_bluesky'],
  ['notes', null],
  ['a', null],
  ['', null],
  ['scheduledAt'.repeat(10), null],
])('the name %j most likely means %j', (name, nearest) => {
  expect(findNearestName(name, NAMES)).toBe(nearest)
})
