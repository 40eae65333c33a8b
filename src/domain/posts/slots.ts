import { Temporal } from '@js-temporal/polyfill'
import type { Problem } from '../shared/service-error.ts'
import { findTimezoneProblem, parseInstant } from '../shared/timezones.ts'

/** The value of `scheduledAt` that requests the next free slot. */
export const NEXT_SLOT = 'next-slot'

export const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
export type Weekday = (typeof WEEKDAYS)[number]

/** Two an hour, every day. */
export const MAX_SLOT_TIMES = 336
/** As many as a user can have groups and accounts, within reason. */
export const MAX_SLOT_PLANS = 200
/** The maximum for all plans of a user. Computing an occurrence takes 30 µs. */
export const MAX_ALL_SLOT_TIMES = 1_000
/** How far ahead, and among how many slots, a free one is searched. */
const HORIZON_DAYS = 366
export const MAX_SEARCHED_SLOTS = 1_000
/** Six weeks, as months of a calendar show them, and a day in which the clocks change. */
export const MAX_UPCOMING_DAYS = 43

/** A weekly time for posts. */
export interface SlotTime {
  day: Weekday
  /** Wall time in the zone of the plan, `HH:MM`. */
  time: string
}

/** The weekly times of an account or a group. */
export interface SlotPlan {
  kind: 'account' | 'group'
  /** The id of the account or group. */
  id: string
  timezone: string
  times: SlotTime[]
}

/** All slots of a user, as stored. */
export interface UserSlots {
  /** The id of the user. */
  _id: string
  plans: SlotPlan[]
  /** Incremented by every change, also by the end of an account or a group. */
  revision: number
}

/** The slot that a post takes. */
export interface TakenSlot {
  /** The account or group that has the slot. */
  slotOf: string
  at: Date
}

/**
 * Returns the slots after an instant in their order, within the horizon. A wall time that daylight saving skips moves forward and a repeated
 * one is the first, as with `scheduledAt`; two times that are the same instant then are one slot.
 */
export function* listSlots({ timezone, times }: Pick<SlotPlan, 'timezone' | 'times'>, after: Date): Generator<Date> {
  const sorted = times.toSorted((a, b) => (a.time < b.time ? -1 : 1))
  const first = Temporal.Instant.fromEpochMilliseconds(after.getTime()).toZonedDateTimeISO(timezone).toPlainDate()
  let last = after.getTime()
  for (let days = 0; days <= HORIZON_DAYS; days++) {
    const date = first.add({ days })
    const day = WEEKDAYS[date.dayOfWeek - 1]
    for (const { time } of sorted.filter((one) => one.day === day)) {
      const instant = parseInstant(`${date.toString()}T${time}`, timezone)
      if (!instant || instant.getTime() <= last) continue
      last = instant.getTime()
      yield instant
    }
  }
}

/** Returns why these slots cannot be stored, by their paths in the request. */
export function findPlanProblems(plans: readonly SlotPlan[]): Problem[] {
  const ids = plans.map(({ id }) => id)
  const problems = plans.flatMap(({ kind, id, timezone }, index): Problem[] => {
    const path = `slots.${index}`
    const zone = findTimezoneProblem(timezone)
    const message = `The slots of this ${kind} are listed already. Merge the two lists.`
    return [
      ...(zone ? [{ ...zone, path: `${path}.timezone` }] : []),
      ...(ids.indexOf(id) < index ? [{ path: `${path}.${kind}Id`, code: 'DUPLICATE', message }] : []),
    ]
  })
  const count = plans.reduce((sum, { times }) => sum + times.length, 0)
  const message = `All slots together have more than ${MAX_ALL_SLOT_TIMES} times. Remove some.`
  return count <= MAX_ALL_SLOT_TIMES ? problems : [...problems, { path: 'slots', code: 'TOO_LONG', message }]
}

export function noSlots(): Problem {
  const message = 'None of these accounts and groups has slots. Set them, or name a time.'
  return { path: 'scheduledAt', code: 'NO_SLOTS', message }
}

/** Returns the times each once, from Monday on. */
export function normalizeTimes(times: readonly SlotTime[]): SlotTime[] {
  const toOrder = ({ day, time }: SlotTime) => `${WEEKDAYS.indexOf(day)} ${time}`
  const byOrder = new Map(times.map(({ day, time }) => [toOrder({ day, time }), { day, time }]))
  return [...byOrder.keys()].toSorted().map((order) => byOrder.get(order)!)
}
