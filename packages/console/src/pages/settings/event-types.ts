import type { components } from '@postonce/sdk'

/** The types of events in a user's words. */
export const EVENT_TYPES: Record<components['schemas']['EventType'], string> = {
  'post.created': 'Post created',
  'post.scheduled': 'Post scheduled',
  'post.published': 'Post published',
  'post.partial': 'Post partly published',
  'post.failed': 'Post failed',
  'post.cancelled': 'Post cancelled',
  'post.deleted': 'Post deleted',
  'delivery.accepted': 'Accepted by a platform',
  'delivery.failed': 'Failed on a platform',
  'delivery.unknown': 'Outcome unknown on a platform',
  'delivery.deleted': 'Deleted on a platform',
  'delivery.edited': 'Edited on a platform',
  'account.connected': 'Account connected',
  'account.expiring': 'Login of an account ends soon',
  'account.expired': 'Login of an account ended',
  'account.disconnected': 'Account disconnected',
  'plan.changed': 'Plan changed',
  'analytics.collected': 'Figures collected',
}
