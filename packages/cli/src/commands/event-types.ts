import type { EventType } from '@postonce/sdk'

export const EVENT_TYPES: EventType[] = [
  'post.created',
  'post.scheduled',
  'post.published',
  'post.partial',
  'post.failed',
  'post.cancelled',
  'post.deleted',
  'delivery.accepted',
  'delivery.failed',
  'delivery.unknown',
  'account.connected',
  'account.expiring',
  'account.expired',
  'account.disconnected',
  'plan.changed',
  'analytics.collected',
]
