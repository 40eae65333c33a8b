import { describe, expect, it } from 'vitest'
import {
  findPlanProblems,
  listSlots,
  MAX_ALL_SLOT_TIMES,
  normalizeTimes,
  WEEKDAYS,
  type SlotPlan,
} from '../../../../src/domain/posts/slots.ts'

const at = (plan: Pick<SlotPlan, 'timezone' | 'times'>, after: string, count: number) =>
  [...listSlots(plan, new Date(after))].slice(0, count).map((instant) => instant.toISOString())

describe('the slots of a plan', () => {
  it('slots follow each other by day and time, from the one after an instant on', () => {
    const times = [
      { day: 'thursday', time: '18:00' },
      { day: 'monday', time: '09:30' },
      { day: 'thursday', time: '08:00' },
    ] as const
    // 2027-05-06 is a Thursday.
    expect(at({ timezone: 'UTC', times: [...times] }, '2027-05-06T08:00:00Z', 4)).toEqual([
      '2027-05-06T18:00:00.000Z',
      '2027-05-10T09:30:00.000Z',
      '2027-05-13T08:00:00.000Z',
      '2027-05-13T18:00:00.000Z',
    ])
  })

  it('the day is that of the zone', () => {
    const plan = { timezone: 'Pacific/Auckland', times: [{ day: 'monday' as const, time: '08:00' }] }
    expect(at(plan, '2027-05-08T12:00:00Z', 1)).toEqual(['2027-05-09T20:00:00.000Z'])
  })

  it('a missing hour moves forward, and is one slot with a time that it moves to; a repeated hour is the first one', () => {
    const sundays = ['02:30', '03:30'].map((time) => ({ day: 'sunday' as const, time }))
    const plan = { timezone: 'Europe/Berlin', times: sundays }
    expect(at(plan, '2027-03-27T00:00:00Z', 3)).toEqual([
      '2027-03-28T01:30:00.000Z',
      '2027-04-04T00:30:00.000Z',
      '2027-04-04T01:30:00.000Z',
    ])
    expect(at(plan, '2027-10-30T12:00:00Z', 2)).toEqual(['2027-10-31T00:30:00.000Z', '2027-10-31T02:30:00.000Z'])
  })

  it('a plan without times has no slots, and the search ends after a year', () => {
    expect(at({ timezone: 'UTC', times: [] }, '2027-01-01T00:00:00Z', 1)).toEqual([])
    const weekly = { timezone: 'UTC', times: [{ day: 'monday' as const, time: '00:00' }] }
    expect(at(weekly, '2027-01-01T00:00:00Z', 100)).toHaveLength(52)
  })
})

it('times are stored once and in order', () => {
  const times = [
    { day: 'sunday', time: '09:00' },
    { day: 'monday', time: '10:00' },
    { day: 'monday', time: '09:00' },
    { day: 'sunday', time: '09:00' },
  ] as const
  expect(normalizeTimes(times)).toEqual([times[2], times[1], times[0]])
})

it('an unknown zone, a second plan of an account, and too many times are problems', () => {
  const times = WEEKDAYS.flatMap((day) =>
    Array.from({ length: 24 }, (_, hour) => ({ day, time: `${String(hour).padStart(2, '0')}:00` })),
  )
  const plan = (id: string, timezone = 'UTC'): SlotPlan => ({ kind: 'account', id, timezone, times })
  expect(findPlanProblems([plan('a'), plan('b')])).toEqual([])
  expect(findPlanProblems([plan('a', 'Mars/Base'), plan('a')])).toMatchObject([
    { path: 'slots.0.timezone', code: 'TIMEZONE_UNKNOWN' },
    { path: 'slots.1.accountId', code: 'DUPLICATE' },
  ])
  const many = Array.from({ length: Math.ceil(MAX_ALL_SLOT_TIMES / times.length) }, (_, index) => plan(String(index)))
  expect(findPlanProblems(many)).toMatchObject([{ path: 'slots', code: 'TOO_LONG' }])
})
