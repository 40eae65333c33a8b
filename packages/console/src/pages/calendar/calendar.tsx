import { Alert } from '@mantine/core'
import { Schedule, type ScheduleEventData, type ScheduleViewLevel } from '@mantine/schedule'
import '@mantine/schedule/styles.layer.css'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import dayjs from 'dayjs'
import { useEffect, useState } from 'react'
import { client } from '../../session/session.ts'
import { showError } from '../../shared/errors.ts'
import { Page } from '../../shared/page.tsx'
import { ALLOWED, usePostActions } from '../../shared/post-actions.tsx'
import { PostFilterFields, usePostQuery, type PostFilters } from '../../shared/post-filters.tsx'
import { Failure } from '../../shared/states.tsx'
import { POST_STATUSES } from '../../shared/statuses.tsx'
import { useTimes } from '../../shared/times.ts'
import { isPast, toInstant, toWallTime } from '../../shared/wall-times.ts'
import { CalendarEvent, type CalendarPost } from './calendar-event.tsx'

export interface CalendarSearch extends PostFilters {
  view?: 'day' | 'week'
  date?: string
}

/** The views of a day and a week begin in the morning and scroll by themselves, so that their head stays in sight. */
const HOURS = {
  startScrollTime: '07:00:00',
  slotHeight: 48,
  scrollAreaProps: { mah: 'max(26rem, calc(100dvh - 20rem))', type: 'auto' },
} as const

/** A post has no duration; in the views of a day and a week it takes this much room. */
const SHOWN_MINUTES = 30

export function CalendarPage() {
  const filters = useSearch({ from: '/signed-in/calendar' })
  const navigate = useNavigate({ from: '/calendar' })
  const { timezone } = useTimes()
  const actions = usePostActions()
  const { view = 'month', date = toWallTime(Date.now(), timezone).slice(0, 10) } = filters
  const posts = usePosts(filters, date)
  const change = (search: CalendarSearch) => void navigate({ search: { ...filters, ...search }, replace: true })

  // Their name leaves out what they show ("Mon 23"), which the library has no option for; without one, they are named by it.
  useEffect(() => {
    for (const day of document.querySelectorAll('.mantine-WeekView-weekViewDayLabel')) day.removeAttribute('aria-label')
  })

  /** Where posts were dropped, by their ids, until the service has moved them: they do not jump back meanwhile. */
  const [dropped, setDropped] = useState<ReadonlyMap<string, string>>(new Map())

  async function move({ event, newStart }: { event: ScheduleEventData; newStart: string }): Promise<void> {
    const at = { time: newStart, timezone }
    if (isPast(at)) return showError(new Error('This time is over. Move the post to a later one.'))
    const post = postOf(event)
    setDropped((all) => new Map(all).set(post._id, newStart))
    await actions.schedule([post], at)
    setDropped((all) => new Map([...all].filter(([id]) => id !== post._id)))
  }

  return (
    <Page title="Calendar" lead={`Times in ${timezone}. Choose a free time to write a post for it.`}>
      <PostFilterFields filters={filters} onChange={change} />
      {posts.isError && <Failure error={posts.error} retry={() => void posts.refetch()} />}
      {posts.data?.isComplete === false && (
        <Alert color="yellow" role="status">
          These weeks have too many posts for the calendar, which shows the earliest. Filter them to see the rest.
        </Alert>
      )}
      <Schedule
        layout="responsive"
        date={date}
        onDateChange={(next) => change({ date: next })}
        view={view}
        onViewChange={(next: ScheduleViewLevel) =>
          void navigate({
            search: ({ view: _, ...rest }) => (next === 'day' || next === 'week' ? { ...rest, view: next } : rest),
            replace: true,
          })
        }
        events={(posts.data?.posts ?? []).map((post) => toEvent(post, timezone, dropped.get(post._id)))}
        renderEventBody={(event) => <CalendarEvent post={postOf(event)} time={String(event.start).slice(11, 16)} />}
        onEventClick={(event) => void navigate({ to: '/posts/$postId', params: { postId: String(event.id) } })}
        withEventsDragAndDrop
        canDragEvent={(event) => ALLOWED.edit.includes(postOf(event).status) && !dropped.has(postOf(event)._id)}
        onEventDrop={(drop) => void move(drop)}
        onTimeSlotClick={({ slotStart }) => write(slotStart)}
        onDayClick={(day) => change({ view: 'day', date: day })}
        withAgenda
        dayViewProps={{ ...HOURS, withAllDaySlot: false }}
        weekViewProps={{ ...HOURS, withAllDaySlots: false, weekendDays: [] }}
        monthViewProps={{ maxEventsPerDay: 3, weekendDays: [] }}
        // A button may not be "selected"; the list below names the chosen day.
        mobileMonthViewProps={{ weekendDays: [], getDayProps: () => ({ 'aria-selected': undefined }) }}
      />
    </Page>
  )

  function write(time: string): void {
    if (isPast({ time, timezone })) return showError(new Error('This time is over. Choose a later one.'))
    void navigate({ to: '/compose', search: { at: toInstant({ time, timezone }), ...(view !== 'month' && { view }) } })
  }
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

const postOf = (event: ScheduleEventData): CalendarPost => event.payload?.['post'] as CalendarPost

function toEvent(post: CalendarPost, timezone: string, droppedAt?: string): ScheduleEventData {
  const start = droppedAt ?? toWallTime(post.scheduledAt ?? post.createdAt, timezone)
  const { label, color } = POST_STATUSES[post.status]
  return {
    id: post._id,
    title: `${label}: ${post.text || 'Without text'}`,
    start,
    end: dayjs(start).add(SHOWN_MINUTES, 'minute').format('YYYY-MM-DD HH:mm:ss'),
    color,
    payload: { post },
  }
}
