import type { EventType } from '@postonce/sdk'
import { listValues } from '../options.ts'

export const EVENT_TYPES = listValues<EventType>({
  'post.created': true,
  'post.scheduled': true,
  'post.published': true,
  'post.partial': true,
  'post.failed': true,
  'post.cancelled': true,
  'post.deleted': true,
  'delivery.accepted': true,
  'delivery.failed': true,
  'delivery.unknown': true,
  'delivery.deleted': true,
  'delivery.edited': true,
  'account.connected': true,
  'account.expiring': true,
  'account.expired': true,
  'account.disconnected': true,
  'plan.changed': true,
  'analytics.collected': true,
})
