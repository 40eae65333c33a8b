import { describe, expect, it } from 'vitest'
import {
  canBeDeleted,
  DEFAULT_AGES,
  findDueLane,
  findNextCollection,
  hasEnded,
  parseAgeClasses,
} from '../../../../src/domain/analytics/collection.ts'
import { DAY, HOUR, MINUTE } from '../../../../src/domain/shared/times.ts'
import { T0 } from '../../../support/posts.ts'

const classes = parseAgeClasses('1:15,7:60,30:360')
it.each(['', '1', '0:15', '1:0', '2:15,1:60', '1:15,1:60', 'a:b'])('the age classes %j are rejected', (line) => {
  expect(() => parseAgeClasses(line)).toThrow('days:minutes pair')
})

it('age classes follow each other', () => {
  expect(parseAgeClasses('1:15')).toEqual([{ untilMs: DAY, everyMs: 15 * MINUTE }])
  expect(parseAgeClasses('0.25:60,1:180')).toEqual([
    { untilMs: 6 * HOUR, everyMs: HOUR },
    { untilMs: DAY, everyMs: 3 * HOUR },
  ])
})

describe('the next collection', () => {
  const waitMs = (ageMs: number, silentMs?: number) => {
    const now = new Date(T0.getTime() + ageMs)
    const next = findNextCollection(
      classes,
      T0,
      now,
      silentMs === undefined ? null : new Date(now.getTime() - silentMs),
    )
    return next && next.getTime() - now.getTime()
  }

  it.each([
    [0, 15 * MINUTE],
    [DAY - 1, 15 * MINUTE],
    [DAY, HOUR],
    [7 * DAY - 1, HOUR],
    [7 * DAY, 6 * HOUR],
    [30 * DAY - 6 * HOUR - 1, 6 * HOUR],
    [30 * DAY - 6 * HOUR, null],
    [100 * DAY, null],
  ])('a post that is %d ms old waits for the interval of its age', (ageMs, expected) => {
    expect(waitMs(ageMs)).toBe(expected)
  })

  it('a silent post waits as long as it has been silent, up to four intervals', () => {
    const silences = [0, 10 * MINUTE, 20 * MINUTE, 45 * MINUTE, HOUR, 20 * HOUR]
    expect(silences.map((ms) => waitMs(20 * HOUR, ms)! / MINUTE)).toEqual([15, 15, 20, 45, 60, 60])
  })

  /** Counts the collections in the life of a post, with the default ages. */
  const countCollections = (lastNewsMs: number) => {
    const ages = parseAgeClasses(DEFAULT_AGES)
    let collections = 0
    let at: Date | null = new Date(T0.getTime() + 10 * MINUTE)
    for (; at; collections += 1) {
      const changedAt = Math.min(at.getTime(), T0.getTime() + lastNewsMs)
      at = findNextCollection(ages, T0, at, new Date(changedAt))
    }
    return collections
  }

  it('a post whose counts always change is collected 30 to 60 times, a silent one less often', () => {
    expect(countCollections(Infinity)).toBeGreaterThanOrEqual(30)
    expect(countCollections(Infinity)).toBeLessThanOrEqual(60)
    expect(countCollections(2 * DAY)).toBeLessThan(40)
    expect(countCollections(0)).toBeLessThan(25)
    expect(countCollections(0)).toBeGreaterThan(10)
  })
})

it('a missing post counts as deleted once its grace time has passed', () => {
  expect(canBeDeleted(T0, 10, new Date(T0.getTime() + 9))).toBe(false)
  expect(canBeDeleted(T0, 10, new Date(T0.getTime() + 10))).toBe(true)
})

describe('due metrics', () => {
  const entry = {
    platform: 'bluesky',
    status: 'completed',
    platformPostId: '1',
    completedAt: new Date(T0.getTime() - 1),
    metricsDueAt: T0,
  } as const

  it('a due entry is in the lane of its server', () => {
    expect(findDueLane(entry, T0)).toEqual({ platform: 'bluesky', server: null })
    expect(findDueLane({ ...entry, platform: 'mastodon', server: 'https://one.test' }, T0)).toEqual({
      platform: 'mastodon',
      server: 'https://one.test',
    })
  })

  it.each([
    ['an entry that is due later', { metricsDueAt: new Date(T0.getTime() + 1) }],
    ['an entry that is not collected any more', { metricsDueAt: null }],
    ['an entry without a collection time', { metricsDueAt: undefined }],
    ['a failed entry', { status: 'failed' as const }],
    ['an entry without an id', { platformPostId: null }],
    ['an unpublished entry', { completedAt: null }],
  ])('%s is not due', (_name, fields) => {
    const { metricsDueAt, ...rest } = { ...entry, ...fields }
    const changed = { ...rest, ...(metricsDueAt !== undefined && { metricsDueAt }) }
    expect(findDueLane(changed, T0)).toBeNull()
  })
})

it('a story has ended some minutes before its platform removes it, other posts never', () => {
  const endsAt = new Date(T0.getTime() + DAY)
  expect(hasEnded({ endsAt }, new Date(endsAt.getTime() - 11 * MINUTE))).toBe(false)
  expect(hasEnded({ endsAt }, new Date(endsAt.getTime() - 10 * MINUTE))).toBe(true)
  expect(hasEnded({}, endsAt)).toBe(false)
})
