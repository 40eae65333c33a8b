import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countDaysBetween, listDays, toPeriodWindow } from '../../../../src/domain/analytics/calendar.ts'
import {
  findComparedSince,
  MAX_PERIOD_DAYS,
  toWindow,
  type RequestedPeriod,
} from '../../../../src/domain/analytics/period.ts'
import { parseRangeBound } from '../../../../src/domain/shared/timezones.ts'
import { DAY } from '../../../../src/domain/shared/times.ts'

const now = new Date('2026-04-06T15:20:00Z')
const timezone = 'Europe/Berlin'
const context = { now, timezone, retentionDays: 500 }
const first = (date: string) => parseRangeBound(date, timezone, 'start')!
const last = (date: string) => parseRangeBound(date, timezone, 'end')!

describe('the window of a requested period', () => {
  it('without a request, the window has 30 days', () => {
    expect(toWindow({}, context)).toEqual(toPeriodWindow('30d', now, timezone))
    expect(toWindow({ period: '7d' }, context)).toEqual(toPeriodWindow('7d', now, timezone))
  })

  it('a window has its first and last instant, and ends now at the latest', () => {
    const [from, to] = [first('2026-03-01'), last('2026-03-31')]
    expect(toWindow({ from, to }, context)).toEqual({ start: from, end: to })
    expect(toWindow({ from, to: last('2026-04-30') }, context)).toEqual({ start: from, end: now })
    expect(toWindow({ from }, context)).toEqual({ start: from, end: now })
    expect(toWindow({ from: now, to: now }, context)).toEqual({ start: now, end: now })
  })

  it.each<[string, RequestedPeriod, string, string]>([
    ['to without from', { to: now }, 'from', 'REQUIRED'],
    ['a named period with from', { period: '7d', from: now }, 'period', 'NOT_ALLOWED'],
    ['a future from', { from: new Date(+now + 1) }, 'from', 'NOT_ALLOWED'],
    ['to before from', { from: now, to: new Date(+now - 1) }, 'to', 'NOT_ALLOWED'],
    ['401 days', { from: first('2025-03-02') }, 'to', 'TOO_LONG'],
    ['days whose figures have expired', { from: first('2024-11-22'), to: last('2024-11-30') }, 'from', 'NOT_ALLOWED'],
  ])('%s is refused', (_, request, path, code) => {
    expect(() => toWindow(request, context)).toThrow(
      expect.objectContaining({ code: 'VALIDATION_FAILED', errors: [expect.objectContaining({ path, code })] }),
    )
  })

  it('400 days until today are the longest period, and the oldest whole day is the first one', () => {
    expect(listDays(toWindow({ from: first('2025-03-03') }, context), timezone)).toHaveLength(MAX_PERIOD_DAYS)
    const oldest = { from: first('2024-11-23'), to: last('2024-11-23') }
    expect(toWindow(oldest, context)).toEqual({ start: oldest.from, end: oldest.to })
  })

  it('a window of whole days has exactly the days from the first to the last, in every timezone', () => {
    const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'Pacific/Apia', 'America/Santiago', 'Africa/Cairo')
    const days = fc.integer({ min: 0, max: MAX_PERIOD_DAYS - 1 })
    fc.assert(
      fc.property(zones, days, days, (zone, ago, length) => {
        const today = listDays({ start: now, end: now }, zone)[0]!.date
        const toDay = (daysAgo: number) => new Date(+new Date(today) - daysAgo * DAY).toISOString().slice(0, 10)
        const dates = Array.from({ length: Math.min(ago, length) + 1 }, (__, index) => toDay(ago - index))
        const [from, to] = [parseRangeBound(dates[0]!, zone, 'start')!, parseRangeBound(dates.at(-1)!, zone, 'end')!]
        const window = toWindow({ from, to }, { now, timezone: zone, retentionDays: MAX_PERIOD_DAYS })
        expect(listDays(window, zone).map(({ date }) => date)).toEqual(dates)
        expect(countDaysBetween(window.start, window.end, zone)).toBe(dates.length - 1)
      }),
      { numRuns: 40 },
    )
  })

  it('a window is compared with the one before it, unless snapshots of that one have expired', () => {
    const window = { start: first('2026-03-11'), end: last('2026-03-20') }
    expect(findComparedSince(window, first('2026-03-01'))).toEqual(first('2026-03-01'))
    expect(findComparedSince(window, new Date(+first('2026-03-01') + 1))).toEqual(window.start)
  })
})
