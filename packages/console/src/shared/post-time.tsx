import { Text } from '@mantine/core'
import type { ListedPost } from './post-actions.tsx'
import { fromNow, useTimes } from './times.ts'

/** When a post is due or was published; drafts have the time of their last change. */
export function PostTime({ post }: { post: Pick<ListedPost, 'status' | 'dueAt' | 'scheduledAt' | 'updatedAt'> }) {
  const { dateTime } = useTimes()
  const instant = post.dueAt ?? post.scheduledAt
  const shown = instant ?? post.updatedAt
  return (
    <Text span size="sm" c="dimmed" title={fromNow(shown)}>
      {instant === null ? `changed ${fromNow(shown)}` : dateTime(shown)}
    </Text>
  )
}
