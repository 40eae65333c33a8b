import { Anchor, Text, Timeline } from '@mantine/core'
import type { components } from '@postonce/sdk'
import { Check, Ellipsis, MessageCircle, Trash, X, type LucideIcon } from 'lucide-react'
import { NewTab } from '../../shared/new-tab.tsx'
import type { Delivery } from '../../shared/post-actions.tsx'
import { DELIVERY_STATUSES, type DeliveryStatus } from '../../shared/statuses.tsx'

type Part = components['schemas']['PostPart']

const ICONS: Record<DeliveryStatus, LucideIcon> = {
  pending: Ellipsis,
  processing: Ellipsis,
  completed: Check,
  failed: X,
  deleted: Trash,
}

/** The posts of a thread and the comment in their order: the link of each published one, and why one failed. */
export function Parts({ delivery: { parts = [], status } }: { delivery: Delivery }) {
  const retry = describeRetry(parts)
  return (
    <>
      <Timeline bulletSize={20} lineWidth={2} mt={4} active={parts.findLastIndex((part) => part.status !== 'pending')}>
        {parts.map((part, index) => {
          const shown = status === 'deleted' ? 'deleted' : part.status
          const Icon = part.kind === 'comment' && shown === 'completed' ? MessageCircle : ICONS[shown]
          return (
            <Timeline.Item
              key={index}
              color={DELIVERY_STATUSES[shown].color}
              bullet={<Icon size={12} aria-hidden />}
              mt={index === 0 ? 0 : 'xs'}
              title={<PartTitle part={part} number={index + 1} status={shown} />}
            >
              {part.error && (
                <Text size="sm" c="red" className="user-text">
                  {part.error}
                </Text>
              )}
              {part.warning && <Text size="sm">{part.warning}</Text>}
            </Timeline.Item>
          )
        })}
      </Timeline>
      {retry && <Text size="sm">{retry}</Text>}
    </>
  )
}

function PartTitle({ part: { kind, platformPostUrl }, number, status }: PartTitleProps) {
  const name = kind === 'comment' ? 'First comment' : `Post ${number}`
  return (
    <Text size="sm" lh={1.4}>
      {platformPostUrl && status === 'completed' ? (
        <Anchor href={platformPostUrl} target="_blank" rel="noreferrer" inherit underline="always">
          {name} <NewTab />
        </Anchor>
      ) : (
        name
      )}
      <Text span inherit c="dimmed">
        {' '}
        · {status === 'pending' ? 'Not published' : DELIVERY_STATUSES[status].label}
      </Text>
    </Text>
  )
}

interface PartTitleProps {
  part: Part
  number: number
  status: DeliveryStatus
}

/** Says what a retry sends; null when nothing failed. */
export function describeRetry(parts: Part[]): string | null {
  const failed = parts.find(({ status }) => status === 'failed')
  if (!failed) return null
  if (failed.kind === 'comment') return 'Retry sends the comment.'
  const posts = parts.filter(({ kind, status }) => kind === 'post' && status !== 'completed')
  const comment = parts.some(({ kind }) => kind === 'comment') ? ' and the comment' : ''
  return `Retry publishes the ${posts.length === 1 ? 'remaining post' : `${posts.length} remaining posts`}${comment}.`
}
