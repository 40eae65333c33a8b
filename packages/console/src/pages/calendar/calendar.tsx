import { Alert, useMatches } from '@mantine/core'
import { Schedule, type ScheduleEventData, type ScheduleViewLevel } from '@mantine/schedule'
import '@mantine/schedule/styles.layer.css'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import dayjs from 'dayjs'
import { useEffect, useMemo } from 'react'
import type { components } from '@postonce/sdk'
import { client } from '../../session/session.ts'
import { showError } from '../../shared/errors.ts'
import { Page } from '../../shared/page.tsx'
import { ALLOWED, usePostActions } from '../../shared/post-actions.tsx'
import { PostFilterFields, usePostQuery, type PostFilters } from '../../shared/post-filters.tsx'
import { Failure } from '../../shared/states.tsx'
import { useTimes } from '../../shared/times.ts'
import { isPast, toInstant, toWallTime } from '../../shared/wall-times.ts'
import { CalendarEvent } from './calendar-event.tsx'
import {
  DAY_ROWS,
  fitMonth,
  freeSlotOf,
  nearDate,
  postOf,
  shiftDate,
  todayProps,
  toEvents,
  toFreeSlots,
  type UpcomingSlot,
} from './calendar-events.ts'
import { PhoneCalendar } from './phone-calendar.tsx'

type Calendar = components['schemas']['Calendar']

export interface CalendarSearch extends PostFilters {
  view?: 'day' | 'week'
  date?: string
}

/** The hour that a day or week is scrolled to, and of a new post for a day. */
const MORNING = '08:00:00'
const NO_POSTS: Calendar['posts'] = []
const NO_SLOTS: UpcomingSlot[] = []

export function CalendarPage() {
  const filters = useSearch({ from: '/signed-in/calendar' })
  const navigate = useNavigate({ from: '/calendar' })
  const queries = useQueryClient()
  const { timezone } = useTimes()
  const actions = usePostActions()
  const isPhone = useMatches({ base: true, sm: false }, { getInitialValueInEffect: false })
  const now = toWallTime(Date.now(), timezone)
  const today = now.slice(0, 10)
  const { view = 'month', date = today } = filters
  const posts = usePosts(filters, date)
  const listed = posts.data?.posts ?? NO_POSTS
  const events = useMemo(() => toEvents(listed, timezone), [listed, timezone])
  const slots = useSlots(date, view !== 'month')
  const free = useMemo(() => toFreeSlots(slots, timezone), [slots, timezone])
  const shown = useMemo(
    () => (view === 'month' ? fitMonth(events) : [...nearDate(events, date), ...free]),
    [events, free, view, date],
  )
  const change = (search: CalendarSearch) => void navigate({ search: { ...filters, ...search }, replace: true })

  // Their name leaves out what they show ("Mon 23"), which the library has no option for; without one, they are named by it.
  useEffect(() => {
    for (const day of document.querySelectorAll('.mantine-WeekView-weekViewDayLabel')) day.removeAttribute('aria-label')
  })

  function open(event: ScheduleEventData): void {
    const post = postOf(event)
    if (freeSlotOf(event)) write(String(event.start))
    else if (post) void navigate({ to: '/posts/$postId', params: { postId: post._id } })
    else change({ view: 'day', date: String(event.id) })
  }

  function write(time: string): void {
    if (isPast({ time, timezone })) return showError(new Error('This time is over. Choose a later one.'))
    void navigate({ to: '/compose', search: { at: toInstant({ time, timezone }), ...(view !== 'month' && { view }) } })
  }

  async function move({ event, newStart }: { event: ScheduleEventData; newStart: string }): Promise<void> {
    const at = { time: newStart, timezone }
    const post = postOf(event)!
    if (newStart === event.start) return
    if (isPast(at)) return showError(new Error('This time is over. Move the post to a later one.'))
    const queryKey = ['posts', 'calendar']
    await queries.cancelQueries({ queryKey })
    // The post stays where it was dropped; what the service answers is read afterwards.
    queries.setQueriesData<Calendar>({ queryKey }, (calendar) => {
      if (!calendar) return calendar
      const moved = { ...post, scheduledAt: toInstant(at) }
      return { ...calendar, posts: calendar.posts.map((one) => (one._id === post._id ? moved : one)) }
    })
    await actions.schedule([post], at)
  }

  const timeSlots = {
    // The library's own time is that of the browser's zone.
    getCurrentTime: () => toWallTime(Date.now(), timezone),
    startScrollTime: MORNING,
    // The views scroll by themselves, so that their head stays in sight.
    scrollAreaProps: { mah: 'max(26rem, calc(100dvh - 20rem))', type: 'auto' as const },
    getTimeSlotProps: ({ start }: { start: string }) => pastProps(start < now),
  }
  const viewSelectProps = { views: ['day', 'week', 'month'] } as const
  return (
    <Page title="Calendar" lead={`Times in ${timezone}. Choose a free time to write a post for it.`}>
      <PostFilterFields filters={filters} onChange={change} />
      {posts.isError && <Failure error={posts.error} retry={() => void posts.refetch()} />}
      {posts.data?.isComplete === false && (
        <Alert color="yellow" role="status">
          These weeks have too many posts for the calendar, which shows the earliest. Filter them to see the rest.
        </Alert>
      )}
      {isPhone ? (
        <PhoneCalendar
          date={date}
          today={today}
          events={events}
          onDateChange={(day) => change({ date: day })}
          onOpen={open}
          onWrite={(day) => write(day === today ? nextHour(now) : `${day} ${MORNING}`)}
        />
      ) : (
        <Schedule
          date={date}
          onDateChange={(next) => change({ date: next })}
          view={view}
          onViewChange={(next: ScheduleViewLevel) =>
            void navigate({
              search: ({ view: _, ...rest }) => (next === 'day' || next === 'week' ? { ...rest, view: next } : rest),
              replace: true,
            })
          }
          events={shown}
          renderEventBody={(event) => <CalendarEvent event={event} />}
          onEventClick={open}
          withEventsDragAndDrop
          canDragEvent={(event) => ALLOWED.edit.some((status) => status === postOf(event)?.status)}
          onEventDrop={(drop) => void move(drop)}
          onTimeSlotClick={({ slotStart }) => write(slotStart)}
          onDayClick={(day) => change({ view: 'day', date: day })}
          withAgenda
          labels={{ timeSlot: 'Write a post for', noEvents: 'No posts' }}
          dayViewProps={{ ...timeSlots, viewSelectProps, withAllDaySlot: false }}
          weekViewProps={{
            ...timeSlots,
            viewSelectProps,
            withAllDaySlots: false,
            weekendDays: [],
            highlightToday: true,
          }}
          monthViewProps={{
            maxEventsPerDay: DAY_ROWS,
            weekendDays: [],
            viewSelectProps,
            // The posts that are read cover no more weeks than a month has.
            consistentWeeks: false,
            highlightToday: false,
            todayControlProps: { onClick: () => change({ date: today }) },
            getDayProps: (day) => ({ ...pastProps(day < today), ...todayProps(day === today) }),
          }}
        />
      )}
    </Page>
  )
}

/** The slots of the days around a date, where a view has room for them. */
function useSlots(date: string, isShown: boolean): UpcomingSlot[] {
  const { timezone } = useTimes()
  const range = { from: shiftDate(date, -7), to: shiftDate(date, 7), timezone }
  const slots = useQuery({
    // With the posts, which take and leave them.
    queryKey: ['posts', 'slots', range],
    queryFn: ({ signal }) => client.slots.upcoming(range, { signal }),
    enabled: isShown,
  })
  return slots.data ?? NO_SLOTS
}

/** Shades a slot or day that is over. */
const pastProps = (isOver: boolean) => (isOver ? { 'data-over': true } : {})

/** Returns the next full hour; the last minute of the day in its last hour. */
function nextHour(now: string): string {
  const hour = Number(now.slice(11, 13)) + 1
  return `${now.slice(0, 10)} ${hour < 24 ? `${String(hour).padStart(2, '0')}:00` : '23:59'}:00`
}

/** The posts of the weeks around a date, so that every view and a step to its side have them. */
function usePosts(chosen: PostFilters, date: string) {
  const month = dayjs(date).startOf('month')
  const range = {
    from: month.subtract(7, 'day').format('YYYY-MM-DD'),
    to: month.endOf('month').add(7, 'day').format('YYYY-MM-DD'),
  }
  const query = { ...range, ...usePostQuery(chosen) }
  return useQuery({
    queryKey: ['posts', 'calendar', query],
    queryFn: ({ signal }) => client.posts.calendar(query, { signal }),
    placeholderData: keepPreviousData,
  })
}
