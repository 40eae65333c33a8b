import type { ScheduleEventData } from '@mantine/schedule'
import type { components } from '@postonce/sdk'
import { POST_STATUSES } from '../../shared/statuses.tsx'
import { toWallTime } from '../../shared/wall-times.ts'

export type CalendarPost = components['schemas']['CalendarPost']
export type UpcomingSlot = components['schemas']['UpcomingSlot']

/** A post has no duration; in the views of a day and a week it takes this much room. */
const SHOWN_MINUTES = 30
/** The rows of a day in the month. */
export const DAY_ROWS = 4

/** Returns the post of an event; undefined for the event "3 more posts" of `fitMonth`. */
export const postOf = (event: ScheduleEventData) => event.payload?.['post'] as CalendarPost | undefined

/** Returns the free slot of an event; undefined for all other events. */
export const freeSlotOf = (event: ScheduleEventData) => event.payload?.['slot'] as UpcomingSlot | undefined

/** Returns the events of free slots, one for all accounts that have it. */
export function toFreeSlots(slots: UpcomingSlot[], timezone: string): ScheduleEventData[] {
  const free = new Map(slots.filter(({ postId }) => postId === null).map((slot) => [slot.at, slot]))
  return [...free.values()].map((slot) => ({
    ...spanOf(Date.parse(slot.at), timezone),
    ...{ id: `slot ${slot.at}`, title: 'Free slot', color: 'gray', payload: { slot } },
  }))
}

/** Returns the events of posts in the order of their times, which no view sorts by itself. A draft without a time has no place. */
export function toEvents(posts: CalendarPost[], timezone: string): ScheduleEventData[] {
  return posts
    .filter(({ status, scheduledAt }) => status !== 'DRAFT' || scheduledAt !== null)
    .map((post) => toEvent(post, timezone))
    .toSorted((one, other) => String(one.start).localeCompare(String(other.start)))
}

function toEvent(post: CalendarPost, timezone: string): ScheduleEventData {
  const at = Date.parse(post.scheduledAt ?? post.createdAt)
  const { label, color } = POST_STATUSES[post.status]
  const title = `${label}: ${post.text || 'Without text'}`
  return { ...spanOf(at, timezone), id: post._id, title, color, payload: { post } }
}

function spanOf(at: number, timezone: string): { start: string; end: string } {
  const start = toWallTime(at, timezone)
  const end = toWallTime(at + SHOWN_MINUTES * 60_000, timezone)
  // An event that ends on the next day would be shown on both.
  return { start, end: end.slice(0, 10) === start.slice(0, 10) ? end : endOf(start.slice(0, 10)) }
}

/**
 * Returns the events for the month: those of its rows, and the number of the others of a day. Each step of a drag lays out every event
 * again, and each one is compared with all others of its week.
 */
export function fitMonth(events: ScheduleEventData[]): ScheduleEventData[] {
  return [...Map.groupBy(events, ({ start }) => String(start).slice(0, 10))].flatMap(([day, ofDay]) => {
    if (ofDay.length <= DAY_ROWS) return ofDay
    const shown = ofDay.slice(0, DAY_ROWS - 1)
    const title = `${ofDay.length - shown.length} more posts`
    return [...shown, { id: day, title, start: endOf(day), end: endOf(day), color: 'gray' }]
  })
}

/** Returns the events of a date and the days around it, as the views of a day and a week need them. */
export function nearDate(events: ScheduleEventData[], date: string): ScheduleEventData[] {
  const [from, to] = [-7, 7].map((days) => shiftDate(date, days)) as [string, string]
  return events.filter(({ start }) => from <= String(start) && String(start) < to)
}

/** Marks today in the months, where the library's own mark is that of the browser's zone. */
export const todayProps = (isToday: boolean) => (isToday ? { 'data-today': true, 'aria-current': 'date' as const } : {})

const endOf = (day: string): string => `${day} 23:59:59`

export function shiftDate(date: string, days: number): string {
  return new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10)
}
