import { Group, Text, VisuallyHidden } from '@mantine/core'
import type { ScheduleEventData } from '@mantine/schedule'
import { Ban, CircleCheck, CircleX, Clock, PencilLine, Send, TriangleAlert, type LucideIcon } from 'lucide-react'
import { memo } from 'react'
import { POST_STATUSES, type PostStatus } from '../../shared/statuses.tsx'
import { freeSlotOf, postOf } from './calendar-events.ts'

const ICONS: Record<PostStatus, LucideIcon> = {
  DRAFT: PencilLine,
  SCHEDULED: Clock,
  PENDING: Send,
  PROCESSING: Send,
  COMPLETED: CircleCheck,
  PARTIAL_SUCCESS: TriangleAlert,
  FAILED: CircleX,
  CANCELLED: Ban,
}

interface CalendarEventProps {
  event: ScheduleEventData
  size?: 'xs' | 'sm'
}

/** A post in one line of the calendar: its status as an icon, its time and the beginning of its text. */
export const CalendarEvent = memo(function CalendarEvent({ event, size = 'xs' }: CalendarEventProps) {
  const post = postOf(event)
  if (freeSlotOf(event))
    return (
      <Text span fz={size} c="dimmed">
        {String(event.start).slice(11, 16)} {event.title}
      </Text>
    )
  if (!post)
    return (
      <Text span fz="xs" fw={600}>
        {event.title}
      </Text>
    )
  const Icon = ICONS[post.status]
  return (
    <Group gap={4} wrap="nowrap" miw={0}>
      <Icon size={size === 'xs' ? 12 : 16} aria-hidden style={{ flex: 'none' }} />
      <VisuallyHidden>{POST_STATUSES[post.status].label}</VisuallyHidden>
      <Text span fz={size} fw={600}>
        {String(event.start).slice(11, 16)}
      </Text>
      <Text span fz={size} truncate>
        {post.text || 'Without text'}
      </Text>
    </Group>
  )
})
