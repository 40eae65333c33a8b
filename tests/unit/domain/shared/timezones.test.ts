import { describe, expect, it } from 'vitest'
import { IMPOSSIBLE_DATE_TIMES } from '../../../support/date-times.ts'
import { isInstant, isTimezone, parseInstant, parseRangeBound } from '../../../../src/domain/shared/timezones.ts'

describe('isTimezone', () => {
  it('isTimezone accepts every name that the runtime lists', () => {
    expect(Intl.supportedValuesOf('timeZone').filter((name) => !isTimezone(name))).toEqual([])
  })

  it.each(['UTC', 'Asia/Calcutta', 'US/Pacific', 'Etc/GMT+5', 'EST5EDT', 'America/Argentina/ComodRivadavia'])(
    'isTimezone accepts the link or fixed name %s',
    (name) => expect(isTimezone(name)).toBe(true),
  )

  it.each([
    '+02:00',
    '-0500',
    'UTC+2',
    'GMT+5',
    'Z',
    '',
    'Mars/Olympus',
    'europe/berlin',
    'SystemV/AST4',
    'JST',
    '../UTC',
  ])('isTimezone rejects %j', (name) => expect(isTimezone(name)).toBe(false))
})

describe('isInstant', () => {
  it.each(['2026-07-01T10:00:00Z', '2026-07-01T10:00:00.5+02:00', '0000-01-01T00:00:00Z', '9999-12-31T23:59:59Z'])(
    'isInstant accepts %s',
    (value) => expect(isInstant(value)).toBe(true),
  )

  it.each([...IMPOSSIBLE_DATE_TIMES, '2026-07-01T10:00:00', '2026-07-01T10:00[Europe/Berlin]'])(
    'isInstant rejects %j',
    (value) => expect(isInstant(value)).toBe(false),
  )
})

describe('parseInstant', () => {
  it.each(IMPOSSIBLE_DATE_TIMES)('parseInstant returns null for %j', (value) =>
    expect(parseInstant(value, 'UTC')).toBeNull(),
  )

  const instant = (value: string, timezone = 'UTC') => parseInstant(value, timezone)?.toISOString() ?? null

  it.each([
    ['2026-07-01T10:00:00Z', '2026-07-01T10:00:00.000Z'],
    ['2026-07-01T10:00:00.250+02:00', '2026-07-01T08:00:00.250Z'],
    ['2026-07-01T10:00-0530', '2026-07-01T15:30:00.000Z'],
    ['2026-07-01T10:00[America/New_York]', '2026-07-01T14:00:00.000Z'],
    ['2026-07-01T10:00-04:00[America/New_York]', '2026-07-01T14:00:00.000Z'],
  ])('parseInstant ignores the timezone for %s', (value, expected) => {
    expect(instant(value, 'Asia/Tokyo')).toBe(expected)
  })

  it.each([
    ['0000-01-01T00:00:00.000Z', true],
    ['9999-12-31T23:59:59.999Z', true],
    ['0000-01-01T00:00:00.000+00:01', false],
    ['9999-12-31T23:59:59.999-00:01', false],
  ])('parseInstant accepts %s, in the years 0000 to 9999 in UTC: %s', (value, isAccepted) => {
    expect(parseInstant(value, 'UTC') !== null).toBe(isAccepted)
  })

  it('a date-time without an offset is wall time in the timezone', () => {
    expect(instant('2026-07-01T10:00', 'Europe/Berlin')).toBe('2026-07-01T08:00:00.000Z')
    expect(instant('2026-12-01T10:00:00', 'Europe/Berlin')).toBe('2026-12-01T09:00:00.000Z')
    expect(instant('2026-07-01T10:00', 'Asia/Kathmandu')).toBe('2026-07-01T04:15:00.000Z')
  })

  it('an hour that daylight saving skips moves forward', () => {
    expect(instant('2026-03-29T02:30', 'Europe/Berlin')).toBe('2026-03-29T01:30:00.000Z')
    expect(instant('2026-10-04T02:15', 'Australia/Lord_Howe')).toBe('2026-10-03T15:45:00.000Z')
  })

  it('an ambiguous hour is the earlier one', () => {
    expect(instant('2026-10-25T02:30', 'Europe/Berlin')).toBe('2026-10-25T00:30:00.000Z')
    expect(instant('2026-11-01T01:30', 'America/New_York')).toBe('2026-11-01T05:30:00.000Z')
  })

  it.each([
    '',
    'tomorrow',
    '2026-07-01',
    '2026-07-01 10:00',
    '20260701T100000Z',
    '2026-02-30T10:00',
    '2026-07-01T24:00',
    '2026-07-01T10:61Z',
    '2026-07-01T10:00+25:00',
    '2026-07-01T10:00[+02:00]',
    '2026-07-01T10:00[Mars/Olympus]',
    '2026-07-01T10:00+09:00[America/New_York]',
    '2026-07-01T10:00[u-ca=hebrew]',
    '-000001-07-01T10:00Z',
  ])('parseInstant rejects %j', (value) => expect(instant(value)).toBeNull())
})

describe('parseRangeBound', () => {
  it.each([
    ['2026-03-29', 'start', '2026-03-28T23:00:00.000Z'],
    ['2026-03-29', 'end', '2026-03-29T21:59:59.999Z'],
    ['2026-03-29T12:00', 'start', '2026-03-29T10:00:00.000Z'],
    ['2026-03-29T12:00', 'end', '2026-03-29T10:00:00.000Z'],
    ['2026-03-29T12:00:00Z', 'end', '2026-03-29T12:00:00.000Z'],
    ['2026-02-30', 'start', undefined],
    ['tomorrow', 'end', undefined],
  ] as const)('%s as %s of a range in Berlin is %s', (value, edge, expected) => {
    expect(parseRangeBound(value, 'Europe/Berlin', edge)?.toISOString()).toBe(expected)
  })
})
