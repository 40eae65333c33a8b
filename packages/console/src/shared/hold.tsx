import { Button, Group, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { components } from '@postonce/sdk'
import { useEffect, useState } from 'react'
import { client } from '../session/session.ts'
import { showDone, showError } from './errors.ts'

type Held = Pick<components['schemas']['CreatedPost'], 'postId' | 'status' | 'dueAt'>

/** Reports that posts are being published. During their hold, the notice can undo it. */
export function showPublishing(posts: Held[]): void {
  const [first, ...others] = posts.filter(({ status, dueAt }) => status === 'PENDING' && toSeconds(dueAt) > 0)
  if (!first) return showDone(posts.length === 1 ? 'The post is being published.' : 'The posts are being published.')
  notifications.show({
    id: toNoticeId(first),
    autoClose: toSeconds(first.dueAt) * 1_000,
    message: <HoldNotice held={[first, ...others]} />,
  })
}

const toNoticeId = ({ postId }: Held): string => `hold-${postId}`

/** Counts down to the end of a hold, and offers to cancel the posts until then; nothing afterwards. */
export function HoldNotice({ held }: { held: [Held, ...Held[]] }) {
  const queries = useQueryClient()
  const seconds = useSecondsUntil(held[0].dueAt)
  const undoing = useMutation({
    mutationFn: async () => {
      for (const { postId } of held) await client.posts.cancel(postId)
    },
    onSuccess: () => {
      notifications.hide(toNoticeId(held[0]))
      showDone('Nothing is published. You can duplicate what you cancelled.')
    },
    onError: showError,
    onSettled: () => queries.invalidateQueries({ queryKey: ['posts'] }),
  })
  if (seconds === 0) return null
  return (
    <Group justify="space-between">
      <Text size="sm" role="timer">
        Publishes in {seconds} s
      </Text>
      <Button size="compact-sm" variant="default" loading={undoing.isPending} onClick={() => undoing.mutate()}>
        Undo
      </Button>
    </Group>
  )
}

function useSecondsUntil(instant: string | null): number {
  const [now, setNow] = useState(Date.now)
  const seconds = toSeconds(instant, now)
  const isOver = seconds === 0
  useEffect(() => {
    if (isOver) return
    const timer = setInterval(() => setNow(Date.now()), 250)
    return () => clearInterval(timer)
  }, [isOver])
  return seconds
}

/** Returns the whole seconds until an instant; 0 once it has passed, and without one. */
function toSeconds(instant: string | null, now = Date.now()): number {
  return instant === null ? 0 : Math.max(0, Math.ceil((Date.parse(instant) - now) / 1_000))
}
