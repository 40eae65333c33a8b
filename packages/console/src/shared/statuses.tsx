import { Badge } from '@mantine/core'
import type { components } from '@postonce/sdk'

export type PostStatus = components['schemas']['PostStatus']
export type DeliveryStatus = components['schemas']['DeliveryStatus']

export const POST_STATUSES: Record<PostStatus, { label: string; color: string }> = {
  DRAFT: { label: 'Draft', color: 'gray' },
  SCHEDULED: { label: 'Scheduled', color: 'ink' },
  PENDING: { label: 'Waiting', color: 'cyan' },
  PROCESSING: { label: 'Publishing', color: 'cyan' },
  COMPLETED: { label: 'Published', color: 'teal' },
  PARTIAL_SUCCESS: { label: 'Partly published', color: 'orange' },
  FAILED: { label: 'Failed', color: 'red' },
  CANCELLED: { label: 'Cancelled', color: 'gray' },
}

export const isPostStatus = (value: unknown): value is PostStatus => typeof value === 'string' && value in POST_STATUSES

export const DELIVERY_STATUSES: Record<DeliveryStatus, { label: string; color: string }> = {
  pending: { label: 'Waiting', color: 'cyan' },
  processing: { label: 'Publishing', color: 'cyan' },
  completed: { label: 'Published', color: 'teal' },
  failed: { label: 'Failed', color: 'red' },
  deleted: { label: 'Deleted there', color: 'gray' },
}

export function PostStatusBadge({ status }: { status: PostStatus }) {
  const { label, color } = POST_STATUSES[status]
  return (
    <Badge variant="light" color={color} style={{ flex: 'none' }}>
      {label}
    </Badge>
  )
}

export function DeliveryStatusBadge({ status }: { status: DeliveryStatus }) {
  const { label, color } = DELIVERY_STATUSES[status]
  return (
    <Badge variant="light" color={color} style={{ flex: 'none' }}>
      {label}
    </Badge>
  )
}
