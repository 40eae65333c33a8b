import { Type } from '@sinclair/typebox'
import { EVENT_TYPES } from '../../domain/events/events.ts'
import { Instant, pageFields, stringEnum } from '../shared/schemas/common.ts'

export const EventSchema = Type.Object(
  {
    id: Type.String({ description: 'The same in the feed, its stream and webhooks' }),
    sequence: Type.Integer({ minimum: 1, description: 'The place in the feed of the user, without gaps' }),
    type: stringEnum(EVENT_TYPES, { title: 'EventType' }),
    timestamp: Instant,
    data: Type.Record(Type.String(), Type.Unknown(), { description: 'Depends on the type, see docs/guide/events.md' }),
  },
  { title: 'Event' },
)

const MAX_TYPES_LENGTH = 1_000

const selectionFields = {
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'The last sequence that you have; 0 begins with the oldest stored event',
    }),
  ),
  types: Type.Optional(
    Type.String({
      maxLength: MAX_TYPES_LENGTH,
      description: 'Types separated by commas; all by default',
      examples: ['post.published,post.failed'],
    }),
  ),
}

export const ListEventsQuery = Type.Object({ ...selectionFields, limit: pageFields.limit })
export const StreamEventsQuery = Type.Object(selectionFields)

export const StreamEventsHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({
      pattern: '^\\d{1,15}$',
      description: 'Continues after this sequence. Clients send it when they reconnect.',
    }),
  ),
})

export const EventList = Type.Object(
  {
    events: Type.Array(EventSchema),
    nextAfter: Type.Integer({ description: 'The value of `after` for the next page' }),
    hasMore: Type.Boolean({ description: 'True when the feed goes on after `nextAfter`, with events of any type' }),
    oldest: Type.Integer({ description: 'The first sequence that is stored; one more than `latest` when none is' }),
    latest: Type.Integer({ description: 'The last sequence of the feed; 0 before the first event' }),
  },
  { title: 'EventList' },
)
