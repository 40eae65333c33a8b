import { Group, MultiSelect, Select, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { Schedule, type ScheduleEventData, type ScheduleViewLevel } from '@mantine/schedule'
import '@mantine/schedule/styles.layer.css'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import dayjs from 'dayjs'
import { Search } from 'lucide-react'
import { client } from '../../session/session.ts'
import { showError } from '../../shared/errors.ts'
import { Page } from '../../shared/page.tsx'
import { PLATFORMS } from '../../shared/platforms.tsx'
import { ALLOWED, usePostActions, type ListedPost } from '../../shared/post-actions.tsx'
import { Failure } from '../../shared/states.tsx'
import { POST_STATUSES, type PostStatus } from '../../shared/statuses.tsx'
import { isPast, toInstant, toWallTime, useTimes } from '../../shared/times.ts'
import { CalendarEvent } from './calendar-event.tsx'

export interface CalendarSearch {
  view?: 'day' | 'week'
  date?: string
  status?: PostStatus[]
  account?: string
  q?: string
}

const PAGE_SIZE = 200
/** A post has no duration; in the views of a day and a week it takes this much room. */
const SHOWN_MINUTES = 30

export function CalendarPage() {
  const filters = useSearch({ from: '/signed-in/calendar' })
  const navigate = useNavigate({ from: '/calendar' })
  const { timezone } = useTimes()
  const actions = usePostActions()
  const { view = 'month', date = toWallTime(Date.now(), timezone).slice(0, 10) } = filters
  const posts = usePosts(filters, date)
  const { data: accounts = [] } = useQuery({ queryKey: ['accounts'], queryFn: () => client.accounts.list() })
  const change = (search: CalendarSearch) => void navigate({ search: { ...filters, ...search }, replace: true })
  const search = useDebouncedCallback((q: string) => change({ q }), 300)

  function move({ event, newStart }: { event: ScheduleEventData; newStart: string }): void {
    const at = { time: newStart, timezone }
    if (isPast(at)) return showError(new Error('This time is over. Move the post to a later one.'))
    void actions.schedule([postOf(event)], at)
  }

  return (
    <Page
      title="Calendar"
      lead={<Text c="dimmed">Times in {timezone}. Click a free time to write a post for it.</Text>}
    >
      <Group gap="sm" role="search">
        <TextInput
          aria-label="Search the texts"
          placeholder="Search the texts"
          leftSection={<Search size={16} aria-hidden />}
          defaultValue={filters.q ?? ''}
          onChange={({ currentTarget }) => search(currentTarget.value)}
          flex={1}
          miw={180}
        />
        <MultiSelect
          aria-label="Status"
          placeholder={filters.status?.length ? '' : 'Any status'}
          data={Object.entries(POST_STATUSES).map(([value, { label }]) => ({ value, label }))}
          value={filters.status ?? []}
          onChange={(status) => change({ status: status as PostStatus[] })}
          clearable
          miw={180}
        />
        <Select
          aria-label="Account"
          placeholder="Any account"
          data={accounts.map(({ _id, platform, profile }) => ({
            value: _id,
            label: `${PLATFORMS[platform].name} ${profile.handle}`,
          }))}
          value={filters.account ?? null}
          onChange={(account) => change({ account: account ?? '' })}
          clearable
          searchable
          miw={200}
        />
      </Group>
      {posts.isError && <Failure error={posts.error} retry={() => void posts.refetch()} />}
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
        events={(posts.data ?? []).map((post) => toEvent(post, timezone))}
        renderEventBody={(event) => <CalendarEvent post={postOf(event)} timezone={timezone} />}
        onEventClick={(event) => void navigate({ to: '/posts/$postId', params: { postId: String(event.id) } })}
        withEventsDragAndDrop
        canDragEvent={(event) => ALLOWED.edit.includes(postOf(event).status)}
        onEventDrop={move}
        onTimeSlotClick={({ slotStart }) => write(slotStart)}
        onDayClick={(day) => change({ view: 'day', date: day })}
        withAgenda
        monthViewProps={{ maxEventsPerDay: 4 }}
      />
    </Page>
  )

  function write(time: string): void {
    if (isPast({ time, timezone })) return showError(new Error('This time is over. Choose a later one.'))
    void navigate({ to: '/compose', search: { at: toInstant({ time, timezone }) } })
  }
}

/** The posts of the weeks around a date, so that every view and a step to its side have them. */
function usePosts({ status, account, q }: CalendarSearch, date: string) {
  const month = dayjs(date).startOf('month')
  const range = {
    from: month.subtract(7, 'day').format('YYYY-MM-DD'),
    to: month.endOf('month').add(7, 'day').format('YYYY-MM-DD'),
  }
  const filters = {
    ...range,
    sortBy: 'date' as const,
    ...(status?.length && { status }),
    ...(account && { account }),
    ...(q && { q }),
  }
  return useQuery({
    queryKey: ['posts', 'calendar', filters],
    queryFn: async ({ signal }) => {
      const all: ListedPost[] = []
      for await (const post of client.posts.iterate({ ...filters, limit: PAGE_SIZE }, { signal })) all.push(post)
      return all
    },
    placeholderData: keepPreviousData,
  })
}

const postOf = (event: ScheduleEventData): ListedPost => event.payload?.['post'] as ListedPost

function toEvent(post: ListedPost, timezone: string): ScheduleEventData {
  const at = post.dueAt ?? post.scheduledAt ?? post.createdAt
  const { label, color } = POST_STATUSES[post.status]
  return {
    id: post._id,
    title: `${label}: ${post.content.text || 'Without text'}`,
    start: toWallTime(at, timezone),
    end: toWallTime(Date.parse(at) + SHOWN_MINUTES * 60_000, timezone),
    color,
    payload: { post },
  }
}
