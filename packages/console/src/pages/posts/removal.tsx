import { Loader, Group, Text } from '@mantine/core'
import type { Delivery } from '../../shared/post-actions.tsx'
import { fromNow } from '../../shared/times.ts'

/** The state of the last request to take the post back, with what remains to be done by hand. */
export function Removal({ delivery: { removal, status } }: { delivery: Delivery }) {
  if (!removal) return null
  if (removal.status === 'failed') {
    return (
      <Text size="sm" c="red" className="user-text">
        Not taken back. {removal.error}
      </Text>
    )
  }
  if (removal.status === 'pending') {
    return (
      <Group gap={8} role="status">
        <Loader size={14} aria-hidden />
        <Text size="sm">Being taken back, requested {fromNow(removal.requestedAt)}</Text>
      </Group>
    )
  }
  return (
    <Text size="sm" c="dimmed">
      Taken back {fromNow(removal.completedAt ?? removal.requestedAt)}.
      {status === 'failed' && ' A retry publishes it from its first post.'}
    </Text>
  )
}
