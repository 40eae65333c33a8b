import type { EventType } from '@postonce/sdk'

/** A type that the API has and this list lacks does not compile. */
const TYPES: Record<EventType, true> = {
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
  'account.connected': true,
  'account.expiring': true,
  'account.expired': true,
  'account.disconnected': true,
  'plan.changed': true,
  'analytics.collected': true,
}

export const EVENT_TYPES = Object.keys(TYPES) as EventType[]
