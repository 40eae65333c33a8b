import { describe, expect, it } from 'vitest'
import {
  canBeDeleted,
  findAgeClass,
  isDue,
  listDueBounds,
  parseAgeClasses,
  resolveSlot,
} from '../../../../src/domain/analytics/collection.ts'
import { T0 } from '../../../support/posts.ts'

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

it.each(['', '1', '0:15', '1:0', '2:15,1:60', '1:15,1:60', 'a:b'])('the age classes %j are rejected', (line) => {
  expect(() => parseAgeClasses(line)).toThrow('days:minutes pair')
})

it('age classes follow each other', () => {
  expect(parseAgeClasses('1:15')).toEqual([{ fromMs: 0, untilMs: 86_400_000, everyMs: 900_000 }])
  expect(classes[1]).toEqual({ fromMs: 86_400_000, untilMs: 7 * 86_400_000, everyMs: 3_600_000 })
})

it('a post belongs to the class of its age, and to the oldest one when it is older', () => {
  const at = (days: number) => findAgeClass(classes, T0, new Date(T0.getTime() + days * 86_400_000)).everyMs / 60_000
  expect([0, 0.99, 1, 6.9, 7, 100].map(at)).toEqual([15, 15, 60, 60, 360, 360])
})

it('a missing post counts as deleted once its grace time has passed', () => {
  expect(canBeDeleted(T0, 10, new Date(T0.getTime() + 9))).toBe(false)
  expect(canBeDeleted(T0, 10, new Date(T0.getTime() + 10))).toBe(true)
})

describe('due metrics', () => {
  const [bounds] = listDueBounds(classes, ['bluesky'], T0)
  const entry = {
    platform: 'bluesky',
    status: 'completed',
    platformPostId: '1',
    completedAt: new Date(T0.getTime() - 1),
  } as const

  it('the bounds of a class are its ages before now', () => {
    expect(bounds).toEqual({
      platforms: ['bluesky'],
      completedAfter: new Date(T0.getTime() - 86_400_000),
      completedUntil: T0,
      slot: T0,
    })
  })

  it.each([
    ['a published entry', {}, true],
    ['an entry published now', { completedAt: T0 }, true],
    ['an entry with an older slot', { metricsSlot: new Date(T0.getTime() - 1) }, true],
    ['a collected entry', { metricsSlot: T0 }, false],
    ['an entry of another platform', { platform: 'tumblr' as const }, false],
    ['a failed entry', { status: 'failed' as const }, false],
    ['an entry without an id', { platformPostId: null }, false],
    ['an unpublished entry', { completedAt: null }, false],
    ['an entry that is too old', { completedAt: new Date(T0.getTime() - 86_400_000) }, false],
    ['an entry that is too new', { completedAt: new Date(T0.getTime() + 1) }, false],
  ])('%s is due or not as expected', (_name, fields, expected) => {
    expect(isDue({ ...entry, ...fields }, bounds!)).toBe(expected)
  })
})
