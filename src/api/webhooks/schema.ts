import { Type } from '@sinclair/typebox'
import { EVENT_TYPES, type EventType } from '../../domain/events/events.ts'
import {
  DELIVERY_STATES,
  EXCERPT_BYTES,
  LOGGED_ATTEMPTS,
  type DeliveryState,
} from '../../domain/webhooks/deliveries.ts'
import {
  DISABLED_REASONS,
  MAX_DESCRIPTION_LENGTH,
  MAX_URL_LENGTH,
  SECRET_PATTERN,
  TEST_EVENT_TYPE,
  type DisabledReason,
} from '../../domain/webhooks/webhooks.ts'
import { ETagField, IfMatchHeader } from '../shared/etags.ts'
import { Instant, nullable, pageFields, pageResultFields, stringEnum } from '../shared/schemas/common.ts'

const changeableFields = {
  url: Type.String({
    minLength: 1,
    maxLength: MAX_URL_LENGTH,
    description: 'An https address of a public server on port 443, without user name, password and fragment',
    examples: ['https://example.com/hooks/postonce'],
  }),
  events: Type.Array(stringEnum<EventType>(EVENT_TYPES, { title: 'EventType' }), {
    maxItems: EVENT_TYPES.length,
    uniqueItems: true,
    description: 'The types of events to deliver; empty for all types',
  }),
  description: Type.String({ maxLength: MAX_DESCRIPTION_LENGTH }),
}

export const CreateWebhookBody = Type.Object(
  {
    url: changeableFields.url,
    events: Type.Optional(changeableFields.events),
    description: Type.Optional(changeableFields.description),
  },
  { title: 'CreateWebhook', examples: [{ url: 'https://example.com/hooks/postonce', events: ['post.published'] }] },
)

export const UpdateWebhookBody = Type.Object(
  {
    url: Type.Optional(changeableFields.url),
    events: Type.Optional(changeableFields.events),
    description: Type.Optional(changeableFields.description),
    enabled: Type.Optional(Type.Boolean({ description: 'An enabled webhook gets the events from then on' })),
  },
  { title: 'UpdateWebhook', examples: [{ enabled: true }] },
)

export const UpdateWebhookHeaders = Type.Object(IfMatchHeader)

const webhookFields = {
  id: Type.String(),
  ...changeableFields,
  enabled: Type.Boolean(),
  disabledReason: nullable(
    stringEnum<DisabledReason>(DISABLED_REASONS, {
      description:
        '`user`: disabled by a request; `gone`: the receiver responded with 410; `failing`: all deliveries failed for five days',
    }),
  ),
  disabledAt: nullable(Instant),
  failingSince: nullable(
    Type.String({ format: 'date-time', description: 'The first failed attempt since the last successful one' }),
  ),
  pausedUntil: nullable(
    Type.String({ format: 'date-time', description: 'No attempt before this time, because the receiver fails' }),
  ),
  lastDeliveredAt: nullable(Instant),
  oldSecretValidUntil: nullable(
    Type.String({
      format: 'date-time',
      description: 'Until then, deliveries carry a signature with the old secret, too',
    }),
  ),
  createdAt: Instant,
  etag: ETagField,
}

export const WebhookSchema = Type.Object(webhookFields, { title: 'Webhook' })

export const WebhookWithSecret = Type.Object(
  {
    ...webhookFields,
    secret: Type.String({
      pattern: `^${SECRET_PATTERN}$`,
      description: 'The signing secret. Store it now: only creation and rotation return it.',
    }),
  },
  { title: 'WebhookWithSecret' },
)

const DeliveryAttemptSchema = Type.Object(
  {
    at: Instant,
    durationMs: Type.Integer(),
    status: nullable(Type.Integer({ description: 'The HTTP status of the response' })),
    error: nullable(Type.String({ description: 'Why there is no response', examples: ['did not answer in time'] })),
    response: nullable(
      Type.String({ description: `The beginning of the response body, at most ${EXCERPT_BYTES} bytes` }),
    ),
  },
  { title: 'DeliveryAttempt' },
)

export const WebhookDeliverySchema = Type.Object(
  {
    id: Type.String(),
    eventId: Type.String({ description: 'The `webhook-id` of every attempt' }),
    eventType: stringEnum<EventType | typeof TEST_EVENT_TYPE>([...EVENT_TYPES, TEST_EVENT_TYPE]),
    sequence: Type.Integer({ description: 'The sequence of the event in the feed; 0 for a test event' }),
    state: stringEnum<DeliveryState>(DELIVERY_STATES, {
      title: 'WebhookDeliveryState',
      description: '`failed`: no further attempt is made unless it is requested',
    }),
    attemptCount: Type.Integer({ description: 'The attempts since the delivery was last requested' }),
    nextAttemptAt: nullable(Instant),
    request: Type.String({ description: `The beginning of the request body, at most ${EXCERPT_BYTES} bytes` }),
    attempts: Type.Array(DeliveryAttemptSchema, {
      description: `The latest attempts, at most ${LOGGED_ATTEMPTS}, oldest first`,
    }),
    createdAt: Instant,
  },
  { title: 'WebhookDelivery' },
)

export const ListDeliveriesQuery = Type.Object({
  ...pageFields,
  state: Type.Optional(stringEnum<DeliveryState>(DELIVERY_STATES)),
})

export const WebhookDeliveryList = Type.Object(
  { deliveries: Type.Array(WebhookDeliverySchema), ...pageResultFields },
  { title: 'WebhookDeliveryList' },
)

export const RedeliverBody = Type.Object(
  { since: Instant },
  { title: 'RedeliverSince', examples: [{ since: '2027-05-01T09:30:00Z' }] },
)
