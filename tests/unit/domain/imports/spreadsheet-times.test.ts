import { describe, expect, it } from 'vitest'
import { toIsoTime, type DateOrder } from '../../../../src/domain/imports/spreadsheet-times.ts'

describe('the times of spreadsheets', () => {
  it.each<[string, DateOrder | null, string]>([
    ['2027-05-01T09:30', null, '2027-05-01T09:30'],
    ['2027-05-01T09:30:00+02:00', 'dmy', '2027-05-01T09:30:00+02:00'],
    ['2027-05-01 09:30', null, '2027-05-01T09:30'],
    ['2027-05-01 09:30:15', 'mdy', '2027-05-01T09:30:15'],
    ['2027/5/1 9:30', null, '2027-05-01T09:30'],
    ['2027-05-01 09:30Z', null, '2027-05-01T09:30Z'],
    ['2027-05-01 09:30 +02:00', null, '2027-05-01T09:30+02:00'],
    ['01.05.2027 09:30', 'dmy', '2027-05-01T09:30'],
    ['1. 5. 2027 9:30', 'dmy', '2027-05-01T09:30'],
    ['1-5-27 9.30', 'dmy', '2027-05-01T09:30'],
    ['5/1/2027 9:30', 'mdy', '2027-05-01T09:30'],
    ['5/1/2027, 9:30:00 AM', 'mdy', '2027-05-01T09:30:00'],
    ['5/1/27 12:05\u202fam', 'mdy', '2027-05-01T00:05'],
    ['05/01/2027 12:05 p.m.', 'mdy', '2027-05-01T12:05'],
    ['31/12/2027 11:59PM', 'dmy', '2027-12-31T23:59'],
  ])('the cell %j in the order %s is %s', (cell, order, time) => {
    expect(toIsoTime(cell, order)).toEqual({ time })
  })

  it.each<[string, DateOrder | null, string]>([
    ['01.05.2027 09:30', null, 'does not say which number is the day'],
    ['31/12/2027 09:30', null, 'does not say which number is the day'],
    ['31/12/2027 09:30', 'mdy', 'has no valid date or time in the order month, day, year'],
    ['2027-13-01 09:30', 'dmy', 'has no valid date or time in the order year, month, day'],
    ['29.02.2027 09:30', 'dmy', 'has no valid date or time in the order day, month, year'],
    ['1.5.2027 25:30', 'dmy', 'has no valid date or time'],
    ['2027-05-01', null, 'has a date without a time'],
    ['1.5.2027', null, 'has a date without a time'],
    ['1.5.2027 13:30 PM', 'dmy', 'must be a date with a time'],
    ['1.5/2027 9:30', 'dmy', 'must be a date with a time'],
    ['1.5.202 9:30', 'dmy', 'must be a date with a time'],
    ['1.5.7 9:30', 'dmy', 'must be a date with a time'],
    ['1.5.20277 9:30', 'dmy', 'must be a date with a time'],
    ['202.5.1 9:30', 'dmy', 'must be a date with a time'],
    ['tomorrow', 'dmy', 'must be a date with a time'],
    ['46508.39', 'dmy', 'must be a date with a time'],
    [`2027-05-01 ${' '.repeat(100)}09:30`, null, 'must be a date with a time'],
  ])('the cell %j in the order %s is refused', (cell, order, problem) => {
    expect(toIsoTime(cell, order)).toEqual({ problem: expect.stringContaining(problem) })
  })
})
