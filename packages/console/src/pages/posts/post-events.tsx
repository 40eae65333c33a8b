import { Button, Text, Timeline } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { components } from '@postonce/sdk'
import { CircleCheck, CircleDot, CircleX, Clock, Pencil, RotateCcw, Search, Send, type LucideIcon } from 'lucide-react'
import { useState } from 'react'
import { client } from '../../session/session.ts'
import { PLATFORMS } from '../../shared/platforms.tsx'
import { Section } from '../../shared/section.tsx'
import { POST_STATUSES } from '../../shared/statuses.tsx'
import { QueryView } from '../../shared/states.tsx'
import { useTimes } from '../../shared/times.ts'

type Post = components['schemas']['Post']
type Event = components['schemas']['TimelineEvent']

/** A thread on several accounts has dozens of events; the latest say where it is. */
const SHOWN_EVENTS = 8

/** The events of the post so far, and the next one. */
export function PostEvents({ post }: { post: Post }) {
  const { _id: postId, updatedAt } = post
  const [isWhole, setWhole] = useState(false)
  const timeline = useQuery({
    // Read again when the post has changed.
    queryKey: ['posts', postId, 'timeline', updatedAt],
    queryFn: () => client.posts.timeline(postId),
    placeholderData: (previous) => previous,
  })
  const { dateTime } = useTimes()
  const names = new Map(post.platformStatuses.map(({ accountId, accountName }) => [accountId, accountName]))
  return (
    <Section title="What happened">
      <QueryView query={timeline}>
        {({ events }) => {
          const shown = isWhole ? events : events.slice(-SHOWN_EVENTS)
          const hidden = events.length - shown.length
          if (events.length === 0)
            return (
              <Text c="dimmed" size="sm">
                Nothing yet.
              </Text>
            )
          return (
            <>
              {hidden > 0 && (
                <Button size="compact-sm" variant="subtle" mb="sm" onClick={() => setWhole(true)}>
                  Show {hidden} earlier {hidden === 1 ? 'event' : 'events'}
                </Button>
              )}
              <Timeline bulletSize={24} lineWidth={2} active={shown.length} color="gray">
                {shown.map((event, index) => {
                  const { icon: Icon, color, text } = describe(event)
                  const { platform, accountId, platformText } = event
                  const name = names.get(accountId ?? null) ?? null
                  const part = namePart(post, event)
                  const where = platform && [PLATFORMS[platform].name, name, part].filter(Boolean).join(' ')
                  return (
                    <Timeline.Item
                      key={`${event.at}-${index + hidden}`}
                      mt={index === 0 ? 0 : 'sm'}
                      color={color}
                      bullet={<Icon size={14} aria-hidden />}
                      title={
                        <Text size="sm" fw={600}>
                          {where ? `${where}: ${text}` : text}
                        </Text>
                      }
                    >
                      {platformText && (
                        <Text size="sm" className="user-text">
                          “{platformText}”
                        </Text>
                      )}
                      {event.until && (
                        <Text size="sm" c="dimmed">
                          {event.type === 'transition' || event.type === 'edit' ? 'waits until' : 'continues at'}{' '}
                          {dateTime(event.until)}
                        </Text>
                      )}
                      <Text size="xs" c="dimmed">
                        {dateTime(event.at)}
                      </Text>
                    </Timeline.Item>
                  )
                })}
              </Timeline>
            </>
          )
        }}
      </QueryView>
    </Section>
  )
}

/** Returns which part of a thread an event is about, such as "post 2"; null for a single post. */
function namePart({ platformStatuses }: Post, { platform, accountId, part }: Event): string | null {
  if (part === undefined) return null
  const delivery = platformStatuses.find((one) => one.platform === platform && one.accountId === (accountId ?? null))
  return delivery?.parts?.[part - 1]?.kind === 'comment' ? 'first comment' : `post ${part}`
}

const RESULTS: Record<NonNullable<Event['result']>, { text: string; color: string; icon: LucideIcon }> = {
  accepted: { text: 'published', color: 'teal', icon: CircleCheck },
  found: { text: 'found on the platform', color: 'teal', icon: CircleCheck },
  refused: { text: 'refused', color: 'red', icon: CircleX },
  deferred: { text: 'later', color: 'yellow', icon: Clock },
  unknown: { text: 'no clear answer', color: 'yellow', icon: CircleDot },
  edited: { text: 'edited there', color: 'teal', icon: Pencil },
  absent: { text: 'not on the platform', color: 'yellow', icon: Search },
  deleted: { text: 'deleted there', color: 'gray', icon: CircleX },
}

function describe({ type, status, result, attempt = 1 }: Event): { text: string; color: string; icon: LucideIcon } {
  switch (type) {
    case 'transition':
      return {
        text: status === undefined ? 'Changed' : POST_STATUSES[status].label,
        color: status === undefined ? 'gray' : POST_STATUSES[status].color,
        icon: CircleDot,
      }
    case 'edit':
      return { text: 'Edited', color: 'gray', icon: Pencil }
    case 'retry':
      return { text: 'Sent again by you', color: 'ink', icon: RotateCcw }
    case 'attempt':
      return { text: attempt > 1 ? `attempt ${attempt}` : 'sent', color: 'cyan', icon: Send }
    case 'wait':
      return { text: 'waits', color: 'yellow', icon: Clock }
    case 'reconcile':
      return { ...(result ? RESULTS[result] : RESULTS.unknown), icon: Search }
    case 'outcome':
      return result ? RESULTS[result] : RESULTS.unknown
  }
}
