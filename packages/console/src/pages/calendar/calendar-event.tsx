import { Group, Text, VisuallyHidden } from '@mantine/core'
import type { components } from '@postonce/sdk'
import { Ban, CircleCheck, CircleX, Clock, PencilLine, Send, TriangleAlert, type LucideIcon } from 'lucide-react'
import { POST_STATUSES, type PostStatus } from '../../shared/statuses.tsx'

export type CalendarPost = components['schemas']['CalendarPost']

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

/** A post in one line of the calendar: its status as an icon, its time and the beginning of its text. */
export function CalendarEvent({ post, time }: { post: CalendarPost; time: string }) {
  const { status, text } = post
  const Icon = ICONS[status]
  return (
    <Group gap={4} wrap="nowrap" miw={0}>
      <Icon size={12} aria-hidden style={{ flex: 'none' }} />
      <VisuallyHidden>{POST_STATUSES[status].label}</VisuallyHidden>
      <Text span fz="xs" fw={600}>
        {time}
      </Text>
      <Text span fz="xs" truncate>
        {text || 'Without text'}
      </Text>
    </Group>
  )
}
