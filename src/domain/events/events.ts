/** The types of the events in a user's feed. */
export const EVENT_TYPES = [
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
  'delivery.deleted',
  'delivery.edited',
  'account.connected',
  'account.expiring',
  'account.expired',
  'account.disconnected',
  'plan.changed',
  'analytics.collected',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** An event whose change is decided. Its id is fixed, so that a repeated append stores it once. */
export interface NewEvent {
  /** Begins with `evt_`, then names the changed record and its version. */
  id: string
  type: EventType
  /** When the change was made. */
  occurredAt: Date
  /** Ids, statuses, links and error codes; no texts of users and no secrets. */
  data: Record<string, unknown>
}

/** An event of the feed. */
export interface UserEvent extends NewEvent {
  userId: string
  /** The position in the user's feed, from 1 without gaps. */
  sequence: number
}

/** An event as the feed, its stream and webhooks send it. */
export interface EventJson<Type extends string = EventType> {
  id: string
  sequence: number
  type: Type
  /** ISO 8601 in UTC. */
  timestamp: string
  data: Record<string, unknown>
}

export function presentEvent<Type extends string>({
  id,
  sequence,
  type,
  occurredAt,
  data,
}: Omit<UserEvent, 'userId' | 'type'> & { type: Type }): EventJson<Type> {
  return { id, sequence, type, timestamp: occurredAt.toISOString(), data }
}

/** Returns the id of an event: the changed record, and what distinguishes this change of it from all others. */
export function toEventId(...parts: (string | number)[]): string {
  return `evt_${parts.join('-')}`
}
